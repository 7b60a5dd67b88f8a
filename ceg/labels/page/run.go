package page

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/ledg-go/ledg/ceg/labels"
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
	// both by what [Place.Report] reports.
	Active   bool   `json:"active"`
	Training string `json:"training,omitempty"`
	// Next is the command to run next.
	Next string `json:"next,omitempty"`
}

// reportTime is how long a report is valid: a process that has ended reports no more.
const reportTime = 5 * time.Second

// Report reports to the server at a place that this process trains the run, with its progress,
// which may be empty. Repeat it every second.
func (p Place) Report(ctx context.Context, training string) error {
	return p.call(ctx, "report?"+url.Values{"training": {training}}.Encode(), new(struct{}))
}

// report serves Place.Report.
func (s *Server) report(r *http.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reported, s.training = time.Now(), text(r.URL.Query().Get("training"))
	return struct{}{}, nil
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
	if !r.Finished && !s.ending && time.Since(s.reported) < reportTime {
		r.Active, r.Training = true, s.training
	}
	return &r
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
