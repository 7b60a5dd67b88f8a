package run

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
)

// load loads the weights of the checkpoint. It truncates records that are newer, and notes the
// current engine. ok is false if there is no checkpoint.
func (r *run) load() (s checkpoint.State, ok bool, err error) {
	l := r.trainer.Learner
	s, state, ok, err := checkpoint.Read(r.folder.File(""), r.c, l.Params())
	if err == nil {
		err = r.folder.Truncate(s.Written)
	}
	if err != nil {
		return s, false, err
	}
	if ok {
		if err := l.SetState(state); err != nil {
			return s, false, fmt.Errorf("%s: %w", r.folder.File(checkpoint.File), err)
		}
	}
	r.addEngine(s.Engines, r.trainer.Engine(s.Epoch))
	return s, ok, nil
}

// addEngine adds the present engine to those that have computed the run so far,
// unless it is the last of them.
func (r *run) addEngine(before []result.Engine, now result.Engine) {
	r.engines = before
	if n := len(before); n > 0 {
		last := before[n-1]
		last.FromEpoch = now.FromEpoch
		last.Revision = cmp.Or(last.Revision, now.Revision)
		if last == now {
			return
		}
		r.reporter.say("the epochs before were computed by %s, these are by %s", last, now)
	}
	r.engines = append(r.engines, now)
}

// restore brings the run, which has no labels, into the state of a checkpoint. path
// names it.
func (r *run) restore(path string, c checkpoint.State) error {
	if err := r.campaign.Restore(path, c.Pool, campaign.Progress{Round: c.Round, Unqueried: c.Unqueried, Withdrawn: c.Withdrawn}); err != nil {
		return err
	}
	if err := r.examples.Same(path, c.Images); err != nil {
		return err
	}
	r.epoch, r.steps, r.changed, r.pending = c.Epoch, c.Steps, c.Changed, c.Pending
	for i, at := range c.Reliable {
		if at < 0 || int(at) >= len(r.campaign.Places) {
			return fmt.Errorf("%s: the reliable set has image %d of %d", path, at, len(r.campaign.Places))
		}
		r.reliable.examples = append(r.reliable.examples, r.campaign.Places[at])
		r.reliable.labels = append(r.reliable.labels, int(c.ReliableLabels[i]))
	}
	return nil
}

func (r *run) save() (err error) {
	s := r.checkpoint()
	if s.Written, err = r.folder.Lengths(); err != nil {
		return err
	}
	l := r.trainer.Learner
	state, err := l.State()
	if err != nil {
		return err
	}
	return r.folder.WriteFile(checkpoint.File, func(w io.Writer) error { return s.Write(w, r.c, l.Params(), state) })
}

// checkpoint returns the state of the run that is not in its files.
func (r *run) checkpoint() checkpoint.State {
	c := checkpoint.State{
		Epoch: r.epoch, Steps: r.steps, Round: r.campaign.Round,
		Images: r.examples.Digest, Pool: r.campaign.Snapshot(),
		Unqueried: r.campaign.Unqueried, Withdrawn: r.campaign.Withdrawn, Changed: r.changed, Pending: r.pending, Engines: r.engines,
	}
	for i, x := range r.reliable.examples {
		at, _ := slices.BinarySearch(r.campaign.Places, x) // it is of the pool
		c.Reliable, c.ReliableLabels = append(c.Reliable, int32(at)), append(c.ReliableLabels, int32(r.reliable.labels[i]))
	}
	return c
}

// timed sums the durations of the records and of this process. The run began when its
// config.json was written, which no later process does.
func (r *run) timed(records []result.Record) result.Timing {
	t := r.timing
	t.PeakMemoryBytes, t.Machine, t.Threads = engine.PeakMemory(), engine.Machine(), runtime.GOMAXPROCS(0)
	if info, err := os.Stat(r.folder.File(result.ConfigFile)); err == nil {
		t.Began = info.ModTime().UTC().Truncate(time.Second)
	}
	t.AddRecords(records)
	return t
}
