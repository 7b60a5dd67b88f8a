package run

import (
	"fmt"
	"math"
	"time"
)

// Event reports the progress of a run. One is sent after every training step, at the end of an
// epoch (Done is set), and with every Message.
type Event struct {
	// Epoch counts from 0 to Epochs-1, Step from 1 to Steps within the epoch.
	Epoch, Epochs int
	Step, Steps   int
	// Loss is L_ss of the last step; at the end of an epoch it is the epoch's mean.
	Loss float64
	// Labelled is the number of labels in this epoch's training set.
	Labelled int
	// TargetAcc and ValAcc are the accuracies on the target domain and on the source validation
	// splits, in [0, 1], after the last evaluated epoch; NaN before the first.
	TargetAcc, ValAcc float64
	// Done is true once the epoch is complete and recorded.
	Done bool
	// Message is a line for the user, or empty.
	Message string
}

// Over returns the number of finished epochs, plus the finished fraction of the current one.
func (e Event) Over() float64 {
	if e.Done {
		return float64(e.Epoch + 1)
	}
	return float64(e.Epoch) + float64(e.Step)/float64(max(1, e.Steps))
}

// reporter tells an observer what a run does.
type reporter struct {
	observer func(Event)
	last     Event
}

func newReporter(observer func(Event), epochs int) *reporter {
	return &reporter{observer, Event{Epochs: epochs, TargetAcc: math.NaN(), ValAcc: math.NaN()}}
}

// tell sends the last event.
func (v *reporter) tell() {
	if v.observer != nil {
		v.observer(v.last)
	}
}

// say sends a line.
func (v *reporter) say(format string, args ...any) {
	if v.observer != nil {
		e := v.last
		e.Message = fmt.Sprintf(format, args...)
		v.observer(e)
	}
}

// progress returns a callback that reports a share of work now and then.
func (v *reporter) progress(what string) func(done, total int) {
	var last time.Time
	return func(done, total int) {
		if done == total || time.Since(last) > 2*time.Second {
			last = time.Now()
			v.say("%s: %d of %d", what, done, total)
		}
	}
}
