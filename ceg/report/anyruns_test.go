package report

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/plots"
)

// dirsWith are the folders of the figures' study's finished runs that a condition chooses.
func dirsWith(t *testing.T, want func(result.PlannedRun) bool) (dirs []string) {
	t.Helper()
	f := figureFolder(t)
	for _, r := range f.Runs {
		if s, err := f.State(r); err != nil {
			t.Fatal(err)
		} else if s == result.Complete && want(r) && !slices.Contains(dirs, filepath.Join(f.Path, r.Dir)) {
			dirs = append(dirs, filepath.Join(f.Path, r.Dir))
		}
	}
	return dirs
}

// Runs of one method that differ in a setting have it in their names, and others have not.
func TestCurvesOver(t *testing.T) {
	dirs := dirsWith(t, func(r result.PlannedRun) bool {
		return r.Budget == "5%" && (r.Sweep["delta"] == 1 || r.Label() == "ceg" || r.Label() == "uniform")
	})
	d := fatal.Get(CurvesOver(false, "", dirs...))(t)[0]
	curve := func(name string, first float64) plots.Curve {
		c := plots.Curve{Name: name, Title: name, Queried: []float64{1}}
		for e := range 3 {
			v := first + 10*float64(e) // of seed 1, half a point for the second target
			c.Points = append(c.Points, plots.Point{X: float64(e + 1), Values: []float64{v, v + 1}})
		}
		return c
	}
	slices.SortFunc(d.Curves, func(a, b plots.Curve) int { return strings.Compare(a.Name, b.Name) })
	same(t, "curves", d.Curves, []plots.Curve{
		curve("CEG (published schedule, preset paper), delta 0.3", 12.5),
		curve("CEG (published schedule, preset paper), delta 1", 9.5),
		curve("Random + CEG loss (published schedule, preset paper)", 9.5)})
	if len(d.References) != 1 || d.References[0].Name != "chance, 10 classes" || d.References[0].Y != 10 {
		t.Errorf("references %+v, want chance", d.References)
	}
	if d.Title != "glyphs, average of 2 targets" {
		t.Errorf("title %q", d.Title)
	}
	tables, err := Compare(dirs, CompareOptions{Baseline: "ceg, delta 0.3"})
	if err != nil || len(tables) != 2 {
		t.Fatalf("%d tables, %v", len(tables), err)
	}
}

func TestLabelsOver(t *testing.T) {
	d := fatal.Get(LabelsOver(false, "", dirsWith(t, func(r result.PlannedRun) bool { return r.Sweep == nil && r.Label() == "ceg-ce" })...))(t)
	if len(d.Targets) != 1 || len(d.Targets[0].Curves) != 1 || d.Targets[0].Curves[0].Name != "CEG selection + cross-entropy (published schedule, preset paper)" {
		t.Fatalf("%+v", d)
	}
	if len(d.References) != 1 || len(d.References[0]) != 1 || d.Ticks[20] == "" {
		t.Errorf("references %+v, ticks %v, want chance and the name of a budget", d.References, d.Ticks)
	}
	var accuracies []float64
	for _, p := range d.Targets[0].Curves[0].Points {
		accuracies = append(accuracies, p.Values[0])
		if p.X != 20 { // as all results of the test have it
			t.Errorf("%v labels, want 20", p.X)
		}
	}
	if !slices.Equal(accuracies, []float64{25.5, 29.5, 34.5}) { // 20 for the epoch, 3 for gamma1, 1.5 for seed and target
		t.Errorf("accuracies %v", accuracies)
	}
	// Runs that differ in a setting, too, are not one curve.
	d = fatal.Get(LabelsOver(false, "", dirsWith(t, func(r result.PlannedRun) bool { return r.Sweep["delta"] == 1 || r.Sweep == nil && r.Label() == "ceg" })...))(t)
	var names []string
	budgets := 0
	for _, c := range d.Targets[0].Curves {
		names, budgets = append(names, c.Name), max(budgets, len(c.Points))
	}
	slices.Sort(names)
	if want := []string{"CEG (published schedule, preset paper), delta 0.3", "CEG (published schedule, preset paper), delta 1"}; !slices.Equal(names, want) || budgets < 2 {
		t.Errorf("curves %q over %d budgets, want %q over several", names, budgets, want)
	}
	fatal.Says(t, fatal.Err(LabelsOver(false, "", t.TempDir())), "config.json")
}
