package report

import (
	"os"

	"github.com/ledg-go/ledg/ceg/result"
)

// AddUnplanned adds the finished runs of the folder that none of its plans names.
func (f *Folder) AddUnplanned() error {
	planned := map[string]bool{}
	for _, r := range f.Runs {
		planned[r.Dir] = true
	}
	names, err := f.all.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if planned[name] {
			continue
		}
		if s, err := f.all.State(name); err != nil {
			return err
		} else if s != result.Complete {
			continue
		}
		run, err := f.all.Run(name)
		if err != nil {
			return err
		}
		r := plannedAs(run)
		f.Runs = append(f.Runs, r)
		f.outcomes[name] = run
	}
	return nil
}

// Collect puts the plans of the folder's studies and the records of their finished runs
// into another folder, with what figures have kept and without weights: the runs of a
// study in one file, some 3 kB each, to keep under version control or to send. Every run
// is checked first, and takes the place of what was collected there under its name. What o
// names is left out. Collect returns the number of runs.
func (f *Folder) Collect(to string, o result.Omit) (int, error) {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return 0, err
	}
	var runs []*result.Run
	seen := map[string]bool{}
	for _, r := range f.Runs {
		if o, err := f.Outcome(r); err != nil {
			return 0, err
		} else if o != nil && !seen[r.Dir] {
			seen[r.Dir] = true
			runs = append(runs, o)
		}
	}
	for _, p := range f.plans {
		if err := p.Write(to); err != nil {
			return 0, err
		}
	}
	return len(runs), result.Collect(to, runs, o)
}
