package report

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/learner/checkpoint"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/ceg/study/studytest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestStatusTable(t *testing.T) {
	f := handFolder(t)
	table := fatal.Get(f.StatusTable())(t)
	table.Title = strings.TrimPrefix(table.Title, f.Path)
	var b bytes.Buffer
	fatal.If(t, table.Write(&b, result.Text))
	golden(t, "status.txt", b.Bytes())
}

// Tables from collected records equal the study's, no large file is collected, and an unfinished
// run can continue beside them.
func TestCollect(t *testing.T) {
	f := handFolder(t)
	for _, r := range f.Runs {
		if dir := filepath.Join(f.Path, r.Dir); isThere(dir) {
			fatal.If(t, os.WriteFile(filepath.Join(dir, checkpoint.File), []byte("weights"), 0o666))
		}
	}
	to := filepath.Join(t.TempDir(), "records")
	for range 2 { // again over what is there
		n := fatal.Get(f.Collect(to, result.Omit{}))(t)
		if names, err := result.OpenRuns(to).Names(); err != nil || n == 0 || len(names) != n {
			t.Errorf("%d runs are there, %v, Collect says %d", len(names), err, n)
		}
	}
	if files, err := os.ReadDir(to); err != nil || len(files) != 2 {
		t.Errorf("collected are %v, %v; want a plan and its runs", files, err)
	}
	g := fatal.Get(Open(to))(t)
	for _, name := range []string{"table1", "table3"} {
		if want, got := tableText(t, f, name), tableText(t, g, name); got != want {
			t.Errorf("%s from collected records:\n%s\nwant\n%s", name, got, want)
		}
	}
	for _, r := range f.Runs {
		want := fatal.Get(f.State(r))(t)
		if want == result.Failed {
			want = result.NotStarted // what failed stays behind
		}
		if got, err := g.State(r); err != nil || got != want {
			t.Errorf("%s is %v, %v, want %v", r.Dir, got, err, want)
		}
	}
	// Without queries, losses and times the tables stay, and what needs queries says so.
	bare := t.TempDir()
	fatal.Get(f.Collect(bare, result.Omit{Queries: true, Training: true}))(t)
	g = fatal.Get(Open(bare))(t)
	if want, got := tableText(t, f, "table3"), tableText(t, g, "table3"); got != want {
		t.Errorf("table3 without queries:\n%s\nwant\n%s", got, want)
	}
	if _, err := g.Queried(FigureOptions{Methods: []string{"ceg"}}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a run without queries: %v", err)
	}
}

// Runs of no plan are collected, too, into a file of their own, until a plan names them.
func TestCollectUnplanned(t *testing.T) {
	dir, to := t.TempDir(), t.TempDir()
	p := plan(t, parse(t, "name: s\ndataset: glyphs\ntargets: [photo]\nbudgets: [10%]\nmethods: [ceg]\nseeds: [1, 2]"))
	fatal.Get(p.Run(context.Background(), study.Options{Dir: dir, Runner: studytest.Fake{}.Run}))(t)
	f := NewFolder(dir)
	if err := f.AddUnplanned(); err != nil || len(f.Runs) != 2 {
		t.Fatalf("%d runs, %v", len(f.Runs), err)
	}
	for i, collect := range []func() (int, error){
		func() (int, error) { return f.Collect(to, result.Omit{}) },
		func() (int, error) { return NewFolder(dir, p.File()).Collect(to, result.Omit{}) },
	} {
		if n, err := collect(); err != nil || n != 2 {
			t.Fatalf("%d runs, %v", n, err)
		}
		want := []string{result.CollectedFile("")}
		if i > 0 {
			want = []string{result.CollectedFile("s"), result.PackedPlanFile("s")}
		}
		found, err := filepath.Glob(filepath.Join(to, "*"))
		for k := range found {
			found[k] = filepath.Base(found[k])
		}
		if err != nil || !slices.Equal(found, want) {
			t.Errorf("there are %v, %v, want %v", found, err, want)
		}
	}
	single := fatal.Get(OpenRun(filepath.Join(to, f.Runs[1].Dir)))(t)
	if got, want := single.Runs[0].Key(), p.Runs[1].Key(); got != want {
		t.Errorf("the run is %s, want %s", got, want)
	}
	// A study finds its runs there, and does the others beside them.
	more := plan(t, parse(t, "name: s\ndataset: glyphs\ntargets: [photo]\nbudgets: [10%]\nmethods: [ceg]\nseeds: [1, 2, 3]"))
	report, err := more.Run(context.Background(), study.Options{Dir: to, Runner: studytest.Fake{}.Run})
	if err != nil || len(report.Finished) != 3 || report.Repeated != 2 {
		t.Errorf("%d finished, %d of them before, %v", len(report.Finished), report.Repeated, err)
	}
	if _, err := os.Stat(filepath.Join(to, f.Runs[0].Dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a collected run was begun again: %v", err)
	}
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func tableText(t *testing.T, f *Folder, name string) string {
	t.Helper()
	tables := fatal.Get(f.Table(name, TableOptions{}))(t)
	var b bytes.Buffer
	for _, table := range tables {
		fatal.If(t, table.Write(&b, result.Text))
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
	fatal.Get(seeds("[1]").Run(context.Background(), study.Options{Dir: dir, Runner: studytest.Fake{}.Run}))(t)
	f := NewFolder(dir, seeds("[1]").File(), seeds("[1, 2]").File())
	if len(f.Runs) != 2 {
		t.Fatalf("%d runs, want 2", len(f.Runs))
	}
	for i, want := range []result.State{result.Complete, result.NotStarted} {
		if s, err := f.State(f.Runs[i]); err != nil || s != want {
			t.Errorf("run %d: %v, %v, want %v", i, s, err, want)
		}
	}

	f = fatal.Get(OpenRun(filepath.Join(dir, f.Runs[0].Dir)))(t)
	if got, want := f.Runs[0].Key(), seeds("[1]").Runs[0].Key(); got != want {
		t.Errorf("the run is %s, want %s", got, want)
	}
	if d, err := f.Epochs(FigureOptions{}); err != nil || len(d.Curves) != 1 {
		t.Errorf("%d curves, %v", len(d.Curves), err)
	}
	fatal.Says(t, fatal.Err(OpenRun(t.TempDir())), result.ConfigFile)
}
