package run_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// However long images take to prepare, people can label before: the run has what the page
// needs, and says so, while nothing is prepared yet.
func TestLabellingBeforePreparing(t *testing.T) {
	root := unlabelled(t)
	calls, looked := 0, false
	c := peopleConfig(t, "night", "uniform-ce", "6")
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Root: root, Backend: "go", CacheDir: t.TempDir(), Ready: func() { calls++ }}
	o.Observe = func(e run.Event) { // the run stands still meanwhile
		if looked || !strings.HasPrefix(e.Message, "preparing images: ") {
			return
		}
		looked = true
		if calls != 1 {
			t.Errorf("while images are prepared the run has said %d times that it asks", calls)
		}
		_, d, _, err := run.OpenData(run.Options{Dir: o.Dir})
		if err != nil || d.Len() != 48 {
			t.Errorf("the images cannot be opened from the run's folder: %v", err)
		}
		l := fatal.Get(labels.Open(o.Dir, nil, labels.Options{}))(t)
		l.Close()
	}
	var awaiting *run.ErrAwaitingLabels
	if _, err := run.Run(t.Context(), c, o); !errors.As(err, &awaiting) || !looked {
		t.Fatalf("got %v; looked: %v", err, looked)
	}
}

// A resumed run that waits for labels can be labelled: it says so before it waits.
func TestLabellingAfterResume(t *testing.T) {
	c := peopleConfig(t, "night", "uniform-ce", "6")
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Root: unlabelled(t), Backend: "go", CacheDir: t.TempDir()}
	var awaiting *run.ErrAwaitingLabels
	if _, err := run.Run(t.Context(), c, o); !errors.As(err, &awaiting) {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	o.Resume, o.Wait, o.Ready = true, true, stop
	if _, err := run.Run(ctx, c, o); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want a run that was stopped as soon as it could be labelled", err)
	}
}
