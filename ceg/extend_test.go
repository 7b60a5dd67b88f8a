package ceg_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
)

// A run that is extended begins with all labels of the other, asks for the rest of its
// budget, and ends with the same files whether it is killed or not.
func TestExtend(t *testing.T) {
	c := tiny(t, "ceg", config.Authors, "schedule.epoch_of", config.OverLabelled, "exploration.budget", "40")
	first, res := run(t, c)
	if _, err := ceg.Extend(ceg.Extension{Of: first, Budget: "39"}); err == nil || !strings.Contains(err.Error(), "39 is 39 labels, and "+first+" has 40 already") {
		t.Errorf("fewer labels: error %v", err)
	}
	if _, err := ceg.Extend(ceg.Extension{Of: first, Classes: []string{"+cat"}}); err == nil || !strings.Contains(err.Error(), "has its own classes") {
		t.Errorf("a class of glyphs: error %v", err)
	}
	e, err := ceg.Extend(ceg.Extension{Of: first, Budget: "60", Epochs: 8})
	if err != nil {
		t.Fatal(err)
	}
	if e.Taken != res.Labels || e.ToQuery != 60-res.Labels || e.By["simulated"] != res.Labels || e.Unfinished || e.Config.Schedule.Epochs != 8 {
		t.Fatalf("%+v", e)
	}
	if after := e.Config.Schedule.QueryAfter; len(after) == 0 || slices.Equal(after, c.Schedule.QueryAfter) || slices.Max(after) > 6 {
		t.Errorf("labels are asked for after epochs %v of 8, and %v of 4", after, c.Schedule.QueryAfter)
	}
	whole, killed := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "killed")
	for _, dir := range []string{whole, killed} {
		if err := e.Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	o := ceg.Options{Dir: whole, Resume: true, Backend: "go"}
	got, err := ceg.Run(t.Context(), e.Config, o)
	if err != nil {
		t.Fatal(err)
	}
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
	o.Dir, o.Observe = killed, func(e ceg.Event) {
		if e.Epoch == 4 {
			cancel(enough)
		}
	}
	if _, err := ceg.Run(ctx, e.Config, o); !errors.Is(err, enough) {
		t.Fatal(err)
	}
	o.Observe = nil
	if _, err := ceg.Run(t.Context(), e.Config, o); err != nil {
		t.Fatal(err)
	}
	sameOutcome(t, "killed", outcome(t, killed), outcome(t, whole))

	// What the run begins with is part of its settings.
	other := filepath.Join(t.TempDir(), "other")
	if err := e.Write(other); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(other, labels.BegunFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(text), "\n")
	if err := os.WriteFile(file, []byte(strings.Join(lines[:len(lines)-2], "")), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Dir = other
	if _, err := ceg.Run(t.Context(), e.Config, o); err == nil || !strings.Contains(err.Error(), file+" has not the labels that the run begins with") {
		t.Errorf("without its last label: error %v", err)
	}

	half, err := ceg.Extend(ceg.Extension{Of: killed})
	if err != nil || half.Taken != 60 || half.ToQuery != 0 {
		t.Errorf("an extension extended: %+v, %v", half, err)
	}
}

func queriesOf(t *testing.T, dir string) []result.Query {
	t.Helper()
	r, err := result.OpenRun(dir)
	if err != nil {
		t.Fatal(err)
	}
	list, err := r.Queries()
	if err != nil {
		t.Fatal(err)
	}
	return list
}
