package report

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/ledg-go/ledg/ceg/result"
)

// RecordedRun is a verified run with at least one recorded epoch, with the results by model
// selection rule.
type RecordedRun struct {
	*result.Run
	Choices result.Choices
}

// ReadRun reads and verifies a run: see [result.OpenRun]. It must have a recorded epoch, and a
// finished run's queries must match its records. Errors name the run.
func ReadRun(path string) (*RecordedRun, error) {
	r, err := result.OpenRun(path)
	if err != nil {
		return nil, err
	}
	return recorded(r)
}

// readRuns is ReadRun of several, each a run or a folder of them.
func readRuns(paths []string) ([]*RecordedRun, error) {
	list, err := result.OpenAll(paths...)
	if err != nil {
		return nil, err
	}
	runs := make([]*RecordedRun, len(list))
	for i, r := range list {
		if runs[i], err = recorded(r); err != nil {
			return nil, err
		}
	}
	return runs, nil
}

func recorded(r *result.Run) (*RecordedRun, error) {
	run := &RecordedRun{Run: r}
	if err := run.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Path, err)
	}
	return run, nil
}

func (run *RecordedRun) check() (err error) {
	if len(run.Records) == 0 {
		return errors.New("no epoch is recorded yet")
	}
	if run.Choices, err = result.Choose(run.Records); err != nil {
		return fmt.Errorf("%s: %w", result.RecordsFile, err)
	}
	if run.Result == nil {
		return nil
	}
	queries, err := run.Queries()
	if info, statErr := os.Stat(run.Path); errors.Is(err, fs.ErrNotExist) && (statErr != nil || !info.IsDir()) { // collected without
		return nil
	}
	if err != nil {
		return errors.Unwrap(err) // the path is named by the caller
	}
	queried := make(map[string]bool, len(queries))
	for _, q := range queries {
		if queried[q.ID] && run.Result.Withdrawn == 0 {
			return fmt.Errorf("%s: %s was queried twice", result.QueriesFile, q.ID)
		}
		queried[q.ID] = true
	}
	if want := run.Result.Labels + run.Result.Withdrawn; len(queries) != want {
		return fmt.Errorf("%s: %d labels, want the %d of %s", result.QueriesFile, len(queries), want, result.ResultFile)
	}
	return nil
}

// weights names those that the network started from; empty for random ones.
func (run *RecordedRun) weights() string {
	w := run.Config.Network.Weights
	if w == nil {
		return ""
	}
	return fmt.Sprintf("%s (sha256 %.12s)", w.Name, w.Digest)
}

func (run *RecordedRun) method() string  { return run.Config.Method }
func (run *RecordedRun) dataset() string { return run.Config.Data.Dataset }
func (run *RecordedRun) budget() string  { return run.Config.Exploration.Budget }
