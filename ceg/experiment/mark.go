package experiment

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/ledg-go/ledg/ceg/result"
)

// markSuffix ends the name of the file that says why a run failed. It lies beside
// the run's directory, which may not exist.
const markSuffix = ".error.txt"

func markTime(dir, run string) (time.Time, bool) {
	info, err := os.Stat(filepath.Join(dir, run+markSuffix))
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

func readMark(dir, run string) (string, error) {
	data, err := os.ReadFile(filepath.Join(dir, run+markSuffix))
	return strings.TrimSpace(string(data)), err
}

func writeMark(dir, run string, cause error) error {
	return result.WriteFile(filepath.Join(dir, run+markSuffix), func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%+v\n", cause)
		return err
	})
}

func removeMark(dir, run string) error {
	err := os.Remove(filepath.Join(dir, run+markSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// failures returns the runs among runs whose last attempt failed, with why.
func failures(dir string, runs []Run) ([]Failure, error) {
	var list []Failure
	for _, r := range runs {
		if slices.ContainsFunc(list, func(f Failure) bool { return f.Run.Dir == r.Dir }) {
			continue
		}
		text, err := readMark(dir, r.Dir)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			list = append(list, Failure{r, errors.New(text)})
		}
	}
	return list, nil
}
