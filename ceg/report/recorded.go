package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ledg-go/ledg/ceg/result"
)

// RecordedRun is what a run's directory holds, checked.
type RecordedRun struct {
	Dir string
	// Weights are those that the network started from, empty for random ones; Budget is
	// as it was given, such as "5%", and Timing tells when labels were asked for.
	Weights, Budget, Timing string
	Records                 []result.Record
	// Choices are those of the records.
	Choices result.Choices
	// Result is nil while the run is unfinished.
	Result *result.Result

	objective string
}

// allOnce is the timing of a run that has all labels before training.
const allOnce = "once"

// ReadRun reads a run's directory and checks it: its config must be of this
// version's format, its records whole, and the result and the queries of a
// finished run must follow from the records. Of an unfinished run a half-written
// last record is left out. Errors name the directory.
func ReadRun(dir string) (*RecordedRun, error) {
	run := &RecordedRun{Dir: dir}
	if err := run.read(); err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return run, nil
}

func (run *RecordedRun) read() error {
	if info, err := os.Stat(run.Dir); err != nil {
		return errors.Unwrap(err) // the path is named by the caller
	} else if !info.IsDir() {
		return errors.New("it is not a run's directory")
	}
	fsys := os.DirFS(run.Dir)
	var s struct {
		Network     struct{ Weights *weights }
		Exploration struct {
			Budget       string
			InitialShare float64 `json:"initial_share"`
		}
		Schedule       struct{ Timing string }
		Generalization struct{ Objective string }
	}
	switch err := result.ReadSettings(fsys, &s); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("it is not a run's directory: it has no %s", result.ConfigFile)
	case err != nil:
		return err
	}
	if w := s.Network.Weights; w != nil {
		run.Weights = fmt.Sprintf("%s (sha256 %.12s)", w.Name, w.Digest)
	}
	run.Budget, run.Timing, run.objective = s.Exploration.Budget, s.Schedule.Timing, s.Generalization.Objective
	if s.Exploration.InitialShare == 1 { // whatever its timing is called
		run.Timing = allOnce
	}
	finished := result.Finished(fsys)
	tail := result.WholeLines
	if finished {
		tail = result.WholeFile
	}
	var err error
	run.Records, _, err = result.ReadRecords(fsys, result.RecordsFile, tail)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !finished, err == nil && len(run.Records) == 0:
		return errors.New("no epoch is recorded yet")
	case err != nil:
		return err
	}
	if run.Choices, err = result.Choose(run.Records); err != nil {
		return fmt.Errorf("%s: %w", result.RecordsFile, err)
	}
	if !finished {
		return nil
	}
	r, err := result.ReadResult(fsys, result.ResultFile)
	if err != nil {
		return err
	}
	if err := r.Verify(run.Records); err != nil {
		return fmt.Errorf("%s: %w", result.ResultFile, err)
	}
	run.Result = &r
	return run.checkQueries(fsys)
}

// checkQueries compares the number of labels with the lines of queries.csv.
func (run *RecordedRun) checkQueries(fsys fs.FS) error {
	queries, err := result.ReadQueries(fsys, result.QueriesFile)
	if err != nil {
		return err
	}
	asked := make(map[string]bool, len(queries))
	for _, q := range queries {
		if asked[q.ID] && run.Result.Withdrawn == 0 {
			return fmt.Errorf("%s: %s was asked for twice", result.QueriesFile, q.ID)
		}
		asked[q.ID] = true
	}
	if want := run.Result.Labels + run.Result.Withdrawn; len(queries) != want {
		return fmt.Errorf("%s: %d labels, want the %d of %s", result.QueriesFile, len(queries), want, result.ResultFile)
	}
	return nil
}
