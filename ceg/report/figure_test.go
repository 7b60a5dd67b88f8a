package report

import (
	"context"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/ceg/study/studytest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/plots"
)

// figureStudy has a sweep, a grid, budgets and curves on two targets; seed 3 of
// sketch fails.
const figureStudy = `
name: figures
dataset: glyphs
preset: paper
targets: [photo, sketch]
seeds: [1, 2, 3]
set: {schedule.epochs: 3}
runs:
  - methods: [ceg]
    sweep: {delta: [0, 0.3, 1]}
  - methods: [ceg]
    sweep: {gamma1: [1, 3], gamma2: [1, 2]}
  - methods: [uniform-ce, ceg-ce, ceg]
    budgets: [1%, 5%, 10%]
  - methods: [uniform]
  - methods: [uniform-ce]
    budgets: [100%]
    variants: [{name: all labels at once, set: {exploration.initial_share: 1}}]
`

// figureRight are the right answers: the seed, ten times the epoch, the budget,
// one more for sketch, three more for CEG with its usual delta, and gamma1.
func figureRight(c run.Config, epoch int) int {
	budget := map[string]int{"1%": 1, "5%": 5, "10%": 10, "100%": 50}[c.Exploration.Budget]
	n := int(c.Seed) + 10*epoch + budget + int(c.Exploration.Gamma1)
	if c.Data.Target == "sketch" {
		n++
	}
	if c.Generalization.Delta == 0.3 && c.Method == "ceg" {
		n += 3
	}
	return n
}

// figureDir is made once: figures only read.
var figureDir = sync.OnceValues(func() (string, error) {
	s, err := study.Parse("figures.yaml", []byte(figureStudy))
	if err != nil {
		return "", err
	}
	dir, err := os.MkdirTemp("", "figures") // removed by TestMain
	if err != nil {
		return "", err
	}
	f := studytest.Fake{Right: figureRight, Fail: func(c run.Config, _ int) error {
		if c.Seed == 3 && c.Data.Target == "sketch" {
			return context.DeadlineExceeded
		}
		return nil
	}}
	_, err = s.Run(context.Background(), study.Options{Dir: dir, Runner: f.Run, Jobs: 4})
	return dir, err
})

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := figureDir(); err == nil {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func figureFolder(t *testing.T) *Folder {
	t.Helper()
	dir := fatal.Get(figureDir())(t)
	return fatal.Get(Open(dir))(t)
}

// same compares curves with some room for rounding.
func same(t *testing.T, what string, got, want any) {
	t.Helper()
	round := func(v any) any {
		c := reflect.ValueOf(v)
		var walk func(v reflect.Value) reflect.Value
		walk = func(v reflect.Value) reflect.Value {
			out := reflect.New(v.Type()).Elem()
			switch v.Kind() {
			case reflect.Float64:
				out.SetFloat(math.Round(v.Float()*1e6) / 1e6)
			case reflect.Slice:
				for i := range v.Len() {
					out = reflect.Append(out, walk(v.Index(i)))
				}
			case reflect.Struct:
				for i := range v.NumField() {
					out.Field(i).Set(walk(v.Field(i)))
				}
			default:
				out.Set(v)
			}
			return out
		}
		return walk(c).Interface()
	}
	if got, want = round(got), round(want); !reflect.DeepEqual(got, want) {
		t.Errorf("%s is\n%+v, want\n%+v", what, got, want)
	}
}

// The right answers of 100 at the end, averaged over the targets: seed + 20 +
// budget + 0.5 + gamma1 (3), and 3 for CEG.
func TestSensitivityData(t *testing.T) {
	f := figureFolder(t)
	d := fatal.Get(f.Sensitivity(FigureOptions{}))(t)
	if len(d.Sweeps) != 1 || len(d.Surfaces) != 1 {
		t.Fatalf("%d sweeps and %d surfaces", len(d.Sweeps), len(d.Surfaces))
	}
	s := d.Sweeps[0]
	same(t, "sweep", s.Curves, []plots.Curve{{Name: "ceg", Title: "CEG (published schedule, preset paper)", Points: []plots.Point{
		{X: 0, Values: []float64{29.5, 30.5}}, {X: 0.3, Values: []float64{32.5, 33.5}}, {X: 1, Values: []float64{29.5, 30.5}}}}})
	if s.XLabel != "weight δ of L_eg" || s.Title != "glyphs, average of 2 targets" || s.Chosen == nil || *s.Chosen != 0.3 {
		t.Errorf("sweep is %+v", s)
	}
	same(t, "references", s.References, []plots.Reference{{Name: "Random + cross-entropy (published schedule, preset paper) (n = 2)", Y: 30}, {Name: "CEG selection + cross-entropy (published schedule, preset paper) (n = 2)", Y: 30}, {Name: "Random + CEG loss (published schedule, preset paper) (n = 2)", Y: 30}, {Name: "chance, 10 classes", Y: 10}})
	if d.Changes {
		t.Error("a seed is missing, and the figure shows changes")
	}
	u := d.Surfaces[0]
	same(t, "surface", u.Cells, []plots.Cell{
		{X: 1, Y: 1, Values: []float64{30.5, 31.5}}, {X: 1, Y: 2, Values: []float64{30.5, 31.5}},
		{X: 3, Y: 1, Values: []float64{32.5, 33.5}}, {X: 3, Y: 2, Values: []float64{32.5, 33.5}}})
	if u.Chosen == nil || *u.Chosen != [2]float64{3, 1} || u.XLabel != "gamma1 (representativeness)" {
		t.Errorf("surface is %+v", u)
	}
	// One target alone has all three seeds.
	d = fatal.Get(f.Sensitivity(FigureOptions{Targets: []string{"photo"}, Methods: []string{"ceg-ce"}, Rule: "best_target"}))(t)
	same(t, "point", d.Sweeps[0].Curves[0].Points[0], plots.Point{X: 0, Values: []float64{29, 30, 31}})
	same(t, "reference", d.Sweeps[0].References, []plots.Reference{{Name: "CEG selection + cross-entropy (published schedule, preset paper) (n = 3)", Y: 30}})
	if !d.Changes {
		t.Error("all seeds are at all points, and the figure shows no changes")
	}
}

func TestBudgetData(t *testing.T) {
	d := fatal.Get(figureFolder(t).Budget(FigureOptions{}))(t)
	points := func(at5 float64) []plots.Point {
		return []plots.Point{{X: 1, Values: []float64{at5 - 4, at5 - 3}}, {X: 5, Values: []float64{at5, at5 + 1}}, {X: 10, Values: []float64{at5 + 5, at5 + 6}}}
	}
	for i, extra := range []float64{0, 1} {
		same(t, "target", d.Targets[i], plots.Target{Name: []string{"photo", "sketch"}[i], Curves: []plots.Curve{
			{Name: "uniform-ce", Title: "Random + cross-entropy (published schedule, preset paper)", Points: points(29 + extra)}, {Name: "ceg-ce", Title: "CEG selection + cross-entropy (published schedule, preset paper)", Points: points(29 + extra)}, {Name: "ceg", Title: "CEG (published schedule, preset paper)", Points: points(32 + extra)}}})
		same(t, "references", d.References[i], []plots.Reference{{Name: "Random + cross-entropy, upfront (preset paper), 100% of the labels (n = 2)", Y: 74.5 + extra}, {Name: "chance, 10 classes", Y: 10}})
	}
	if len(d.Targets) != 2 {
		t.Errorf("%d targets", len(d.Targets))
	}
}

// One budget beside all labels is no curve.
func TestBudgetNeedsTwo(t *testing.T) {
	f := figureFolder(t)
	f.Runs = slices.DeleteFunc(f.Runs, func(r result.PlannedRun) bool { return r.Budget != "5%" && r.Budget != "100%" })
	if d, err := f.Budget(FigureOptions{}); err == nil {
		t.Errorf("%+v", d)
	}
	f = figureFolder(t) // the others on one target alone
	f.Runs = slices.DeleteFunc(f.Runs, func(r result.PlannedRun) bool { return r.Budget != "5%" && r.Target == "sketch" })
	if d, err := f.Budget(FigureOptions{}); err == nil {
		t.Errorf("%+v", d)
	}
}

func TestEpochsData(t *testing.T) {
	f := figureFolder(t)
	d, err := f.Epochs(FigureOptions{})
	if err != nil {
		t.Fatal(err)
	}
	points := func(first float64) (list []plots.Point) {
		for e := range 3 {
			v := first + 10*float64(e)
			list = append(list, plots.Point{X: float64(e + 1), Values: []float64{v, v + 1}})
		}
		return list
	}
	same(t, "curves", d.Curves, []plots.Curve{
		{Name: "uniform-ce", Title: "Random + cross-entropy (published schedule, preset paper)", Points: points(9.5), Queried: []float64{1}}, {Name: "ceg-ce", Title: "CEG selection + cross-entropy (published schedule, preset paper)", Points: points(9.5), Queried: []float64{1}}, {Name: "ceg", Title: "CEG (published schedule, preset paper)", Points: points(12.5), Queried: []float64{1}}})
	same(t, "references", d.References, []plots.Reference{{Name: "chance, 10 classes", Y: 10}})
	if d.Title != "glyphs, average of 2 targets" {
		t.Errorf("title %q", d.Title)
	}
	if d, err = f.Epochs(FigureOptions{Methods: []string{"uniform"}, Targets: []string{"sketch"}}); err != nil || len(d.Curves) != 1 || d.Curves[0].Name != "uniform" || len(d.Curves[0].Points[0].Values) != 2 || d.Title != "glyphs, target sketch" {
		t.Errorf("uniform alone is %+v, %v", d, err)
	}
}

func TestBalanced(t *testing.T) {
	var queries []result.Query
	for _, q := range []struct {
		round int
		id    string
		r     float64
	}{{1, "a", 5}, {1, "b", 1}, {1, "c", 3}, {2, "d", 2}, {3, "e", 9}, {3, "f", 4}} {
		queries = append(queries, result.Query{Round: q.round, ID: q.id, Scores: &result.Scores{R: q.r}})
	}
	for n, want := range map[int]string{2: "bd", 4: "bcdf", 5: "bcdfe", 100: "bcadfe"} {
		var ids string
		for _, q := range Balanced(queries, n) {
			ids += q.ID
		}
		if ids != want {
			t.Errorf("the first %d are %s, want %s", n, ids, want)
		}
	}
}

// Every figure that needs no images is drawn, and reports errors.
func TestFigure(t *testing.T) {
	f := figureFolder(t)
	for _, name := range []string{"sensitivity", "budget", "targets", "epochs"} {
		g, err := f.Figure(context.Background(), name, plots.Print(), FigureOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if data, err := g.Encode("svg"); err != nil || len(data) < 1000 {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
		if name != "epochs" && !strings.Contains(g.Note, "at the last epoch") {
			t.Errorf("%s does not say its rule: %q", name, g.Note)
		}
	}
	for _, tt := range []struct {
		name string
		o    FigureOptions
		want string
	}{
		{"pie", FigureOptions{}, `no figure "pie", want one of sensitivity, budget, targets, tsne, epochs, scores, queried`},
		{"epochs", FigureOptions{Dataset: "pacs"}, "the folder has glyphs paper: choose one"},
		{"epochs", FigureOptions{Methods: []string{"badge"}}, "none of the methods is in the folder's studies"},
		{"epochs", FigureOptions{Budget: "2%"}, "none of the methods"},
		{"budget", FigureOptions{Methods: []string{"badge"}}, "no method with several budgets"},
		{"targets", FigureOptions{Budget: "2%"}, "no seed is finished"},
		{"epochs", FigureOptions{SourceVal: true}, "figure epochs has no source validation accuracy"},
		{"sensitivity", FigureOptions{Budget: "1%"}, "no study here sweeps a parameter with 1% labels"},
		{"sensitivity", FigureOptions{Rule: "best"}, `no rule "best"`},
		{"queried", FigureOptions{Methods: []string{"badge"}}, "no finished run"},
		{"queried", FigureOptions{Seed: new(uint64(0))}, "seed 0: no finished run"}, // 0 is a seed
		{"queried", FigureOptions{}, "source/100 is not in the data set"},
	} {
		fatal.Says(t, fatal.Err(f.Figure(context.Background(), tt.name, plots.Print(), tt.o)), tt.want)
	}
}

// The figure targets has every finished seed, by target and method.
func TestTargetsFigure(t *testing.T) {
	f := figureFolder(t)
	d := fatal.Get(f.Targets(FigureOptions{Methods: []string{"uniform", "ceg"}, Budget: "5%"}))(t)
	same(t, "references", d.References, []plots.Reference{{Name: "chance, 10 classes", Y: 10}})
	if len(d.Groups) != 2 || d.Groups[0].Name != "photo" || d.Groups[1].Name != "sketch" {
		t.Fatalf("groups %+v", d.Groups)
	}
	for _, g := range d.Groups {
		want := 3
		if g.Name == "sketch" {
			want = 2 // seed 3 fails
		}
		for i, name := range []string{"uniform", "ceg"} {
			if c := g.Curves[i]; c.Name != name || len(c.Points[0].Values) != want {
				t.Errorf("%s: curve %+v, want %s with %d seeds", g.Name, c, name, want)
			}
		}
	}
}

// The preset ledg is drawn beside the runs of authors, under the name that tables give it.
func TestFigureOfTwoPresets(t *testing.T) {
	f := fatal.Get(Open("../../notebooks/results/frozen-glyphs"))(t)
	names := []string{"fixmatch, preset ledg", "ceg published"}
	titles := []string{"Random + FixMatch, upfront (preset ledg)", "CEG (published schedule)"}
	d := fatal.Get(f.Budget(FigureOptions{Methods: names}))(t)
	for _, target := range d.Targets {
		for i, c := range target.Curves {
			if len(target.Curves) != 2 || c.Name != names[i] || c.Title != titles[i] || len(c.Points) != 1 || len(c.Points[0].Values) != 6 {
				t.Errorf("%s: %+v", target.Name, target.Curves)
			}
		}
	}
	if len(d.Targets) < 4 {
		t.Errorf("%d targets", len(d.Targets))
	}
	if d, err := f.Budget(FigureOptions{Preset: "authors", Methods: names}); err == nil && len(d.Targets[0].Curves) != 1 {
		t.Errorf("authors alone: %+v", d.Targets[0].Curves)
	}
}

// Features are called after the data set that has their targets, if only one has.
func TestDatasetTitle(t *testing.T) {
	for _, c := range []struct {
		name, want string
		targets    []string
	}{
		{"features", "features of emoji", []string{"noto", "openmoji"}},
		{"features", "features of PACS", []string{"art_painting", "photo", "sketch"}},
		{"features", "features", []string{"photo"}}, // of PACS or glyphs
		{"features", "features", []string{"noto", "photo"}},
		{"features", "features", nil},
		{"glyphs", "glyphs", []string{"photo"}},
		{"mine", "mine", []string{"noto"}},
	} {
		if got := datasetTitle(c.name, c.targets...); got != c.want {
			t.Errorf("%s with targets %v is called %q, want %q", c.name, c.targets, got, c.want)
		}
	}
}

// Features with targets of two data sets are called after the one that has their classes.
func TestTitleOfRun(t *testing.T) {
	digits, _ := datasets.Lookup("glyphs")
	run := &RecordedRun{Run: &result.Run{Result: &result.Result{Classes: digits.Classes}}}
	run.Config.Data.Dataset = "features"
	if got := TitleOfRun(run.Run, "sketch"); got != "features of glyphs" {
		t.Errorf("features of digits are called %q", got)
	}
	run.Result.Classes = []string{"cat", "dog"}
	if got := TitleOfRun(run.Run, "sketch"); got != "features" {
		t.Errorf("features of other classes are called %q", got)
	}
}

// A score that all images shown share is in the note, not below each.
func TestConstantScores(t *testing.T) {
	tiles := func(second float64) []plots.Tile {
		return []plots.Tile{
			{Scores: []plots.Score{{Name: "S_u", Value: 0.9}, {Name: "S_r", Value: 0.574}}},
			{Scores: []plots.Score{{Name: "S_u", Value: 0.8}, {Name: "S_r", Value: second}}},
		}
	}
	for second, want := range map[float64]string{0.574: "S_r is 0.57 for all", 0.58: "S_r is 0.57 to 0.58 for all", 0.6: ""} {
		list := tiles(second)
		note := constantScores(list)
		if scores := len(list[1].Scores); !strings.Contains(note, want) || (note == "") != (want == "") || (scores == 2) != (want == "") {
			t.Errorf("%v: %d scores, note %q, want %q", second, scores, note, want)
		}
	}
}
