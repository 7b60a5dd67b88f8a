package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
)

// recordedRun is what a run's directory holds.
type recordedRun struct {
	dir     string
	weights string // that the network started from; empty for random ones
	budget  string // as it was given, such as "5%"
	timing  string // when labels were asked for
	records []result.Record
	choices result.Choices // of the records
	result  *result.Result // nil while the run is unfinished
}

// readRun reads a run's directory and checks it: its config must be of this
// version's format, its records whole, and the result and the queries of a
// finished run must follow from the records. Of an unfinished run a half-written
// last record is left out. Errors name the directory.
func readRun(dir string) (*recordedRun, error) {
	run := &recordedRun{dir: dir}
	if err := run.read(); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return run, nil
}

func (run *recordedRun) read() error {
	if info, err := os.Stat(run.dir); err != nil {
		return errors.Unwrap(err) // the path is named by the caller
	} else if !info.IsDir() {
		return errors.New("it is not a run's directory")
	}
	fsys := os.DirFS(run.dir)
	var settings map[string]any
	switch err := result.ReadConfig(fsys, result.ConfigFile, &settings); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("it is not a run's directory: it has no %s", result.ConfigFile)
	case err != nil:
		return err
	}
	network, _ := settings["network"].(map[string]any)
	if w, ok := network["weights"].(map[string]any); ok {
		run.weights = fmt.Sprintf("%v (sha256 %.12v)", w["name"], w["sha256"])
	}
	exploration, _ := settings["exploration"].(map[string]any)
	run.budget, _ = exploration["budget"].(string)
	schedule, _ := settings["schedule"].(map[string]any)
	run.timing, _ = schedule["timing"].(string)
	if exploration["initial_share"] == 1. { // whatever its timing is called
		run.timing = string(ceg.Once)
	}
	finished := result.Finished(fsys)
	tail := result.WholeLines
	if finished {
		tail = result.WholeFile
	}
	var err error
	run.records, _, err = result.ReadRecords(fsys, result.RecordsFile, tail)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !finished, err == nil && len(run.records) == 0:
		return errors.New("no epoch is recorded yet")
	case err != nil:
		return err
	}
	if run.choices, err = result.Choose(run.records); err != nil {
		return fmt.Errorf("%s: %w", result.RecordsFile, err)
	}
	if !finished {
		return nil
	}
	r, err := result.ReadResult(fsys, result.ResultFile)
	if err != nil {
		return err
	}
	if err := r.Verify(run.records); err != nil {
		return fmt.Errorf("%s: %w", result.ResultFile, err)
	}
	run.result = &r
	return run.checkQueries(fsys)
}

// checkQueries compares the number of labels with the lines of queries.csv.
func (run *recordedRun) checkQueries(fsys fs.FS) error {
	queries, err := result.ReadQueries(fsys, result.QueriesFile)
	if err != nil {
		return err
	}
	asked := make(map[string]bool, len(queries))
	for _, q := range queries {
		if asked[q.ID] && run.result.Withdrawn == 0 {
			return fmt.Errorf("%s: %s was asked for twice", result.QueriesFile, q.ID)
		}
		asked[q.ID] = true
	}
	if want := run.result.Labels + run.result.Withdrawn; len(queries) != want {
		return fmt.Errorf("%s: %d labels, want the %d of %s", result.QueriesFile, len(queries), want, result.ResultFile)
	}
	return nil
}
