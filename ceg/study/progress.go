package study

import (
	"time"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study/eta"
)

// Kind is the kind of an Event.
type Kind uint8

const (
	// Started: this process starts or resumes the run.
	Started Kind = iota
	// Training: the run reports its progress.
	Training
	// Finished and Failed: the run has ended.
	Finished
	Failed
	// Busy: another process is working on the run; it will be checked again.
	Busy
	// Interrupted: the context was cancelled.
	Interrupted
)

// Event reports the progress of a study.
type Event struct {
	Kind Kind
	Run  Job
	// Training is the run's own event.
	Training run.Event
	// Result is set for a finished run, Err for a failed or busy one.
	Result *result.Result
	Err    error
	// Progress covers all runs of the shard.
	Progress Progress
}

// Progress counts the runs of the shard, each folder once.
type Progress struct {
	Total, Finished, Failed, Running int
	// Share is the finished fraction of all epochs, in [0, 1]; failed runs count as finished.
	Share float64
	// ETA is the estimated remaining time at this process's rate so far; ok is false before the
	// first epoch ends. Other processes on the folder shorten it.
	ETA   time.Duration
	Known bool
}

// meter measures progress in epochs.
type meter struct {
	eta    eta.Estimator
	epochs []float64 // of each run
	done   []float64 // of these, over
	began  []float64 // of these, before this process
	seen   []bool    // whether began is known
}

func newMeter(runs []Job) meter {
	n := len(runs)
	m := meter{epochs: make([]float64, n), done: make([]float64, n), began: make([]float64, n), seen: make([]bool, n)}
	m.eta.Begin(time.Now(), 0)
	for i, r := range runs {
		m.epochs[i] = float64(r.Config.Schedule.Epochs)
	}
	return m
}

// skip counts a run that was finished before.
func (m *meter) skip(i int) { m.done[i], m.began[i] = m.epochs[i], m.epochs[i] }

// count enters an event of run i.
func (m *meter) count(i int, e Event) {
	switch e.Kind {
	case Training:
		t := e.Training
		if t.Steps == 0 {
			return
		}
		if !m.seen[i] { // a resumed run has epochs behind it
			m.seen[i], m.began[i] = true, float64(t.Epoch)
		}
		m.done[i] = t.Over()
	case Finished:
		if !m.seen[i] { // another process has finished it
			m.began[i] = m.epochs[i]
		}
		m.done[i] = m.epochs[i]
	case Failed:
		m.began[i] += m.epochs[i] - m.done[i]
		m.done[i] = m.epochs[i]
	}
}

// now sums up.
func (m *meter) now(state []outcome) Progress {
	p := Progress{Total: len(state)}
	for _, s := range state {
		switch s {
		case finished:
			p.Finished++
		case failed:
			p.Failed++
		case running:
			p.Running++
		}
	}
	var all, done, own float64
	for i, n := range m.epochs {
		all, done, own = all+n, done+m.done[i], own+m.done[i]-m.began[i]
	}
	if all > 0 {
		p.Share = done / all
	}
	if own >= 1 {
		p.ETA, p.Known = m.eta.Left(time.Now(), own, own+all-done)
	}
	return p
}
