package report

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/ceg/study/studytest"
)

func TestStatusTable(t *testing.T) {
	f := handFolder(t)
	table, err := f.StatusTable()
	if err != nil {
		t.Fatal(err)
	}
	table.Title = strings.TrimPrefix(table.Title, f.Path)
	var b bytes.Buffer
	if err := table.Write(&b, result.Text); err != nil {
		t.Fatal(err)
	}
	golden(t, "status.txt", b.Bytes())
}

// Tables from collected records are those of the study, and no large file comes
// along.
func TestCollect(t *testing.T) {
	f := handFolder(t)
	for _, r := range f.Runs {
		if dir := filepath.Join(f.Path, r.Dir); isThere(dir) {
			if err := os.WriteFile(filepath.Join(dir, ceg.CheckpointFile), []byte("weights"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	to := filepath.Join(t.TempDir(), "records")
	for range 2 { // again over what is there
		n, err := f.Collect(to)
		if err != nil {
			t.Fatal(err)
		}
		if done, _ := filepath.Glob(filepath.Join(to, "*", result.DoneFile)); n == 0 || len(done) != n {
			t.Errorf("%d runs are there, Collect says %d", len(done), n)
		}
	}
	if large, _ := filepath.Glob(filepath.Join(to, "*", ceg.CheckpointFile)); len(large) > 0 {
		t.Errorf("%s was collected", large[0])
	}
	g, err := Open(to)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"table1", "table3"} {
		if want, got := tableText(t, f, name), tableText(t, g, name); got != want {
			t.Errorf("%s from collected records:\n%s\nwant\n%s", name, got, want)
		}
	}
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func tableText(t *testing.T, f *Folder, name string) string {
	t.Helper()
	tables, err := f.Table(name, TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for _, table := range tables {
		if err := table.Write(&b, result.Text); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// A plan that is not in the folder finds the runs there by their settings, and a
// run's directory is a folder by itself, whatever its budget.
func TestFolderWithoutPlan(t *testing.T) {
	dir := t.TempDir()
	seeds := func(list string) *study.Plan {
		return plan(t, parse(t, "name: s\ndataset: glyphs\ntargets: [photo]\nbudgets: [10%]\nmethods: [ceg]\nseeds: "+list))
	}
	if _, err := seeds("[1]").Run(context.Background(), study.Options{Dir: dir, Runner: studytest.Fake{}.Run}); err != nil {
		t.Fatal(err)
	}
	f := NewFolder(dir, seeds("[1]").File(), seeds("[1, 2]").File())
	if len(f.Runs) != 2 {
		t.Fatalf("%d runs, want 2", len(f.Runs))
	}
	for i, want := range []result.State{result.Complete, result.NotStarted} {
		if s, err := f.State(f.Runs[i]); err != nil || s != want {
			t.Errorf("run %d: %v, %v, want %v", i, s, err, want)
		}
	}

	f, err := OpenRun(filepath.Join(dir, f.Runs[0].Dir))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := f.Runs[0].Key(), seeds("[1]").Runs[0].Key(); got != want {
		t.Errorf("the run is %s, want %s", got, want)
	}
	if d, err := f.Epochs(FigureOptions{}); err != nil || len(d.Curves) != 1 {
		t.Errorf("%d curves, %v", len(d.Curves), err)
	}
	if _, err := OpenRun(t.TempDir()); err == nil || !strings.Contains(err.Error(), result.ConfigFile) {
		t.Errorf("an empty directory: %v", err)
	}
}
