package plots

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

var narrowDir = flag.String("narrow", "", "write every figure at 3.3 inches, and the looks, to this folder as PNG")

// narrow builds every kind of figure 3.3 inches wide, and the looks of [Look].
func narrow(t *testing.T) map[string]*Grid {
	theme := Print()
	theme = theme.WithWidth(theme.ColumnWidth)
	all := map[string]*Grid{}
	for name, build := range figures(theme) {
		all[name] = fatal.Get(build())(t)
	}
	title := "Accuracy of all methods"
	for name, change := range map[string]func(*Theme){
		"inside": func(t *Theme) { t.Legend = "inside" },
		"right":  func(t *Theme) { t.Legend = "right" },
		"below":  func(t *Theme) { t.Legend = "below" },
		"bars":   func(t *Theme) { t.ErrorBars, t.BandFrom = true, 3 },
		"range":  func(t *Theme) { t.YRange = &[2]float64{60, 76} },
		"names": func(t *Theme) {
			t.Names, t.Title = map[string]string{"ceg": "Ours", "CEG": "Ours", "Epoch": "Time"}, &title
		},
	} {
		for kind := range map[string]bool{"epochs": true, "budget": true, "budget_one": true} {
			if kind == "budget" && name == "inside" {
				continue // its panels are too small
			}
			look := theme
			change(&look)
			all[kind+"_"+name] = fatal.Get(figures(look)[kind]())(t)
		}
	}
	line := fatal.Get(plotter.NewLine(plotter.XYs{{X: 1, Y: 2}, {X: 2, Y: 4}, {X: 3, Y: 3}}))(t)
	own := plot.New()
	own.Title.Text, own.X.Label.Text, own.Y.Label.Text = "Own", "x", "y"
	own.Add(line)
	own.Legend.Add("mine", line)
	all["own"] = fatal.Get(theme.Own(own))(t)
	page := Print()
	half := page.WithWidth(page.PageWidth / 2)
	half.Legend = "below"
	left, right := fatal.Get(figures(half)["epochs"]())(t), fatal.Get(figures(half)["budget_one"]())(t)
	left.Theme, right.Theme = page, page
	all["side"] = fatal.Get(Side(left, right))(t)
	return all
}

func TestNarrow(t *testing.T) {
	for name, g := range narrow(t) {
		w, h, err := g.Size()
		if err != nil || h > 3*w {
			t.Errorf("%s: %v by %v, %v", name, w, h, err)
			continue
		}
		if *narrowDir != "" {
			fatal.If(t, os.MkdirAll(*narrowDir, 0o755))
			fatal.If(t, os.WriteFile(filepath.Join(*narrowDir, name+".png"), fatal.Get(g.PNG(160))(t), 0o644))
		}
		l, err := g.layout()
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range g.Panels {
			if p.Plot == nil {
				continue
			}
			shared := g.shared(i, l)
			for _, a := range []apart{shared.X.Tick.Marker.(apart), shared.Y.Tick.Marker.(apart)} {
				if list := a.Ticks(a.axis.Min, a.axis.Max); !a.fits(list, a.axis.Min, a.axis.Max) {
					t.Errorf("%s, panel %d: ticks %v run into each other", name, i, list)
				}
			}
		}
	}
}

func TestNames(t *testing.T) {
	look := Look{Names: map[string]string{"CEG": "Ours", "features": "Office", "L_eg": "loss"}}
	for text, want := range map[string]string{
		"CEG": "Ours", "CEG+FM": "CEG+FM", "CEG, upfront": "Ours, upfront", "features, target c": "Office, target c", Symbols("without L_eg"): "without loss",
	} {
		if got := look.named(text); got != want {
			t.Errorf("%q is named %q, want %q", text, got, want)
		}
	}
	theme := Print()
	theme.Names = map[string]string{"nobody": "else"}
	g := fatal.Get(Epochs(theme, epochsData()))(t)
	if _, err := g.Encode("png"); err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("%v, want an error of a name that is not there", err)
	}
}

func TestPDFFontsAreSubsets(t *testing.T) {
	theme := Print()
	theme.Text = true
	pdf := fatal.Get(fatal.Get(Epochs(theme, epochsData()))(t).Encode("pdf"))(t)
	if len(pdf) > 90_000 || !bytes.Contains(pdf, []byte("/FontFile2")) {
		t.Errorf("a PDF has %d bytes, want at most 90,000 with its font", len(pdf))
	}
	if *narrowDir != "" {
		fatal.If(t, os.WriteFile(filepath.Join(*narrowDir, "text.pdf"), pdf, 0o644))
	}
}
