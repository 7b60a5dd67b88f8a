package plots

import (
	"flag"
	"fmt"
	"image"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// To look at the figures of these tests: go test ./plots -figures /tmp/figures
var figuresDir = flag.String("figures", "", "write every figure of the tests to this folder, in both themes")

// runs returns n values around a centre.
func runs(name string, x, centre, deviation float64, n int) []float64 {
	r := seed.New(1, name, math.Float64bits(x))
	out := make([]float64, n)
	for i := range out {
		out[i] = centre + deviation*r.NormFloat64()
	}
	return out
}

func curve(name string, deviation float64, n int, xs []float64, f func(x float64) float64) Curve {
	c := Curve{Name: name}
	for _, x := range xs {
		c.Points = append(c.Points, Point{X: x, Values: runs(name, x, f(x), deviation, n)})
	}
	return c
}

func sensitivityData() SensitivityData {
	pt := func(v float64) *float64 { return &v }
	d := SensitivityData{}
	refs := []Reference{{"FixMatch", 77.77}, {"StyleMatch", 77.95}}
	d.Sweeps = []Sweep{
		{Title: "Weight of mixing", XLabel: "δ", Chosen: pt(0.3), References: refs, Curves: []Curve{
			curve("CEG", 0.3, 5, []float64{0, 0.1, 0.3, 0.5, 1}, func(x float64) float64 { return 79.2 - 3*math.Abs(x-0.3)/(1+x) }),
		}},
		{Title: "Share of reliable samples", XLabel: "T (%)", Chosen: pt(50), References: refs, Curves: []Curve{
			curve("CEG", 0.3, 5, []float64{10, 30, 50, 70, 100}, func(x float64) float64 { return 79.2 - math.Abs(x-50)/50 }),
		}},
	}
	for k, title := range []string{"Weights of the scores, PACS", "Weights of the scores, Office-Home"} {
		s := Surface{Title: title, XLabel: "γ₁ (representativeness)", YLabel: "γ₂ (diversity)", Chosen: &[2]float64{3, 1}, References: refs}
		for i, x := range []float64{0.33, 0.5, 1, 2, 3} {
			for j, y := range []float64{0.33, 0.5, 1, 2, 3} {
				if k == 1 && i+j > 6 {
					continue
				}
				// The conversions keep products from being fused with sums, on other processors.
				v := 79.2 - float64(0.25*math.Abs(x-3)) - float64(0.2*math.Abs(y-1)) - 28*float64(k)
				s.Cells = append(s.Cells, Cell{X: x, Y: y, Values: runs("g"+title, float64(x*10)+y, v, 0.15, 3)})
			}
		}
		d.Surfaces = append(d.Surfaces, s)
	}
	return d
}

func budgetData() BudgetData {
	d := BudgetData{}
	for k, target := range []string{"Art", "Clipart", "Product", "Real-World"} {
		g := Target{Name: target}
		for m, method := range []string{"CEG", "BADGE", "CoreSet", "Uniform", "FixMatch"} {
			g.Curves = append(g.Curves, curve(method+target, 0.7, 3, []float64{1, 2.5, 5, 10, 20}, func(x float64) float64 {
				return 38 + 6*float64(k) - 2.4*float64(m) + 7*math.Log2(1+x)
			}))
			g.Curves[m].Name = method
		}
		d.Targets = append(d.Targets, g)
		d.References = append(d.References, []Reference{{"all labels", 72 + 6*float64(k)}})
	}
	return d
}

func epochsData() EpochsData {
	var xs []float64
	for e := 1.0; e <= 60; e++ {
		xs = append(xs, e)
	}
	grow := func(top, jump float64) func(x float64) float64 {
		return func(x float64) float64 {
			return top*(1-math.Exp(-x/7)) + jump*max(0, (x-30)/30)
		}
	}
	d := EpochsData{Curves: []Curve{
		curve("uniform-ce", 1.2, 3, xs, grow(62, 1)),
		curve("ceg-ce", 1.2, 3, xs, grow(62, 5)),
		curve("ceg", 0.8, 3, xs, grow(71, 8)),
	}}
	for i, arm := range []int{6, 9, 0} {
		d.Curves[i].Title = arms[arm]
	}
	for i := range d.Curves[1:] {
		d.Curves[1+i].Queried = []float64{31, 36, 41, 46, 51, 56}
	}
	return d
}

func embeddingData(n, classes int) EmbeddingData {
	r := seed.New(3, "map")
	d := EmbeddingData{Points: blas32.General{Rows: n, Cols: 2, Stride: 2}, DomainNames: []string{"photo", "cartoon", "sketch"}}
	for c := range classes {
		d.ClassNames = append(d.ClassNames, []string{"dog", "elephant", "giraffe", "guitar", "horse", "house", "person"}[c%7])
		if c >= 7 {
			d.ClassNames[c] += fmt.Sprint(c)
		}
	}
	for i := range n {
		class, domain := r.IntN(classes), r.IntN(3)
		sin, cos := math.Sincos(2 * math.Pi * float64(class) / float64(classes))
		d.Points.Data = append(d.Points.Data,
			float32(50*cos+9*r.NormFloat64()+8*float64(domain-1)), float32(50*sin+9*r.NormFloat64()+5*float64(domain%2)))
		d.Classes, d.Domains = append(d.Classes, class), append(d.Domains, domain)
		if i%20 == 3 {
			d.Selected = append(d.Selected, i)
		}
	}
	return d
}

func scoresData() []ScoreGroup {
	r := seed.New(5, "scores")
	var out []ScoreGroup
	for _, name := range []string{"Uncertainty Sᵤ", "Representativeness Sᵣ", "Diversity S_d"} {
		g := ScoreGroup{Name: name}
		for i := range 2000 {
			v := math.Pow(r.Float64(), 2)
			if name != "Uncertainty Sᵤ" {
				v = 0.4 + 0.12*r.NormFloat64()
			}
			g.Pool = append(g.Pool, v)
			if i < 30 {
				g.Queried = append(g.Queried, v+0.3)
				g.Pool[i] = v + 0.3
			}
		}
		out = append(out, g)
	}
	return out
}

func contactData(n int) ContactData {
	r := seed.New(6, "tiles")
	d := ContactData{Columns: 8, Note: "u: uncertainty, r: representativeness, d: diversity; in order of asking."}
	classes := []string{"dog", "elephant", "giraffe", "guitar", "a_class_with_a_long_name"}
	for i := range n {
		w, h := 32, 32
		if i == 3 {
			w, h = 64, 24
		}
		m := image.NewRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				m.Set(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), uint8(40 * i), 255})
			}
		}
		d.Tiles = append(d.Tiles, Tile{Image: m, Class: classes[i%5], Domain: []string{"photo", "sketch"}[i%2], Round: i/8 + 1, Rank: i%8 + 1,
			Scores: []Score{{"u", r.Float64()}, {"r", r.Float64()}, {"d", r.Float64()}}})
	}
	return d
}

// figures builds every kind of figure.
func figures(t Theme) map[string]func() (*Grid, error) {
	t.Arms = arms
	few := budgetData()
	few.References = nil
	few.Targets = few.Targets[:1]
	lone := epochsData()
	for i := range lone.Curves {
		for k := range lone.Curves[i].Points {
			lone.Curves[i].Points[k].Values = lone.Curves[i].Points[k].Values[:1]
		}
	}
	one := sensitivityData()
	one.Sweeps, one.Surfaces = one.Sweeps[:1], nil
	heat := sensitivityData()
	heat.Sweeps, heat.Surfaces = nil, heat.Surfaces[:1]
	return map[string]func() (*Grid, error){
		"sensitivity":     func() (*Grid, error) { return Sensitivity(t, sensitivityData()) },
		"sensitivity_one": func() (*Grid, error) { return Sensitivity(t, one) },
		"heat_one":        func() (*Grid, error) { return Sensitivity(t, heat) },
		"budget":          func() (*Grid, error) { return Budget(t, budgetData()) },
		"budget_one":      func() (*Grid, error) { return Budget(t, few) },
		"epochs":          func() (*Grid, error) { return Epochs(t, epochsData()) },
		"epochs_one_run":  func() (*Grid, error) { return Epochs(t, lone) },
		"training":        func() (*Grid, error) { return Training(t, trainingData()) },
		"embedding":       func() (*Grid, error) { return Embedding(t, embeddingData(1500, 7)) },
		"embedding_many":  func() (*Grid, error) { return Embedding(t, embeddingData(4000, 65)) },
		"scores":          func() (*Grid, error) { return Scores(t, scoresData()) },
		"savings": func() (*Grid, error) {
			return Savings(t, SavingsData{Method: "CEG", Other: "Random", Curves: few.Targets[0].Curves[:1]})
		},
		"contact": func() (*Grid, error) { return ContactSheet(t, contactData(20)) },
	}
}

func TestWriteFigures(t *testing.T) {
	if *figuresDir == "" {
		t.Skip("no -figures folder to write to")
	}
	fatal.If(t, os.MkdirAll(*figuresDir, 0o755))
	for _, theme := range []Theme{Print(), Dark()} {
		for name, build := range figures(theme) {
			g, err := build()
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			for _, ext := range []string{".png", ".svg", ".pdf"} {
				if err := g.Save(filepath.Join(*figuresDir, name+"_"+theme.Name+ext)); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
		}
	}
}
