package ceg_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
)

// Runs that differ only in what they ask share their first epochs, and end as if
// they had not.
func TestSharedBeginnings(t *testing.T) {
	shared := filepath.Join(t.TempDir(), "beginnings")
	share := func(c ceg.Config) (dir string, epochs int) {
		t.Helper()
		dir = filepath.Join(t.TempDir(), "run")
		trained := map[int]bool{}
		_, err := ceg.Run(t.Context(), c, ceg.Options{Dir: dir, Backend: "go", Beginnings: shared, Observe: func(e ceg.Event) {
			if e.Step > 0 {
				trained[e.Epoch] = true
			}
			if e.Epoch == 0 && !e.Done && !(math.IsNaN(e.TargetAcc) && math.IsNaN(e.ValAcc)) {
				t.Errorf("before the first epoch is over, accuracies are %v and %v, want NaN", e.TargetAcc, e.ValAcc)
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return dir, len(trained)
	}
	first := tiny(t, "ceg", config.Authors, "schedule.epoch_of", config.OverLabelled, "data.pool_share", 0.3)
	if _, n := share(first); n != 4 {
		t.Fatalf("the first run trained %d epochs, want all 4", n)
	}

	second := first
	second.Method, second.Exploration.Gamma1 = "ceg w/o S_r", 0
	alone, _ := run(t, second)
	dir, n := share(second)
	if want := 4 - second.Schedule.QueryAfter[0]; n != want {
		t.Errorf("a run with another gamma1 trained %d epochs, want %d", n, want)
	}
	want, got := outcome(t, alone), outcome(t, dir)
	for name := range want {
		if got[name] != want[name] {
			t.Errorf("%s is not what the run writes alone:\n%.300q\nwant\n%.300q", name, got[name], want[name])
		}
	}

	for what, change := range map[string]func(c *ceg.Config){
		"seed":   func(c *ceg.Config) { c.Seed++ },
		"budget": func(c *ceg.Config) { c.Exploration.Budget = "10%" },
		"delta":  func(c *ceg.Config) { c.Generalization.Delta = 0.1 },
	} {
		c := first
		change(&c)
		if _, n := share(c); n != 4 {
			t.Errorf("a run with another %s trained %d epochs, want all 4", what, n)
		}
	}
	if saved, err := os.ReadDir(shared); err != nil || len(saved) != 4 {
		t.Errorf("%d beginnings are kept, want 4 (%v)", len(saved), err)
	}
}
