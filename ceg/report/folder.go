package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/result"
)

// Run is a run of a plan: its labels, and its directory's name.
type Run = result.PlannedRun

// Folder is a study's folder, open for reading.
type Folder struct {
	// Path is the folder's.
	Path string
	// Plans are the names of the studies in it that were read.
	Plans []string
	// Runs are the runs of these studies, each label once.
	Runs []Run

	outcomes map[string]*Outcome // by directory
	// read are the versions of the runs that were read for a figure, by their labels,
	// which are in order in names.
	read  versions
	names []string
}

// Open reads the plans of the studies with the given names in a folder, or of all
// studies if none is given.
func Open(path string, plans ...string) (*Folder, error) {
	list, err := result.ReadPlans(path, plans...)
	if err != nil {
		return nil, err
	}
	return NewFolder(path, list...), nil
}

// NewFolder is [Open] for plans that need not be in the folder: those of study
// files, to read what there is of their runs and to see what is missing.
func NewFolder(path string, plans ...*result.Plan) *Folder {
	f := &Folder{Path: path, outcomes: map[string]*Outcome{}}
	seen := map[string]bool{} // key and directory
	for _, p := range plans {
		f.Plans = append(f.Plans, p.Name)
		for _, r := range p.Runs {
			if id := r.Key() + "\x00" + r.Dir; !seen[id] {
				seen[id] = true
				f.Runs = append(f.Runs, r)
			}
		}
	}
	return f
}

// OpenRun opens the directory of a single run, as ledg train makes it, as the
// folder of a study of one, for its figures.
func OpenRun(dir string) (*Folder, error) {
	var s settings
	if err := result.ReadSettings(os.DirFS(dir), &s); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	name := filepath.Base(dir)
	return NewFolder(filepath.Dir(dir), &result.Plan{Name: name, Runs: []Run{{
		Dataset: s.Data.Dataset, Preset: s.Preset, Target: s.Data.Target, Method: s.Method,
		Budget: s.Exploration.Budget, Seed: s.Seed, Dir: name,
	}}}), nil
}

// settings are those of a run's settings that a reader of its results meets.
type settings struct {
	Preset string `json:"preset"`
	Method string `json:"method"`
	Seed   uint64 `json:"seed"`
	Data   struct {
		Dataset   string   `json:"dataset"`
		Target    string   `json:"target"`
		ImageSize int      `json:"image_size"`
		SplitSeed uint64   `json:"split_seed"`
		Classes   []string `json:"classes"`
	} `json:"data"`
	Network struct {
		Name    string   `json:"name"`
		Width   int      `json:"width"`
		Weights *weights `json:"weights"`
	} `json:"network"`
	Exploration struct {
		Budget string `json:"budget"`
	} `json:"exploration"`
	Generalization struct {
		DomainLoss bool `json:"domain_loss"`
	} `json:"generalization"`
}

// weights are those that a network started from.
type weights struct {
	Name   string `json:"name"`
	Digest string `json:"sha256"`
	Data   string `json:"data"`
}

// String names the weights, what they were trained on and the file.
func (w weights) String() string {
	return fmt.Sprintf("%s (%s, sha256 %.12s)", w.Name, w.Data, w.Digest)
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
	o, ok := f.outcomes[r.Dir]
	if !ok {
		var err error
		if o, err = readOutcome(os.DirFS(filepath.Join(f.Path, r.Dir)), r); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(f.Path, r.Dir), err)
		}
		f.outcomes[r.Dir] = o
	}
	if o != nil && f.read != nil {
		f.read.add(r.Label(), o)
		f.names = append(f.names, r.Label())
	}
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
		return nil, fmt.Errorf("%s is of %s, target %s, preset %s, seed %d; the plan says %s", result.ResultFile, got.Dataset, got.Target, got.Preset, got.Seed, r.Key())
	}
	return &o, nil
}

// settings reads the settings of a run that has begun.
func (f *Folder) settings(r Run) (s settings, err error) {
	if err := result.ReadSettings(os.DirFS(filepath.Join(f.Path, r.Dir)), &s); err != nil {
		return s, fmt.Errorf("%s: %w", filepath.Join(f.Path, r.Dir), err)
	}
	return s, nil
}

// State looks at how a run stands.
func (f *Folder) State(r Run) (result.State, error) { return result.RunState(f.Path, r.Dir) }

// Failure is a run whose last attempt failed, and why.
type Failure struct {
	Run Run
	Err error
}

// Failures lists the runs whose last attempt failed and that are not finished,
// with why, each directory once.
func (f *Folder) Failures() ([]Failure, error) {
	var list []Failure
	seen := map[string]bool{}
	for _, r := range f.Runs {
		if seen[r.Dir] {
			continue
		}
		seen[r.Dir] = true
		switch s, err := f.State(r); {
		case err != nil:
			return nil, err
		case s != result.Failed:
			continue
		}
		text, err := result.ReadFailure(f.Path, r.Dir)
		if err != nil {
			return nil, err
		}
		list = append(list, Failure{r, errors.New(text)})
	}
	return list, nil
}
