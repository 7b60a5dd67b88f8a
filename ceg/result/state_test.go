package result

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// A run's states, from nothing to done, are distinguished.
func TestRunState(t *testing.T) {
	folder := t.TempDir()
	dir := filepath.Join(folder, "run")
	want := func(want State) {
		t.Helper()
		if s, err := RunState(folder, "run"); err != nil || s != want {
			t.Errorf("the run is %v, %v; want %v", s, err, want)
		}
	}
	want(NotStarted)
	fatal.If(t, WriteFailure(folder, "run", errors.New("no images")))
	want(Failed)
	d := fatal.Get(Open(dir, newSettings(1), Place{}, false))(t)
	want(Running)
	r := sampleResult(t)
	data := fatal.Get(r.JSON())(t)
	fatal.If(t, os.WriteFile(filepath.Join(dir, ResultFile), data, 0o666))
	want(Finishing)
	fatal.If(t, RemoveFailure(folder, "run"))
	fatal.If(t, d.Close())
	want(Interrupted) // killed between the result and done
	d = fatal.Get(Open(dir, newSettings(1), Place{}, true))(t)
	fatal.If(t, d.Finish(r))
	want(Complete)
	d.Close()
	fatal.If(t, WriteFailure(folder, "run", errors.New("an old failure")))
	want(Complete)
}
