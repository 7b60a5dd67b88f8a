package report

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// Folder is a study's folder, opened for reading.
type Folder struct {
	// Path is the folder's path.
	Path string
	// Plans are the names of the opened studies.
	Plans []string
	// Runs are the runs of these studies, each label once.
	Runs []result.PlannedRun

	plans    []*result.Plan
	all      *result.Runs
	outcomes map[string]*result.Run // by directory
	arms     map[string]config.Arm  // by ArmKey
	swept    map[string]string      // display names of settings, by the variants of sweptRows
	// read are the versions of the runs that were read for a figure, by their labels,
	// which are in order in names.
	read  versions
	names []string
}

// Open reads the named plans in a folder, or all plans if none is named.
func Open(path string, plans ...string) (*Folder, error) {
	list, err := result.ReadPlans(path, plans...)
	if err != nil {
		return nil, err
	}
	return NewFolder(path, list...), nil
}

// NewFolder is [Open] with plans that need not be in the folder, such as plans of study files, to
// see which of their runs exist.
func NewFolder(path string, plans ...*result.Plan) *Folder {
	f := &Folder{Path: path, plans: plans, all: result.OpenRuns(path), outcomes: map[string]*result.Run{}, arms: map[string]config.Arm{}}
	for _, p := range slices.Backward(plans) { // of two, the first
		maps.Copy(f.arms, p.Arms)
	}
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

// OpenRun opens a single run (see result.OpenRun) as the folder of a study with one run, for its
// figures.
func OpenRun(path string) (*Folder, error) {
	run, err := result.OpenRun(path)
	if err != nil {
		return nil, err
	}
	return NewFolder(filepath.Dir(run.Path), &result.Plan{Name: run.Name(), Runs: []result.PlannedRun{plannedAs(run)}}), nil
}

// plannedAs returns the plan's entry of a run, which need not be in any plan.
func plannedAs(run *result.Run) result.PlannedRun {
	c := run.Config
	return result.PlannedRun{
		Dataset: c.Data.Dataset, Preset: string(c.Preset), Target: c.Data.Target, Method: c.Called(),
		Budget: c.Exploration.Budget, Seed: c.Seed, Dir: run.Name(),
	}
}

// Outcome reads a finished run; nil if it is not finished. A finished run that is inconsistent
// or differs from the plan is an error.
func (f *Folder) Outcome(r result.PlannedRun) (*result.Run, error) {
	o, ok := f.outcomes[r.Dir]
	if !ok {
		var err error
		if o, err = f.finished(r); err != nil {
			return nil, err
		}
		f.outcomes[r.Dir] = o
	}
	if o != nil && f.read != nil {
		name := f.ArmName(r)
		f.read[name] = append(f.read[name], o)
		f.names = append(f.names, name)
	}
	return o, nil
}

func (f *Folder) finished(r result.PlannedRun) (*result.Run, error) {
	if s, err := f.all.State(r.Dir); err != nil || s != result.Complete {
		return nil, err
	}
	o, err := f.all.Run(r.Dir)
	if err != nil {
		return nil, err
	}
	if got := o.Result; got.Dataset != r.Dataset || got.Target != r.Target || got.Seed != r.Seed || got.Preset != r.Preset {
		return nil, fmt.Errorf("%s: %s is of %s, target %s, preset %s, seed %d; the plan says %s", o.Path, result.ResultFile, got.Dataset, got.Target, got.Preset, got.Seed, r.Key())
	}
	return o, nil
}

// State returns the state of a run.
func (f *Folder) State(r result.PlannedRun) (result.State, error) { return f.all.State(r.Dir) }

// Failure is a run whose last attempt failed, with the error.
type Failure struct {
	Run result.PlannedRun
	Err error
}

// Failures lists the unfinished runs whose last attempt failed, each folder once.
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

// distinct lists what items have, as it first occurs.
func distinct[T any, K comparable](items []T, of func(T) K) (list []K) {
	for _, item := range items {
		if k := of(item); !slices.Contains(list, k) {
			list = append(list, k)
		}
	}
	return list
}

func only[T any](items []T, keep func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(items), func(item T) bool { return !keep(item) })
}

func words[T any](items []T) string {
	list := make([]string, len(items))
	for i, item := range items {
		list[i] = fmt.Sprint(item)
	}
	return strings.Join(list, ", ")
}

// once is the error of a second run with the label, target and seed of another: studies mean different
// things by it. dirs are the folders of those that were seen.
func (f *Folder) once(dirs map[string]string, r result.PlannedRun) error {
	if dir, ok := dirs[r.Key()]; ok && dir != r.Dir {
		return fmt.Errorf("%s: two studies have the run %s, in %s and %s: select a study with --plan, one of %s", f.Path, r.Key(), dir, r.Dir, strings.Join(f.Plans, ", "))
	}
	dirs[r.Key()] = r.Dir
	return nil
}
