package report

import (
	"os"
	"path/filepath"

	"github.com/ledg-go/ledg/ceg/result"
)

// collected are the files of a finished run that tables and figures read; done
// comes last, since it says that the others are whole.
var collected = []string{result.ConfigFile, result.RecordsFile, result.QueriesFile, result.ResultFile, result.DoneFile}

// Collect copies the plans of the folder's studies and the records of their
// finished runs into another folder, without weights and other large files: some
// 20 kB a run, and 50 bytes an image where figures have kept maps or scores, to
// keep under version control or to send. Every run is checked before it is copied,
// and takes the place of what is there under its name. Collect returns the number
// of runs.
func (f *Folder) Collect(to string) (int, error) {
	if err := os.MkdirAll(to, 0o777); err != nil {
		return 0, err
	}
	seen := map[string]bool{}
	for _, r := range f.Runs {
		if seen[r.Dir] {
			continue
		}
		if o, err := f.Outcome(r); err != nil {
			return len(seen), err
		} else if o == nil {
			continue
		}
		seen[r.Dir] = true
		if err := os.MkdirAll(filepath.Join(to, r.Dir), 0o777); err != nil {
			return len(seen), err
		}
		files := collected
		for _, name := range []string{result.MapFile, result.ScoresFile} {
			if _, err := os.Stat(filepath.Join(f.Path, r.Dir, name)); err == nil {
				files = append([]string{name}, files...)
			}
		}
		for _, name := range files {
			if err := f.copy(to, filepath.Join(r.Dir, name)); err != nil {
				return len(seen), err
			}
		}
	}
	for _, name := range f.Plans {
		if err := f.copy(to, result.PlanFile(name)); err != nil {
			return len(seen), err
		}
	}
	return len(seen), nil
}

// copy copies a file of the folder to its place in another.
func (f *Folder) copy(to, name string) error {
	return result.CopyFile(filepath.Join(f.Path, name), filepath.Join(to, name))
}
