package study

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// committed is the folder of the records that come with the repository.
var committed = filepath.Join("..", "..", "notebooks", "results")

// Every run whose records come with the repository is read and fits together, of each folder
// every tenth without --all, has
// settings that make sense, and is found under the name that its settings give it.
func TestCommittedRecords(t *testing.T) {
	n := 0
	err := filepath.WalkDir(committed, func(folder string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || d.Name() == "figures" {
			return err
		}
		runs := result.OpenRuns(folder)
		names, err := runs.Names()
		if err != nil {
			return err
		}
		for i, name := range names {
			n++
			if !testall.On() && i%10 != 0 { // scripts/test.sh --all reads every run, half a minute
				continue
			}
			run, err := runs.Run(name)
			if err != nil {
				t.Error(err)
				continue
			}
			if err := checkCommitted(run); err != nil {
				t.Errorf("%s: %v", run.Path, err)
			}
		}
		return nil
	})
	if err != nil || n < 2300 {
		t.Errorf("%d runs, %v", n, err)
	}
}

func checkCommitted(run *result.Run) error {
	c := run.Config
	if err := c.Validate(); err != nil {
		return err
	}
	if w := c.Network.Weights; w != nil { // of weights their name counts
		name := w.Name
		if w.Revision != "" { // what "imagenet" stands for
			name = config.ImageNet
		}
		c.Network.Weights = &config.Weights{Name: name}
	}
	name, err := DirName(c)
	if err != nil {
		return err
	}
	// Runs of ledg train have a place of the reader's choice.
	if strings.Contains(run.Name(), "pct-s") && run.Name() != name {
		return fmt.Errorf("it is called %s by its settings", name)
	}
	if run.Result == nil || len(run.Records) != c.Schedule.Epochs {
		return fmt.Errorf("%d records of %d epochs, result %v", len(run.Records), c.Schedule.Epochs, run.Result)
	}
	if _, err := run.Queries(); !errors.Is(err, fs.ErrNotExist) { // many were collected without
		return err
	}
	return nil
}

// The runs of the glyphs' studies whose settings are as they were are found among
// the committed records.
func TestCommittedRunsAreFound(t *testing.T) {
	found := 0
	glyphs := result.OpenRuns(filepath.Join(committed, "glyphs"))
	for name, p := range studyFiles(t) {
		if !strings.HasSuffix(name, "-glyphs") {
			continue
		}
		for _, r := range p.Runs {
			if s, err := glyphs.State(r.Dir); err != nil {
				t.Fatal(err)
			} else if s == result.Complete {
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("%d runs of the studies are found", found)
	}
}
