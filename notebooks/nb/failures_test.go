package nb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/plots"
)

var (
	// badShape adds losses [n] to classes [n] of another type.
	badShape = Objective("bad-shape", func(s Step) {
		f := s.Forward(objective.Backbone, objective.View{Images: s.In("x_weak")})
		loss := graph.Add(objective.CrossEntropy(s.Head(objective.ClassHead, f[0]), s.In("y")), s.In("y")) // fails here
		s.Minimise("total", graph.ReduceAllMean(loss), objective.Backbone, objective.ClassHead)
	}, "x_weak", "y")
	// badIndex passes its check, on twelve candidates.
	badIndex = Strategy("bad-index", func(c Pool) []float64 {
		scores := c.Entropy()
		return scores[:len(scores):12] // too
	})
)

// at is a line of this file, by what it ends with.
func at(t *testing.T, end string) string {
	t.Helper()
	for i, line := range strings.Split(string(Must(os.ReadFile("failures_test.go"))), "\n") {
		if strings.HasSuffix(line, end) && !strings.Contains(line, "at(") {
			return fmt.Sprintf("failures_test.go:%d", i+1)
		}
	}
	t.Fatalf("no line ends with %q", end)
	return ""
}

// forget forgets failures of other tests.
func forget(t *testing.T) {
	t.Setenv("LEDG_QUICK", "1")
	t.Setenv("LEDG_RUNS", t.TempDir())
	failures, listed = nil, 0
}

// Runs that fail do not stop others, and are named with the line of their code.
func TestGoesOn(t *testing.T) {
	here := at(t, "// fails here")
	forget(t)
	small := Set("data.pool_share", 0.5)
	dirs := Grid("mine", []string{"bsvb-ce", badShape, "uniform-ce", badIndex + "-ce"}, nil, []string{"photo"}, 2, small, Set("timing", "published"))
	if len(dirs) != 2 || Result(dirs[1]).Method != "uniform-ce" || len(failures) != 6 {
		t.Fatalf("runs %q and %d failures: %+v", dirs, len(failures), failures)
	}
	lines := failureLines(failures)
	for i, want := range [][]string{
		{"Failed: bsvb-ce, target photo, seed 1 (and 1 more", "did you mean bvsb-ce?"},
		{"bad-shape, target photo, seed 1, run glyphs-photo-", here},
		{"bad-index-ce, target photo, seed 1, run glyphs-photo-", at(t, "// too")},
	} {
		for _, part := range want {
			if len(lines) != 3 || !strings.Contains(lines[i], part) || strings.Contains(lines[i], "\n") {
				t.Errorf("failures %q, want one line with %q", lines, part)
			}
		}
	}
	tables := Compare(dirs...)
	if notes := tables[0].Notes; !slices.Contains(notes, failedNotes+"6 of bsvb-ce, bad-shape, bad-index-ce.") {
		t.Errorf("notes %q", notes)
	}
	if some := Sweep("mine", "uniform-ce", "data.pool_share", []float64{-1, 0.5}, 1); len(some) != 1 {
		t.Errorf("a sweep over a value that cannot be has the runs %q", some)
	}
	if texts := Sweep("mine", "uniform-ce", "exploration.initial", []string{"uniform", "kmeans"}, 1, small); len(texts) != 2 {
		t.Errorf("a sweep over texts has the runs %q", texts)
	}
	if pairs := Sweep("mine", "uniform-ce", "lr, data.pool_share", [][2]float64{{0.01, 0.5}, {0.02, 0.5}}, 1, small); len(pairs) != 2 {
		t.Errorf("a sweep over pairs has the runs %q", pairs)
	}
	r := MustFinish(study.Report{Finished: []study.Job{{}}, Failed: []study.Failure{{Err: errors.New("no power")}}}, nil)
	if len(r.Failed) != 1 || failures[len(failures)-1].err.Error() != "no power" {
		t.Errorf("failures %+v", failures)
	}
	for want, f := range map[string]func(){
		"all 2 runs failed; the first, bsvb-ce, target photo, seed 1: method": func() { Seeds(2, "mine", "bsvb-ce") },
		here: func() { Train("mine", badShape, small) },
		"a sweep over 2 settings: the value 0.1: want 2 values": func() { Sweep("mine", "uniform-ce", "lr,epochs", []float64{0.1}, 1, small) },
	} {
		if text := panics(t, f); !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("error %q, want one line with %q", text, want)
		}
	}
}

// A declaration that fails in a notebook ends only what uses it.
func TestBroken(t *testing.T) {
	forget(t)
	Fragile := func() string { return registered("fragile", errors.New("fragile: NaN"), true) }()
	own := func() string { return registered("ceg", errors.New("the name is taken: choose another"), true) }()
	Train("mine", "uniform-ce")
	if other := errors.New(`"fragile2+fixmatch"`); explained(other) != other {
		t.Errorf("%v becomes %v", other, explained(other))
	}
	for method, want := range map[string]string{
		Fragile + "-ce": "fragile: NaN, at ", "uniform+" + Fragile: "remove it with %rm ", own: "choose another",
	} {
		if text := panics(t, func() { Train("mine", method) }); !strings.Contains(text, want) {
			t.Errorf("%s: error %q, want %q", method, text, want)
		}
	}
}

// Errors about data say what is there.
func TestDataErrors(t *testing.T) {
	forget(t)
	of := func(root, target string) func(*Run) {
		return func(r *Run) { r.Dataset, r.Root, r.Target, r.Budget = "features", root, target, "40" }
	}
	const digits = "../results/digits.npz"
	for want, f := range map[string]func(){
		"data.target: missing: the domain that is held out, one of cartoon, photo, print, sketch, or none": func() { Train("mine", "logistic", of(digits, "")) },
		"nowhere.npz is relative to " + Must(os.Getwd()):                                                   func() { Train("mine", "logistic", of("nowhere.npz", "photo")) },
		"w/o S_r: ": func() { Ablate("mine", "ledg", "S_r", of(digits, "photo")) },
	} {
		if text := panics(t, f); !strings.Contains(text, want) || strings.Contains(text, "\n") {
			t.Errorf("error %q, want one line with %q", text, want)
		}
	}
	c := Config(config.Spec{Dataset: "features", Target: "photo", Method: "fixmatch", Net: "mlp", Width: 32})
	if c.Network.Name != "mlp" || c.Network.Width != 32 {
		t.Errorf("network %+v", c.Network)
	}
	flat := t.TempDir()
	SaveImages("glyphs", 1, func(domain, class string) string {
		if class > "1" {
			return ""
		}
		return filepath.Join(flat, domain)
	})
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	file := Extract(flat, "zero", "one")
	dir := Train("mine", "logistic", of(file, "photo"), Set("budget", "4"), Set("exploration.oracle", "ask"))
	if run := Must(result.OpenRun(dir)); !slices.Equal(run.Config.Data.Classes, []string{"zero", "one"}) {
		t.Errorf("classes %q", run.Config.Data.Classes)
	}
}

// Two seeds have one note, and no table of p-values. A band that is asked for is drawn from three runs on.
func TestFewSeeds(t *testing.T) {
	forget(t)
	small := Set("data.pool_share", 0.5)
	dirs := append(Seeds(2, "mine", "uniform-ce", small), Seeds(2, "mine", "bvsb-ce", small, Set("timing", "published"))...)
	tables := Compare(dirs...)
	text := tableText(tables[0])
	if strings.Count(text, "no interval") != 1 || !strings.Contains(text, "All rows: n = 2: no interval.") || strings.Contains(text, report.PValues) {
		t.Errorf("two seeds:\n%s", text)
	}
	if one := Compare(dirs[:2]...); slices.ContainsFunc(one[0].Columns, func(c result.Column) bool { return strings.HasPrefix(c.Name, "minus") }) {
		t.Errorf("one method has the columns %+v", one[0].Columns)
	}
	f := LearningCurves(Seeds(3, "mine", "uniform-ce", small)...)
	defer func() { Band = "" }()
	for band, want := range map[plots.Band]string{"": "Mean of n = 3 runs, shown as points.", SD: "Mean of n = 3 runs; band: standard deviation over runs."} {
		Band = band
		if g := Must(f.draw(Theme())); !strings.Contains(g.Note, want) {
			t.Errorf("band %q: note %q, want %q", band, g.Note, want)
		}
	}
}
