// Package rundir reads and writes the folder of a run: its records and its checkpoint. [Open]
// creates the folder or resumes a run in it. Its subpackages define the files.
package rundir

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/checkpoint"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// Folder is the locked folder of a run.
type Folder struct {
	*result.Dir
	config config.Config
	// Engines lists the engines that have computed the run's epochs.
	Engines []result.Engine
	// Prepare and Compile are durations in this process, in seconds.
	Prepare, Compile float64
	say              func(format string, args ...any)
}

// Open creates the folder of a run with config c or, to resume, opens it. say receives messages
// for the user; it may be nil.
func Open(path string, c config.Config, p result.Place, resume bool, say func(format string, args ...any)) (*Folder, error) {
	p, err := merge(result.Place{}, p, c)
	if err != nil {
		return nil, err
	}
	dir, err := result.Open(path, c, p, resume)
	if err != nil {
		return nil, err
	}
	if say == nil {
		say = func(string, ...any) {}
	}
	return &Folder{Dir: dir, config: c, say: say}, nil
}

// Load loads the checkpoint into a learner. It truncates records that are newer, and records the
// current engine. ok is false if there is no checkpoint.
func (d *Folder) Load(l *learner.Learner, now func(fromEpoch int) result.Engine) (s checkpoint.State, ok bool, err error) {
	s, state, ok, err := checkpoint.Read(d.File(""), d.config, l.Params())
	if err != nil {
		return s, false, err
	}
	if err := d.Truncate(s.Written); err != nil {
		return s, false, err
	}
	if ok {
		if err := l.SetState(state); err != nil {
			return s, false, fmt.Errorf("%s: %w", d.File(checkpoint.File), err)
		}
	}
	d.addEngine(s.Engines, now(s.Epoch))
	return s, ok, nil
}

// addEngine adds the present engine to those that have computed the run so far,
// unless it is the last of them.
func (d *Folder) addEngine(before []result.Engine, now result.Engine) {
	d.Engines = before
	if n := len(before); n > 0 {
		last := before[n-1]
		last.FromEpoch = now.FromEpoch
		if last.Revision == "" {
			last.Revision = now.Revision
		}
		if last == now {
			return
		}
		d.say("the epochs before were computed by %s, these are by %s", last, now)
	}
	d.Engines = append(d.Engines, now)
}

// Save writes the checkpoint.
func (d *Folder) Save(s checkpoint.State, l *learner.Learner) (err error) {
	if s.Written, err = d.Lengths(); err != nil {
		return err
	}
	s.Engines = d.Engines
	state, err := l.State()
	if err != nil {
		return err
	}
	return d.WriteFile(checkpoint.File, func(w io.Writer) error { return s.Write(w, d.config, l.Params(), state) })
}

// keepFeatures keeps a file of features in the folder, unless there is one, and returns its
// path.
func (d *Folder) keepFeatures(from string) (path string, err error) {
	path = d.File(result.FeaturesFile)
	if _, err := os.Stat(path); err == nil || os.Link(from, path) == nil {
		return path, nil
	}
	return path, regular.CopyFile(from, path)
}

// KeepNetwork copies the files of an ONNX network into the folder, unless they are there: the
// network first, then the weight files that it refers to by relative paths.
func (d *Folder) KeepNetwork(files []string) error {
	if len(files) == 0 {
		return nil
	}
	from := filepath.Dir(files[0])
	for _, f := range slices.Backward(files) { // the network last: where it is the others are
		name, err := filepath.Rel(from, f)
		if err != nil {
			return err
		}
		to := d.File(filepath.Join(result.NetworkDir, name))
		if _, err := os.Stat(to); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			return err
		}
		if err := regular.CopyFile(f, to); err != nil {
			return err
		}
	}
	return nil
}

// merge returns where a run has found its data and weights, and what computed it: what p
// leaves open is as it was before.
func merge(old, p result.Place, c config.Config) (now result.Place, err error) {
	now = p.Or(old, c.Data.Dataset)
	for _, path := range []*string{&now.Root, &now.Images, &now.Labels, &now.SplitsDir, &now.Weights, &now.Style, &now.CacheDir} {
		if *path == "" || config.Elsewhere(*path) {
			continue
		}
		if *path, err = filepath.Abs(*path); err != nil {
			return now, err
		}
	}
	return now, nil
}

// Remember records where the run found its data and weights, and its engine. It copies the
// features into the folder if this is enabled.
func (d *Folder) Remember(p result.Place) error {
	old, err := result.ReadPlace(d.File(""))
	if err != nil {
		return err
	}
	now, err := merge(old, p, d.config)
	if err != nil {
		return err
	}
	if now.Keep && now.Root != "" {
		if now.Root, err = d.keepFeatures(now.Root); err != nil {
			return err
		}
		now.Keep = false
	}
	if now == old {
		return nil
	}
	return d.WritePlace(now)
}

// Keep copies the labels that existed before the run into the folder, unless it has them.
func (d *Folder) Keep(userLabels []datasets.Label) error {
	if userLabels == nil {
		return nil
	}
	if _, err := os.Stat(d.File(labels.UserLabelsFile)); err == nil {
		return nil
	}
	return d.WriteFile(labels.UserLabelsFile, func(w io.Writer) error { return labels.WriteUserLabels(w, userLabels) })
}

// LeaveOut lists the files that are not used, unless the folder has the list.
func (d *Folder) LeaveOut(files []datasets.Skipped) error {
	if len(files) == 0 {
		return nil
	}
	if _, err := os.Stat(d.File(result.LeftOutFile)); err == nil {
		return nil
	}
	return d.WriteFile(result.LeftOutFile, func(w io.Writer) error {
		c := csv.NewWriter(w)
		c.Write([]string{"path", "reason"}) // Flush has the error
		for _, f := range files {
			c.Write([]string{f.ID, f.Reason})
		}
		c.Flush()
		return c.Error()
	})
}

// Timing sums the durations of the records and of this process. The run began when its
// config.json was written, which no later process does.
func (d *Folder) Timing(records []result.Record) result.Timing {
	t := result.Timing{Prepare: d.Prepare, Compile: d.Compile, PeakMemoryBytes: engine.PeakMemory(),
		Machine: engine.Machine(), Threads: runtime.GOMAXPROCS(0)}
	if info, err := os.Stat(d.File(result.ConfigFile)); err == nil {
		t.Began = info.ModTime().UTC().Truncate(time.Second)
	}
	t.AddRecords(records)
	return t
}
