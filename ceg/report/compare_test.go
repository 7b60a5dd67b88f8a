package report

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Runs with one learning rate for all parts of the network are named by it, others by the rates that
// differ.
func TestLearningRatesInNames(t *testing.T) {
	run := func(set map[string]any) *RecordedRun {
		c := fatal.Get(config.Resolve(config.Spec{Dataset: "glyphs", Target: "photo", Method: "ceg", Set: set}))(t)
		return &RecordedRun{Run: &result.Run{Config: c, Result: &result.Result{Method: "ceg"}}}
	}
	for want, second := range map[string]*RecordedRun{
		"Random + CEG loss, upfront, learning rate 0.01":  run(map[string]any{"lr": 0.01}),
		"Random + CEG loss, upfront, class_head_rate 0.5": run(map[string]any{"optimizer.class_head_rate": 0.5}),
	} {
		if got := newNaming([]*RecordedRun{run(nil), second}).called(second); got != want {
			t.Errorf("a run is called %q, want %q", got, want)
		}
	}
}

// The interval of three seeds near 100% ends there, and the table says so.
func TestIntervalsStayWithinBounds(t *testing.T) {
	table := func(correct ...int) *result.Table {
		t.Helper()
		var runs []*RecordedRun
		for i, n := range correct {
			r := &RecordedRun{Run: &result.Run{Path: fmt.Sprint(i), Result: new(result.Result)}}
			r.Config.Method, r.Config.Data.Target, r.Config.Seed = "ceg", "photo", uint64(i+1)
			r.Result.Accuracy.LastEpoch = result.Choice{Target: result.Tally{Correct: n, Total: 100}, TargetAccuracy: float64(n) / 100}
			r.Choices = r.Result.Accuracy
			runs = append(runs, r)
		}
		return fatal.Get(summaryTable(runs, CompareOptions{Rule: "last_epoch"}))(t)
	}
	for _, c := range []struct {
		correct []int
		want    string
		cut     bool
	}{
		{[]int{90, 95, 100}, "seeds: 90.00 to 100.00", true},
		{[]int{0, 1, 5}, "seeds: 0.00 to 5.00", true},
		{[]int{50, 51, 52}, "48.52 to 53.48", false},
	} {
		tab := table(c.correct...)
		if got := tab.Rows[0][5].Text; got != c.want {
			t.Errorf("%v: the interval is %s, want %s", c.correct, got, c.want)
		}
		if noted := slices.Contains(tab.Notes, "seeds: the lowest and the highest seed, where Student's interval would leave 0 to 100%."); noted != c.cut {
			t.Errorf("%v: notes %q", c.correct, tab.Notes)
		}
	}
}

// Rows say in which settings they differ, whatever their methods are; two rows never have one name.
func TestSettingsThatDiffer(t *testing.T) {
	run := func(method, images string, set map[string]any) *RecordedRun {
		c := fatal.Get(config.Resolve(config.Spec{Dataset: "features", Target: "photo", Method: method, Set: set}))(t)
		return &RecordedRun{Run: &result.Run{Config: c, Result: &result.Result{Method: c.Method, Preset: string(c.Preset), Dataset: "features", Images: images}}}
	}
	mlp, lr, ledg := map[string]any{"network.name": "mlp"}, map[string]any{"lr": 0.5}, map[string]any{"preset": "ledg"}
	once := map[string]any{"schedule.timing": "once"}
	ceg, fixmatch := run("ceg", "a", nil), run("fixmatch", "a", nil)
	for _, x := range []struct {
		runs        []*RecordedRun
		note, names string
	}{
		{[]*RecordedRun{ceg, fixmatch}, "", "CEG (published schedule) | Random + FixMatch, upfront"},
		{[]*RecordedRun{ceg, run("fixmatch", "a", mlp)},
			"Settings that differ: CEG (published schedule): network linear; Random + FixMatch, upfront: network mlp.", ""},
		{[]*RecordedRun{ceg, run("badge", "a", nil), run("fixmatch", "a", map[string]any{"generalization.tau": 0.5, "lr": 0.5})},
			"Settings that differ: Random + FixMatch, upfront: learning rate 0.5, tau 0.5; the others: learning rate 0.001, tau 0.95.", ""},
		{[]*RecordedRun{ceg, run("ceg", "a", mlp)}, "Settings that differ: network, as named.",
			"CEG (published schedule), network linear | CEG (published schedule), network mlp"},
		{[]*RecordedRun{ceg, run("ceg", "a", lr)}, "Settings that differ: learning rate, as named.",
			"CEG (published schedule), learning rate 0.001 | CEG (published schedule), learning rate 0.5"},
		{[]*RecordedRun{ceg, run("fixmatch", "a", ledg)}, "Settings that differ: CEG (published schedule): normalise none, epochs 60, per_domain 16, learning rate 0.001; " +
			"MaxHerding + FixMatch, upfront (preset ledg): normalise root, epochs 20, per_domain 8, learning rate 0.002.", ""},
		{[]*RecordedRun{fixmatch, run("uniform+fixmatch", "a", once)}, "",
			"Random + FixMatch, upfront (fixmatch) | Random + FixMatch, upfront (uniform+fixmatch)"},
		{[]*RecordedRun{ceg, run("ceg", "b", nil)}, "", "CEG (published schedule), data a | CEG (published schedule), data b"},
	} {
		n := newNaming(x.runs)
		if got := n.note(x.runs); got != x.note {
			t.Errorf("note\n%s\nwant\n%s", got, x.note)
		}
		a := n.called(x.runs[0])
		b := n.called(x.runs[1])
		if got := a + " | " + b; x.names != "" && got != x.names {
			t.Errorf("names %s, want %s", got, x.names)
		}
		if of := n.ofRow(x.runs[1]); a == b || of != b {
			t.Errorf("in a table of runs it is called %q, want %q, and not %q", of, b, a)
		}
	}
}
