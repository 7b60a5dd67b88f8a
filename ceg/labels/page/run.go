package page

import (
	"context"
	"encoding/json"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Run is the state of the run that the labels are for, as the page shows it when nothing is left
// to label.
type Run struct {
	// Finished is true once the run is finished. Estimate then describes its accuracy, and Changed
	// is the number of images whose labels have changed since.
	Finished bool   `json:"finished"`
	Estimate string `json:"estimate,omitempty"`
	Changed  int    `json:"changed,omitempty"`
	// Active is true while a process trains, or waits for the labels in order to train. Training
	// is its progress, such as "epoch 3 of 20", empty before the first epoch. The server sets
	// both by what [Report] reports.
	Active   bool   `json:"active"`
	Training string `json:"training,omitempty"`
	// Next is the command to run next.
	Next string `json:"next,omitempty"`
}

// reportTime is how long a report is valid: a process that has ended reports no more.
const reportTime = 5 * time.Second

// report is what a process that trains a run stores for the server of its ledger.
type report struct {
	At       time.Time `json:"at"`
	Training string    `json:"training"`
}

// Report reports to the server of a ledger that this process trains the run, with its progress,
// which may be empty. Repeat it every second.
func Report(ledger, training string) error {
	file, err := CacheFile(ledger, ".training")
	if err != nil {
		return err
	}
	return store(file, report{time.Now(), training})
}

// runState returns the state of the run, or nil if the labels are not for a run.
func (s *Server) runState() *Run {
	if s.o.Run == nil {
		return nil
	}
	var last int64
	s.o.Ledger.View(func(st *labels.State) { last = st.Last() })
	r := s.o.Run(last)
	s.mu.Lock()
	defer s.mu.Unlock()
	var now report
	if _, err := load(s.o.Ledger.Path(), ".training", &now); err == nil && !r.Finished && !s.ending && time.Since(now.At) < reportTime {
		r.Active, r.Training = true, text(now.Training)
	}
	return &r
}

// awaitStop waits until the server is to stop, tells its windows, and calls stop.
func (s *Server) awaitStop(ctx context.Context, stop func()) {
	if s.o.Running.file == "" {
		return
	}
	for tick := time.Tick(stopPoll); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick:
		}
		var now Running
		if data, err := regular.ReadPrivate(s.o.Running.file, maxStored); err != nil || json.Unmarshal(data, &now) != nil || now.Process != 0 {
			continue
		}
		begun := time.Now()
		s.mu.Lock()
		s.ending = true
		s.mu.Unlock()
		s.waitForWindows(begun)
		stop()
		return
	}
}

const (
	// endTime limits how long a stopping server waits for the windows at their end.
	endTime = 4 * time.Second
	// endPoll is longer than the time between two requests of a window at its end.
	endPoll = 2 * time.Second
)

// waitForWindows waits until every window that shows the end knows that the server, since begun,
// is about to stop.
func (s *Server) waitForWindows(begun time.Time) {
	for time.Since(begun) < endTime {
		s.mu.Lock()
		left := false
		for _, c := range s.clients {
			left = left || c.atEnd && c.seen.Before(begun) && begun.Sub(c.seen) < endPoll
		}
		s.mu.Unlock()
		if !left {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}
