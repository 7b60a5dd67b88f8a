package study

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
)

// Every run whose records come with the repository, of whatever format, is read and
// fits together, has settings that make sense, and is found under the name that
// its settings give it.
func TestCommittedRecords(t *testing.T) {
	n, old := 0, 0
	err := filepath.WalkDir(filepath.Join("..", "..", "notebooks", "results"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != result.ConfigFile {
			return err
		}
		n++
		dir := filepath.Dir(path)
		var c ceg.Config
		if err := result.ReadConfig(os.DirFS(dir), result.ConfigFile, &c); err != nil {
			t.Errorf("%s: %v", dir, err)
			return nil
		}
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if w := c.Network.Weights; w != nil { // of weights their name counts
			c.Network.Weights = &config.Weights{Name: w.Name}
		}
		name, err := dirName(c)
		if err != nil {
			t.Error(err)
		}
		// Runs of ledg train have a place of the reader's choice.
		if base := filepath.Base(dir); strings.Contains(base, "pct-s") && base != name {
			t.Errorf("%s is called %s by its settings", dir, name)
		}
		f, err := report.OpenRun(dir)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			return nil
		}
		if out, err := f.Outcome(f.Runs[0]); err != nil || out == nil || len(out.Records) != c.Schedule.Epochs {
			t.Errorf("%s: %v, %v", dir, out, err)
		}
		if _, err := result.ReadQueries(os.DirFS(dir), result.QueriesFile); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
		if data, _ := os.ReadFile(path); strings.Contains(string(data), `"format": 1`) {
			old++
		}
		return nil
	})
	if err != nil || n < 100 || old == 0 {
		t.Errorf("%d runs, %d of format 1, %v", n, old, err)
	}
}

// The runs of the glyphs' studies whose settings are as they were are found among
// the committed records.
func TestCommittedRunsAreFound(t *testing.T) {
	found := 0
	for name, p := range studyFiles(t) {
		if !strings.HasSuffix(name, "-glyphs") {
			continue
		}
		for _, r := range p.Runs {
			if result.Finished(os.DirFS(filepath.Join("..", "..", "notebooks", "results", "glyphs", r.Dir))) {
				found++
			}
		}
	}
	if found < 100 {
		t.Errorf("%d runs of the studies are found", found)
	}
}
