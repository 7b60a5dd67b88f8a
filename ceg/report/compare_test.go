package report

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// Objectives that are methods have all labels at once by their name; a timing is said
// of the others, and of them where it is another.
func TestTimingsInNames(t *testing.T) {
	run := func(method string, timing config.Timing) *RecordedRun {
		r := &result.Run{Result: &result.Result{Method: method}}
		r.Config.Schedule.Timing = timing
		return &RecordedRun{Run: r}
	}
	runs := []*RecordedRun{run("jigen", "once"), run("fixmatch", "once"), run("ceg", "published"), run("ceg", "early"), run("jigen", "early")}
	names := newNaming(runs)
	for i, want := range []string{"jigen", "fixmatch", "ceg published", "ceg early", "jigen early"} {
		if got := names.timed(runs[i]); got != want {
			t.Errorf("%s, %s is called %q, want %q", runs[i].Result.Method, runs[i].timing(), got, want)
		}
	}
	if got := newNaming(runs[:3]).timed(runs[2]); got != "ceg" {
		t.Errorf("the only one that asks is called %q", got)
	}
}
