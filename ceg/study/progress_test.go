package study

import (
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study/eta"
)

// The ETA is this process's time per run times the remaining runs.
func TestProgress(t *testing.T) {
	p := plan(t, smallStudy())
	m := newMeter(p.Runs) // 8 runs of 3 epochs
	state := make([]outcome, 8)
	m.skip(0)
	state[0] = finished
	if g := m.now(state); g.Known || g.Share != 1./8 || g.Finished != 1 || g.Total != 8 {
		t.Errorf("progress is %+v", g)
	}
	m.eta = eta.Estimator{}
	m.eta.Begin(time.Now().Add(-time.Minute), 0)
	event := func(epoch, step int, done bool) Event {
		return Event{Kind: Training, Training: run.Event{Epoch: epoch, Step: step, Steps: 2, Done: done}}
	}
	m.count(1, event(1, 1, false)) // resumed after its first epoch
	m.count(1, event(1, 2, true))
	m.count(2, Event{Kind: Failed})
	state[2] = failed
	g := m.now(state)
	// One epoch in a minute; 8*3 - (3 + 2 + 3) = 16 are left.
	if !g.Known || g.ETA.Round(time.Second) != 16*time.Minute || g.Share != 8./24 || g.Failed != 1 {
		t.Errorf("progress is %+v", g)
	}
}
