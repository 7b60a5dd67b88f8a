package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
)

// planSuffix ends the name of a plan's file.
const planSuffix = ".study.json"

// write puts the plan into the folder, unless it is there already.
func (p *Plan) write(dir string) error {
	path := filepath.Join(dir, p.Name+planSuffix)
	data, err := json.MarshalIndent(p, "", " ")
	if err != nil {
		return err
	}
	data = append(data, '\n')
	if old, err := os.ReadFile(path); err == nil && string(old) == string(data) {
		return nil
	}
	return result.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Folder is a study's folder, open for reading.
type Folder struct {
	// Path is the folder's.
	Path string
	// Plans are the names of the studies in it that were read.
	Plans []string
	// Runs are the runs of these studies, each label once.
	Runs []Run

	outcomes map[string]*Outcome // by directory
}

// Open reads the plans of the studies with the given names in a folder, or of all
// studies if none is given.
func Open(path string, plans ...string) (*Folder, error) {
	if len(plans) == 0 {
		entries, err := os.ReadDir(path)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), planSuffix); ok {
				plans = append(plans, name)
			}
		}
		if len(plans) == 0 {
			return nil, fmt.Errorf("%s is not a study's folder: it has no *%s; ledg study run makes one", path, planSuffix)
		}
	}
	var list []*Plan
	for _, name := range plans {
		p := new(Plan)
		if err := result.ReadConfig(os.DirFS(path), name+planSuffix, p); err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s has no study %q", path, name)
			}
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		list = append(list, p)
	}
	return NewFolder(path, list...), nil
}

// NewFolder is [Open] for plans that need not be in the folder: those of study
// files, to read what there is of their runs and to see what is missing.
func NewFolder(path string, plans ...*Plan) *Folder {
	f := &Folder{Path: path, outcomes: map[string]*Outcome{}}
	seen := map[string]bool{} // key and directory
	for _, p := range plans {
		f.Plans = append(f.Plans, p.Name)
		for _, r := range p.Runs {
			if id := r.key() + "\x00" + r.Dir; !seen[id] {
				seen[id] = true
				f.Runs = append(f.Runs, r)
			}
		}
	}
	return f
}

// OpenRun opens the directory of a single run, of [ceg.Run] or ledg train, as the
// folder of a study of one, for its figures.
func OpenRun(dir string) (*Folder, error) {
	var c ceg.Config
	if err := result.ReadConfig(os.DirFS(dir), result.ConfigFile, &c); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	name := filepath.Base(dir)
	return NewFolder(filepath.Dir(dir), &Plan{Name: name, Runs: []Run{{
		Dataset: c.Data.Dataset, Preset: string(c.Preset), Target: c.Data.Target, Method: c.Method,
		Budget: c.Exploration.Budget, Seed: c.Seed, Dir: name,
	}}}), nil
}

// Outcome is a finished run: what it reported, which has been checked against its
// records, and these.
type Outcome struct {
	Result  result.Result
	Records []result.Record
}

// Outcome reads a finished run; nil if it is not finished. A finished run that
// does not fit together, or that is another than the plan says, is an error.
func (f *Folder) Outcome(r Run) (*Outcome, error) {
	if o, ok := f.outcomes[r.Dir]; ok {
		return o, nil
	}
	o, err := readOutcome(os.DirFS(filepath.Join(f.Path, r.Dir)), r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(f.Path, r.Dir), err)
	}
	f.outcomes[r.Dir] = o
	return o, nil
}

func readOutcome(fsys fs.FS, r Run) (*Outcome, error) {
	if !result.Finished(fsys) {
		return nil, nil
	}
	var o Outcome
	var err error
	if o.Records, _, err = result.ReadRecords(fsys, result.RecordsFile, result.WholeFile); err != nil {
		return nil, err
	}
	if o.Result, err = result.ReadResult(fsys, result.ResultFile); err != nil {
		return nil, err
	}
	if err := o.Result.Verify(o.Records); err != nil {
		return nil, fmt.Errorf("%s: %w", result.ResultFile, err)
	}
	if got := o.Result; got.Dataset != r.Dataset || got.Target != r.Target || got.Seed != r.Seed || got.Preset != r.Preset {
		return nil, fmt.Errorf("%s is of %s, target %s, preset %s, seed %d; the plan says %s", result.ResultFile, got.Dataset, got.Target, got.Preset, got.Seed, r.key())
	}
	return &o, nil
}

// Config reads the settings of a run that has begun.
func (f *Folder) Config(r Run) (ceg.Config, error) {
	var c ceg.Config
	err := result.ReadConfig(os.DirFS(filepath.Join(f.Path, r.Dir)), result.ConfigFile, &c)
	if err != nil {
		return c, fmt.Errorf("%s: %w", filepath.Join(f.Path, r.Dir), err)
	}
	return c, nil
}

// State is how a run stands.
type State uint8

const (
	// NotStarted: nothing is there.
	NotStarted State = iota
	// Partial: the run was interrupted.
	Partial
	// InWork: a process is working on it.
	InWork
	// HasFailed: the last attempt failed.
	HasFailed
	// Complete: the run is finished.
	Complete
)

var stateNames = []string{"not started", "interrupted", "running", "failed", "finished"}

// String returns the state in words.
func (s State) String() string { return stateNames[s] }

// States lists all states, in the order of their numbers.
func States() []State { return []State{NotStarted, Partial, InWork, HasFailed, Complete} }

// State looks at a run.
func (f *Folder) State(r Run) (State, error) {
	dir := filepath.Join(f.Path, r.Dir)
	if result.Finished(os.DirFS(dir)) {
		return Complete, nil
	}
	begun := true
	if _, err := os.Stat(filepath.Join(dir, result.ConfigFile)); errors.Is(err, fs.ErrNotExist) {
		begun = false
	} else if err != nil {
		return 0, err
	}
	if begun {
		switch locked, err := isLocked(dir); {
		case err != nil:
			return 0, err
		case locked:
			return InWork, nil
		}
	}
	if _, ok := markTime(f.Path, r.Dir); ok {
		return HasFailed, nil
	}
	if begun {
		return Partial, nil
	}
	return NotStarted, nil
}

// isLocked reports whether a process holds the run's lock. For the moment of the
// test another reader's lock keeps a writer out, which comes back later.
func isLocked(dir string) (bool, error) {
	path := filepath.Join(dir, lockFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	defer l.Close()
	ok, err := l.TryRLock()
	return !ok, err
}

// lockFile is the name of the lock in a run's directory; see package result.
const lockFile = ".lock"

// Failures lists the runs whose last attempt failed and that are not finished,
// with why.
func (f *Folder) Failures() ([]Failure, error) {
	list, err := failures(f.Path, f.Runs)
	return slices.DeleteFunc(list, func(x Failure) bool {
		s, err := f.State(x.Run)
		return err == nil && s != HasFailed
	}), err
}
