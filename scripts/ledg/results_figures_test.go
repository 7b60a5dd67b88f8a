package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/plots"
)

var resultsDir = filepath.Join("..", "..", "notebooks", "results")

// Four figures of results pages are of no single study. They are what their records give, or the table of
// their page where no record exists. -update writes them; LEDG_FIGURES names another folder for it.
func TestFiguresOfPages(t *testing.T) {
	for name, draw := range map[string]func(*testing.T) *plots.Grid{
		"new-site": newSiteFigure, "coverage": coverageFigure, "finetune": finetuneFigure, "speed": speedFigure,
	} {
		svg := fatal.Get(draw(t).Encode("svg"))(t)
		if len(svg) > 150_000 {
			t.Errorf("%s.svg: %d bytes, want at most 150 kB", name, len(svg))
		}
		path := filepath.Join(resultsDir, "figures", name+".svg")
		if out := os.Getenv("LEDG_FIGURES"); out != "" || *update {
			if out != "" {
				path = filepath.Join(out, name+".svg")
			}
			fatal.If(t, os.WriteFile(path, svg, 0o666))
			continue
		}
		if old, err := os.ReadFile(path); err != nil || !bytes.Equal(old, svg) {
			t.Errorf("%s: not the figure of its records (%v); scripts/figures.sh draws it", path, err)
		}
	}
}

// groupsOf collects values for plots.Dots: groups and curves in the order in which they first occur.
type groupsOf []plots.Target

func (g *groupsOf) add(group, curve string, values ...float64) {
	i := len(*g) - 1
	if i < 0 || (*g)[i].Name != group {
		*g = append(*g, plots.Target{Name: group})
		i++
	}
	(*g)[i].Curves = append((*g)[i].Curves, plots.Curve{Name: curve, Points: []plots.Point{{Values: values}}})
}

func dotsOf(t *testing.T, d plots.DotsData, note string) *plots.Grid {
	t.Helper()
	theme := plots.Print()
	theme.Text, theme.Arms = true, report.Looks()
	g := fatal.Get(plots.Dots(theme, d))(t)
	g.Note = note
	return g
}

// interval is a vertical bar: a 95% interval over targets.
type interval struct{ x, low, high float64 }

// Plot implements plot.Plotter.
func (v interval) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	c.StrokeLine2(draw.LineStyle{Color: plots.Print().Muted, Width: 0.8}, x(v.x), y(v.low), x(v.x), y(v.high))
}

// overTargets adds intervals over targets to dots of few of them.
func overTargets(t *testing.T, g *plots.Grid, groups groupsOf) *plots.Grid {
	t.Helper()
	p := g.Panels[0].Plot
	for i, group := range groups {
		for k, c := range group.Curves {
			s := fatal.Get(result.Summarize(c.Points[0].Values))(t)
			p.Add(interval{float64(i) + 0.7*(float64(k)+0.5)/float64(len(group.Curves)) - 0.35, s.Low, s.High})
			p.Y.Min, p.Y.Max = min(p.Y.Min, s.Low), max(p.Y.Max, s.High)
		}
	}
	return g
}

// newSiteFigure draws gains on a new domain, a dot per target.
func newSiteFigure(t *testing.T) *plots.Grid {
	gains := newSiteGains(t)
	var groups groupsOf
	for _, budget := range newSiteBudgets {
		for _, s := range newSiteSelections {
			var means []float64
			for _, target := range newSiteTargets {
				means = append(means, gains.over(t, s.record, budget, target).Mean)
			}
			groups.add(map[string]string{"21": "21", "1%": "67 (1%)", "5%": "336 (5%)", "20%": "1,346 (20%)"}[budget], s.row+" labels", means...)
		}
	}
	g := dotsOf(t, plots.DotsData{Title: "Features of PACS", Groups: groups, ValueLabel: "Gain in accuracy (pp)"},
		"Mean over 4 targets, bar: 95% interval over them. Small dots: the targets, each the mean of n = 10 seeds.")
	g.Title, g.Panels[0].Plot.X.Label.Text = "35 labels of the new site gain most for models with few labels", "Labels the model has from other sites"
	return overTargets(t, g, groups)
}

// coverageFigure draws coverage.csv: intervals that are printed above, others below.
func coverageFigure(t *testing.T) *plots.Grid {
	f := fatal.Get(os.Open(filepath.Join(resultsDir, "coverage.csv")))(t)
	defer f.Close()
	rows := fatal.Get(csv.NewReader(f).ReadAll())(t)
	shorter := strings.NewReplacer(" images", "", ", each class, withdrawn: Wilson's", ",\nclass, Wilson", "withdrawn: ", "", " of a site", "", " on a site", "",
		", each ", ",\n", "cross-validation, ", "folds,\n", "left-out sites pooled, as a new site", "new site, by\nsites pooled", "range over left-out sites, as a new site", "new site, by\nsites' range")
	var printed, withdrawn groupsOf
	for _, first := range rows[1:] {
		if first[0] != rows[1][0] {
			break
		}
		for _, data := range []string{"emoji", "pacs", "glyphs"} {
			for _, r := range rows[1:] {
				if r[0] != data || r[1] != first[1] {
					continue
				}
				to := &printed
				if strings.Contains(r[1], "withdrawn") {
					to = &withdrawn
				}
				to.add(shorter.Replace(r[1]), strings.Replace(data, "pacs", "PACS", 1), numeral(t, r[2]))
			}
		}
	}
	aim := []plots.Reference{{Name: "aim: 95%", Y: 95}}
	g := dotsOf(t, plots.DotsData{Title: "Printed intervals", Groups: printed, References: aim, ValueLabel: "Coverage (%)"}, "Of 200 simulated pools.")
	h := dotsOf(t, plots.DotsData{Title: "Withdrawn intervals", Groups: withdrawn, References: aim, ValueLabel: "Coverage (%)"}, "")
	g.Title = "Printed intervals hold in 91 to 100%; what covered less was withdrawn"
	g.Panels = append(g.Panels, h.Panels...)
	for i, p := range g.Panels {
		p.Plot.Y.Min, p.Plot.Y.Max = []float64{88, 30}[i], 101
	}
	return g
}

// finetuneFigure draws the tables of finetune.md, a dot per target.
func finetuneFigure(t *testing.T) *plots.Grid {
	var groups groupsOf
	_, second, _ := strings.Cut(resultsFile(t, "finetune.md"), "primary comparison")
	for name, rows := range map[string][][]string{"64 px": tableIn(t, second, "method"), "224 px": tableOf(t, "finetune.md", "method")} {
		g := plots.Target{Name: "minus frozen, " + name}
		for _, r := range rows {
			var values []float64
			for _, cell := range r[2:6] {
				values = append(values, numeral(t, cell))
			}
			g.Curves = append(g.Curves, plots.Curve{Name: r[0], Points: []plots.Point{{Values: values}}})
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b plots.Target) int { return -strings.Compare(a.Name, b.Name) })
	g := dotsOf(t, plots.DotsData{Title: "emoji, 5%", Groups: groups, References: []plots.Reference{{Name: "frozen features"}}, ValueLabel: "Difference in accuracy (pp)"},
		"Mean over 4 targets, bar: 95% interval over them. Small dots: the targets, each the mean of n = 3 seeds.")
	g.Title = "Fine-tuning at 64 px is below frozen features at 224 px"
	return overTargets(t, g, groups)
}

// speedFigure draws the first three rows of speed.md's first table, which has no record.
func speedFigure(t *testing.T) *plots.Grid {
	var groups groupsOf
	var ranges []plot.Plotter
	for _, r := range tableOf(t, "speed.md", "network, width, px")[:3] {
		ratio, spread, _ := strings.Cut(r[2], " ")
		name := strings.Split(r[0], ", ")
		groups.add(fmt.Sprintf("%s, width %s, %s px", name[0], name[1], name[2]), "ledg in pure Go", numeral(t, ratio))
		low, high, _ := strings.Cut(strings.Trim(spread, "()"), " to ")
		ranges = append(ranges, interval{float64(len(ranges)), numeral(t, low), numeral(t, high)})
	}
	g := dotsOf(t, plots.DotsData{Title: "A training step on two cores", Groups: groups, References: []plots.Reference{{Name: "PyTorch", Y: 1}}, ValueLabel: "Speed / PyTorch's"},
		"Medians of n = 5 alternating rounds, bar: lowest to highest. Higher is faster.")
	g.Title, g.Panels[0].Plot.Y.Min, g.Panels[0].Plot.Y.Max = "These three networks train about as fast as in PyTorch", 0, 1.2
	g.Panels[0].Plot.Add(ranges...)
	return g
}

var bold = regexp.MustCompile(`\*\*`)

// tableOf returns the cells of the table on a results page whose first column has this name.
func tableOf(t *testing.T, page, column string) (rows [][]string) {
	t.Helper()
	return tableIn(t, resultsFile(t, page), column)
}

// tableIn is tableOf for the first such table of a text.
func tableIn(t *testing.T, text, column string) (rows [][]string) {
	t.Helper()
	_, table, ok := strings.Cut(text, "\n| "+column+" |")
	table, _, _ = strings.Cut(table, "\n\n")
	for i, line := range strings.Split(table, "\n") {
		if i < 2 {
			continue
		}
		cells := strings.Split(strings.Trim(bold.ReplaceAllString(line, ""), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	if !ok || len(rows) == 0 {
		t.Fatalf("no table with the first column %q in %.60s", column, text)
	}
	return rows
}

func numeral(t *testing.T, s string) float64 {
	t.Helper()
	return fatal.Get(strconv.ParseFloat(s, 64))(t)
}
