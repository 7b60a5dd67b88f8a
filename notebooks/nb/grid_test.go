package nb

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// names lists how runs are called in tables, without repetition.
func names(t *testing.T, dirs []string) (list []string) {
	t.Helper()
	for _, dir := range dirs {
		run := fatal.Get(result.OpenRun(dir))(t)
		if name := run.Config.Arm().Name(); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return list
}

func TestAblate(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	dirs := Ablate("mine", "ceg", "S_r", "L_eg", 1, Set("data.pool_share", 0.5))
	want := []string{"CEG (published schedule)", "CEG (published schedule), w/o S_r", "CEG (published schedule), w/o L_eg", "CEG (published schedule), w/o S_r w/o L_eg"}
	if got := names(t, dirs); !slices.Equal(got, want) || len(dirs) != 4 {
		t.Errorf("%d runs of %q, want %q", len(dirs), got, want)
	}
	for i, want := range []struct{ gamma1, delta bool }{{false, false}, {true, false}, {false, true}, {true, true}} {
		run := fatal.Get(result.OpenRun(dirs[i]))(t)
		if c := run.Config; c.Exploration.Gamma1 == 0 != want.gamma1 || c.Generalization.Delta == 0 != want.delta {
			t.Errorf("%s has gamma1 %v and delta %v", dirs[i], c.Exploration.Gamma1, c.Generalization.Delta)
		}
	}
	if one := Ablate("mine", "ceg", "T", 1, Set("data.pool_share", 0.5), Set("seed", 1)); len(one) != 2 || one[0] != dirs[0] {
		t.Errorf("runs %q without T, the first known as %s", one, dirs[0])
	}
	for want, f := range map[string]func(){
		`no part "S_x", want one of S_u, S_r, S_d, L_ac, L_eg, M_intra, M_inter, T`: func() { Ablate("mine", "ceg", "S_x") },
		"w/o S_r: no effect of exploration.gamma1 0":                                func() { Ablate("mine", "ceg", "S_r", Set("timing", "once")) },
		"Ablate: a float64, want the name":                                          func() { Ablate("mine", "ceg", 0.5) },
		"no such setting; did you mean schedule.epochs?":                            func() { Ablate("mine", "ceg", "T", Set("epoch", 1)) },
	} {
		if text := panics(t, f); !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("error %q, want one line with %q", text, want)
		}
	}
}

func TestGrid(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	dirs := Grid("mine", []string{"ceg", "uniform-ce"}, []string{"2%", "5%"}, []string{"photo", "sketch"}, 1, Set("timing", "once"), Set("data.pool_share", 0.5))
	seen := map[string]bool{}
	for _, dir := range dirs {
		run := fatal.Get(result.OpenRun(dir))(t)
		seen[strings.Join([]string{run.Config.Method, run.Config.Exploration.Budget, run.Config.Data.Target}, " ")] = true
	}
	if len(dirs) != 8 || len(seen) != 8 || !seen["uniform-ce 2% sketch"] {
		t.Errorf("%d runs: %v", len(dirs), seen)
	}
	features := Grid("mine", []string{"logistic"}, nil, nil, 1, func(r *Run) { r.Dataset, r.Root = "features", "../results/digits.npz" })
	for i, want := range []string{"cartoon", "photo", "print", "sketch"} {
		if len(features) != 4 || Result(features[i]).Target != want {
			t.Fatalf("without targets %q, want a run on each domain of the file", features)
		}
	}
	groups := byBudget(dirs)
	if len(groups) != 2 || groups[0].budget != "2%" || len(groups[1].dirs) != 4 || len(groups[1].methods) != 2 {
		t.Errorf("by budgets %+v", groups)
	}
	if tables := Compare(slices.Concat(dirs[:2], dirs[6:])...); len(tables) != 1 || len(tables[0].Rows) < 2 {
		t.Errorf("tables of a method at each budget %v", tables)
	}
	if tables := Compare(dirs[:4]...); len(tables) != 1 || strings.Contains(tables[0].Title, ", budget") {
		t.Errorf("tables of one method %v", tables)
	}
	if tables := Compare(dirs...); len(tables) != 2 || !strings.HasSuffix(tables[1].Title, ", budget 5%") {
		t.Errorf("tables %v", tables)
	}
	Save(PerTarget(dirs...), filepath.Join(t.TempDir(), "budgets.pdf"))
	Save(PerTarget(groups[0].dirs...), filepath.Join(t.TempDir(), "targets.pdf"))
	Save(Dots(groups[0].dirs...), filepath.Join(t.TempDir(), "dots.pdf"))
	if again := Grid("mine", []string{"ceg"}, []string{"5%"}, []string{"photo"}, 1, Set("timing", "once"), Set("data.pool_share", 0.5)); filepath.Base(again[0]) != filepath.Base(dirs[2]) {
		t.Errorf("%s again is %s", dirs[2], again[0])
	}
	if all := Grid("mine", []string{"uniform-ce"}, nil, nil, 1, Set("data.pool_share", 0.3)); len(all) != 4 {
		t.Errorf("%d runs of the domains of glyphs", len(all))
	}
	if text := panics(t, func() {
		Grid("mine", []string{"ceg"}, nil, nil, 1, func(r *Run) { r.Dataset = "features" })
	}); !strings.Contains(text, "give its path as the root") {
		t.Errorf("error %q", text)
	}
}
