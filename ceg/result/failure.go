package result

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ledg-go/ledg/datasets/regular"
)

// failureSuffix is the suffix of the file with a run's error. It lies beside the run's folder,
// which may not exist.
const failureSuffix = ".error.txt"

// FailureTime returns when a run in a study's folder failed; ok is false if its last attempt did
// not fail.
func FailureTime(folder, run string) (t time.Time, ok bool) {
	info, err := os.Stat(filepath.Join(folder, run+failureSuffix))
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

// ReadFailure returns the error of a run's last attempt; fs.ErrNotExist if it did not fail.
func ReadFailure(folder, run string) (string, error) {
	data, err := regular.Read(filepath.Join(folder, run+failureSuffix), maxFile)
	return strings.TrimSpace(string(data)), err
}

// WriteFailure records the error of an attempt at a run.
func WriteFailure(folder, run string, cause error) error {
	return regular.Write(filepath.Join(folder, run+failureSuffix), fmt.Appendf(nil, "%+v\n", cause))
}

// RemoveFailure removes a recorded failure, if any.
func RemoveFailure(folder, run string) error {
	err := os.Remove(filepath.Join(folder, run+failureSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
