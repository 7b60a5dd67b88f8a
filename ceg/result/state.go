package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/ledg-go/ledg/datasets/regular"
)

// State is the state of a run in a study's folder.
type State uint8

const (
	// NotStarted: there is no folder.
	NotStarted State = iota
	// Interrupted: the run has started, and no process is working on it.
	Interrupted
	// Running: a process is working on it.
	Running
	// Finishing: a process is working on it and has written its result.
	Finishing
	// Failed: the last attempt failed.
	Failed
	// Complete: the run is finished.
	Complete
)

var stateNames = []string{"not started", "interrupted", "running", "finishing", "failed", "finished"}

// String returns the state in words.
func (s State) String() string { return stateNames[s] }

// RunState returns the state of a run in a study's folder. A run that another process finishes
// meanwhile is never reported as failed or interrupted: done is checked again once the lock is
// found free.
func RunState(folder, run string) (State, error) {
	dir := filepath.Join(folder, run)
	if Finished(os.DirFS(dir)) {
		return Complete, nil
	}
	begun := true
	if _, err := os.Stat(filepath.Join(dir, ConfigFile)); errors.Is(err, fs.ErrNotExist) {
		begun = false
	} else if err != nil {
		return 0, err
	}
	if begun {
		switch locked, err := isLocked(dir); {
		case err != nil:
			return 0, err
		case locked:
			if _, err := os.Stat(filepath.Join(dir, ResultFile)); err == nil {
				return Finishing, nil
			}
			return Running, nil
		case Finished(os.DirFS(dir)):
			return Complete, nil
		}
	}
	if _, ok := FailureTime(folder, run); ok {
		return Failed, nil
	}
	if begun {
		return Interrupted, nil
	}
	return NotStarted, nil
}

// isLocked reports whether a process holds the run's lock. For the moment of the
// test another reader's lock keeps a writer out, which comes back later.
func isLocked(dir string) (bool, error) {
	path := filepath.Join(dir, lockFile)
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	default:
		if err := regular.Check(info, info.Size()); err != nil {
			return false, fmt.Errorf("%s: %w", path, err)
		}
	}
	l := flock.New(path, flock.SetFlag(os.O_RDONLY))
	defer l.Close()
	ok, err := l.TryRLock()
	return !ok, err
}
