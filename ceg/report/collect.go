package report

import (
	"os"

	"github.com/ledg-go/ledg/ceg/result"
)

// AddUnplanned adds the folder's finished runs that are in none of its plans.
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

// Collect writes the plans of the folder's studies and the records of their finished runs into
// folder to, without weights, for version control or sharing: one file a study, about 3 kB a
// run. Every run is verified first and replaces a collected run of the same name. o omits parts.
// It returns the number of runs.
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
		if err := p.WritePacked(to); err != nil {
			return 0, err
		}
	}
	return len(runs), result.Collect(to, runs, o)
}
