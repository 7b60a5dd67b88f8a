package ceg

import (
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"github.com/ledg-go/ledg/ceg/checkpoint"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/result"
)

// record is the fourth part of a run: its folder, with what it has recorded and
// the checkpoint that it goes on from.
type record struct {
	*result.Dir
	config Config
	// engines have computed the run's epochs so far.
	engines []result.Engine
	// compile and prepare are times of this process.
	prepare, compile float64
	beginning        beginning
	voice            *voice
}

// openRecord makes or takes over the run's folder.
func openRecord(c Config, o Options, v *voice) (*record, error) {
	open := result.Create
	if o.Resume {
		open = result.Resume
	}
	dir, err := open(o.Dir, c)
	if err != nil {
		return nil, err
	}
	return &record{Dir: dir, config: c, voice: v}, nil
}

// load reads the checkpoint, which can be the beginning of another run, takes back
// what was recorded after it, and notes what computes from here on. ok is false when
// there is no checkpoint.
func (d *record) load(t *trainer) (s checkpoint.State, ok bool, err error) {
	params := t.learner.Params()
	s, state, ok, err := checkpoint.Read(d.File(""), &d.config, params)
	taken := false
	if err == nil && !ok {
		if taken, err = d.beginning.take(d.Dir, d.voice); taken {
			s, state, ok, err = checkpoint.Read(d.beginning.folder, nil, params)
		}
	}
	if err != nil {
		return s, false, err
	}
	if err := d.Truncate(s.Written); err != nil {
		return s, false, err
	}
	if ok {
		if err := t.learner.SetState(state); err != nil {
			return s, false, fmt.Errorf("%s: %w", d.File(checkpoint.File), err)
		}
	}
	d.addEngine(s.Engines, t.engine(s.Epoch))
	if taken && ok { // it is this run's from here on
		err = d.save(s, t.learner)
	}
	return s, ok, err
}

// addEngine adds what computes now to those that have computed the run so far,
// unless it is the last of them.
func (d *record) addEngine(before []result.Engine, now result.Engine) {
	d.engines = before
	if n := len(before); n > 0 {
		last := before[n-1]
		last.FromEpoch = now.FromEpoch
		if last.Hardware == "" { // an older version did not say
			last.Hardware, last.Software = now.Hardware, now.Software
		}
		if last.Revision == "" {
			last.Revision = now.Revision
		}
		if last == now {
			return
		}
		d.voice.say("the epochs before were computed by %s, these are by %s", last, now)
	}
	d.engines = append(d.engines, now)
}

// save writes the checkpoint.
func (d *record) save(s checkpoint.State, l *learner.Learner) (err error) {
	if s.Written, err = d.Lengths(); err != nil {
		return err
	}
	s.Engines = d.engines
	state, err := l.State()
	if err != nil {
		return err
	}
	return d.WriteFile(checkpoint.File, func(w io.Writer) error { return s.Write(w, d.config, l.Params(), state) })
}

// remember notes where the run has found its data.
func (d *record) remember(o Options) (err error) {
	if o.Root == "" { // nothing new
		return nil
	}
	var p result.Place
	if p.Root, err = filepath.Abs(o.Root); err != nil {
		return err
	}
	p.FollowLinks = o.FollowLinks
	if o.Labels != "" {
		if p.Labels, err = filepath.Abs(o.Labels); err != nil {
			return err
		}
	}
	if o.SplitsDir != "" {
		if p.SplitsDir, err = filepath.Abs(o.SplitsDir); err != nil {
			return err
		}
	}
	return d.WritePlace(p)
}

// timing sums up the times of the records and of this process.
func (d *record) timing(records []result.Record) result.Timing {
	t := result.Timing{Prepare: d.prepare, Compile: d.compile, PeakMemoryBytes: engine.PeakMemory(),
		Machine: engine.Machine(), Threads: runtime.GOMAXPROCS(0)}
	t.AddRecords(records)
	return t
}

// versions names the code that runs.
func versions(b engine.Backend) result.Versions {
	v := result.Versions{Backend: b.Name}
	v.Commit, v.Dirty = result.Build()
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Go, v.Ledg = info.GoVersion, info.Main.Version
	for _, d := range info.Deps {
		switch d.Path {
		case "github.com/gomlx/gomlx":
			v.GoMLX = d.Version
		case "github.com/gomlx/compute":
			v.Compute = d.Version
		}
	}
	return v
}
