package plots

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// TestBadInput spoils one value of good data at a time.
func TestBadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	th := Print()
	sensitivity := func(spoil func(*SensitivityData)) func() (*Grid, error) {
		return func() (*Grid, error) { d := sensitivityData(); spoil(&d); return Sensitivity(th, d) }
	}
	budget := func(spoil func(*BudgetData)) func() (*Grid, error) {
		return func() (*Grid, error) { d := budgetData(); spoil(&d); return Budget(th, d) }
	}
	epochs := func(spoil func(*EpochsData)) func() (*Grid, error) {
		return func() (*Grid, error) { d := epochsData(); spoil(&d); return Epochs(th, d) }
	}
	embedding := func(spoil func(*EmbeddingData)) func() (*Grid, error) {
		return func() (*Grid, error) { d := embeddingData(30, 3); spoil(&d); return Embedding(th, d) }
	}
	scores := func(spoil func([]ScoreGroup)) func() (*Grid, error) {
		return func() (*Grid, error) { d := scoresData(); spoil(d); return Scores(th, d) }
	}
	contact := func(spoil func(*ContactData)) func() (*Grid, error) {
		return func() (*Grid, error) { d := contactData(3); spoil(&d); return ContactSheet(th, d) }
	}
	for _, c := range []struct {
		name  string
		build func() (*Grid, error)
		want  string
	}{
		{"theme", func() (*Grid, error) { return Epochs(Theme{}, epochsData()) }, "start from Print, Dark or Screen"},
		{"nothing swept", sensitivity(func(d *SensitivityData) { *d = SensitivityData{} }), "without sweeps"},
		{"sweep NaN", sensitivity(func(d *SensitivityData) { d.Sweeps[1].Curves[0].Points[2].Values[1] = nan }), "value 1 is NaN"},
		{"sweep reference", sensitivity(func(d *SensitivityData) { d.Sweeps[0].References = []Reference{{"a", inf}} }), `"a"`},
		{"unnamed reference", sensitivity(func(d *SensitivityData) { d.Sweeps[0].References = []Reference{{"", 1}} }), "without a name"},
		{"chosen NaN", sensitivity(func(d *SensitivityData) { d.Sweeps[0].Chosen = &nan }), "mark 0 is NaN"},
		{"no cells", sensitivity(func(d *SensitivityData) { d.Surfaces[0].Cells = nil }), "without cells"},
		{"cell NaN", sensitivity(func(d *SensitivityData) { d.Surfaces[0].Cells[0].Values[0] = nan }), "is NaN"},
		{"cell empty", sensitivity(func(d *SensitivityData) { d.Surfaces[0].Cells[0].Values = nil }), "no values"},
		{"cell twice", sensitivity(func(d *SensitivityData) { d.Surfaces[0].Cells[1] = d.Surfaces[0].Cells[0] }), "two cells"},
		{"cell coordinate", sensitivity(func(d *SensitivityData) { d.Surfaces[0].Cells[1].Y = inf }), "is +Inf"},
		{"chosen cell", sensitivity(func(d *SensitivityData) { d.Surfaces[0].Chosen = &[2]float64{7, 7} }), "no cell at the chosen"},
		{"no targets", budget(func(d *BudgetData) { d.Targets = nil }), "without targets"},
		{"no curves", budget(func(d *BudgetData) { d.Targets[2].Curves = nil }), `"Product"`},
		{"no points", budget(func(d *BudgetData) { d.Targets[2].Curves[0].Points = nil }), "no points"},
		{"no values", budget(func(d *BudgetData) { d.Targets[2].Curves[0].Points[1].Values = nil }), "no values at x = 2.5"},
		{"x falls", budget(func(d *BudgetData) { d.Targets[0].Curves[0].Points[1].X = 0.5 }), "rising"},
		{"two names", budget(func(d *BudgetData) { d.Targets[0].Curves[1].Name = "CEG" }), `two curves are called "CEG"`},
		{"no name", budget(func(d *BudgetData) { d.Targets[0].Curves[1].Name = "" }), "without a name"},
		{"references", budget(func(d *BudgetData) { d.References = d.References[:1] }), "1 lists of references, want 4"},
		{"x NaN", epochs(func(d *EpochsData) { d.Curves[0].Points[0].X = nan }), "is NaN"},
		{"query NaN", epochs(func(d *EpochsData) { d.Curves[0].Queried = []float64{nan} }), "is NaN"},
		{"no epochs", epochs(func(d *EpochsData) { d.Curves = nil }), "no curves"},
		{"no map", embedding(func(d *EmbeddingData) { d.Points = blas32.General{} }), "want [n, 2]"},
		{"map NaN", embedding(func(d *EmbeddingData) { d.Points.Data[9] = float32(nan) }), "(point 4)"},
		{"short map", embedding(func(d *EmbeddingData) { d.Points.Data = d.Points.Data[:7] }), "want [n, 2]"},
		{"classes", embedding(func(d *EmbeddingData) { d.Classes = d.Classes[1:] }), "29 classes, want 30"},
		{"domain", embedding(func(d *EmbeddingData) { d.Domains[5] = 3 }), "point 5 is number 3 of 3 domains"},
		{"selected", embedding(func(d *EmbeddingData) { d.Selected = []int{30} }), "selected example 30 of 30"},
		{"no pool", scores(func(d []ScoreGroup) { d[0].Pool = nil }), "0 values in the pool"},
		{"score NaN", scores(func(d []ScoreGroup) { d[1].Queried[3] = nan }), "queried value 3 is NaN"},
		{"pools", scores(func(d []ScoreGroup) { d[1].Pool = d[1].Pool[1:] }), "1999 values in the pool, want 2000"},
		{"no scores", func() (*Grid, error) { return Scores(th, nil) }, "without scores"},
		{"no tiles", contact(func(d *ContactData) { d.Tiles = nil }), "without images"},
		{"no image", contact(func(d *ContactData) { d.Tiles[1].Image = nil }), "tile 1"},
		{"tile NaN", contact(func(d *ContactData) { d.Tiles[2].Scores[0].Value = nan }), "tile 2"},
		{"columns", contact(func(d *ContactData) { d.Columns = 100 }), "do not fit"},
		{"no columns", contact(func(d *ContactData) { d.Columns = -1 }), "-1 columns"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, err := c.build()
			if err == nil || g != nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q and no figure", err, c.want)
			}
		})
	}
}

func TestBadGrid(t *testing.T) {
	good := func() *Grid {
		return fatal.Get(Epochs(Print(), epochsData()))(t)
	}
	for name, spoil := range map[string]func(*Grid){
		"no panels": func(g *Grid) { g.Panels = nil },
		"columns":   func(g *Grid) { g.Columns = 0 },
		"aspect":    func(g *Grid) { g.Aspect = math.NaN() },
		"narrow":    func(g *Grid) { g.Width = 30 },
		"theme":     func(g *Grid) { g.Theme = Theme{} },
	} {
		g := good()
		spoil(g)
		for _, format := range []string{"svg", "pdf", "png"} {
			if _, err := g.Encode(format); err == nil {
				t.Errorf("%s: %s is no error", name, format)
			}
		}
	}
	if _, err := good().Encode("gif"); err == nil {
		t.Error("gif is no error")
	}
	if _, err := good().PNG(0); err == nil {
		t.Error("no dots per inch is no error")
	}
	fatal.Says(t, good().Save(t.TempDir()+"/figure"), "figure")
	if _, err := NamedTheme("sepia"); err == nil {
		t.Error("sepia is no error")
	}
	for _, name := range []string{"print", "dark"} {
		if th, err := NamedTheme(name); err != nil || th.Name != name {
			t.Errorf("theme %s is %q, %v", name, th.Name, err)
		}
	}
}
