package run_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A run that is extended begins with all labels of the other, asks for the rest of its
// budget, and ends with the same files whether it is killed or not.
func TestExtend(t *testing.T) {
	c := tiny(t, "ceg", config.Authors, "schedule.epoch_of", config.OverLabelled, "exploration.budget", "40")
	first, res := trained(t, c)
	fatal.Says(t, fatal.Err(run.Extend(run.Extension{Of: first, Budget: "39"})), "39 is 39 labels, and "+first+" has 40 already")
	fatal.Says(t, fatal.Err(run.Extend(run.Extension{Of: first, Classes: []string{"+cat"}})), "has its own classes")
	e := fatal.Get(run.Extend(run.Extension{Of: first, Budget: "60", Epochs: 8}))(t)
	if e.Taken != res.Labels || e.ToQuery != 60-res.Labels || e.By["simulated"] != res.Labels || e.Unfinished || e.Config.Schedule.Epochs != 8 {
		t.Fatalf("%+v", e)
	}
	if after := e.Config.Schedule.QueryAfter; len(after) == 0 || slices.Equal(after, c.Schedule.QueryAfter) || slices.Max(after) > 6 {
		t.Errorf("labels are asked for after epochs %v of 8, and %v of 4", after, c.Schedule.QueryAfter)
	}
	whole, killed := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
	for _, dir := range []string{whole, killed} {
		fatal.If(t, e.Write(dir))
	}
	o := run.Options{Dir: whole, Resume: true, Backend: "go"}
	got := fatal.Get(run.Run(t.Context(), e.Config, o))(t)
	if got.Labels != 60 || got.Unqueried != res.Labels || got.Epochs != 8 {
		t.Errorf("%d labels, %d given, in %d epochs; want 60, %d, 8", got.Labels, got.Unqueried, got.Epochs, res.Labels)
	}
	begun, later := queriesOf(t, first), queriesOf(t, whole)
	for _, q := range begun {
		if i := slices.IndexFunc(later, func(r result.Query) bool { return r.ID == q.ID && r.Class == q.Class }); i < 0 || later[i].Round != 0 {
			t.Fatalf("%s is not among the labels that the run begins with", q.ID)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	o.Dir, o.Observe = killed, func(e run.Event) {
		if e.Epoch == 4 {
			cancel(enough)
		}
	}
	if _, err := run.Run(ctx, e.Config, o); !errors.Is(err, enough) {
		t.Fatal(err)
	}
	o.Observe = nil
	fatal.Get(run.Run(t.Context(), e.Config, o))(t)
	sameOutcome(t, "killed", outcome(t, killed), outcome(t, whole))

	// What the run begins with is part of its settings.
	other := filepath.Join(t.TempDir(), "other")
	fatal.If(t, e.Write(other))
	file := filepath.Join(other, labels.BegunFile)
	text := fatal.Get(os.ReadFile(file))(t)
	lines := strings.SplitAfter(string(text), "\n")
	fatal.If(t, os.WriteFile(file, []byte(strings.Join(lines[:len(lines)-2], "")), 0o666))
	o.Dir = other
	fatal.Says(t, fatal.Err(run.Run(t.Context(), e.Config, o)), file+" has not the labels that the run begins with")

	half, err := run.Extend(run.Extension{Of: killed})
	if err != nil || half.Taken != 60 || half.ToQuery != 0 {
		t.Errorf("an extension extended: %+v, %v", half, err)
	}
}

func queriesOf(t *testing.T, dir string) []result.Query {
	t.Helper()
	r := fatal.Get(result.OpenRun(dir))(t)
	return fatal.Get(r.Queries())(t)
}
