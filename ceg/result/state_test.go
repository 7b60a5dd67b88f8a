package result

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
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
	if err := WriteFailure(folder, "run", errors.New("no images")); err != nil {
		t.Fatal(err)
	}
	want(Failed)
	d, err := Open(dir, newSettings(1), Place{}, false)
	if err != nil {
		t.Fatal(err)
	}
	want(Running)
	r := sampleResult(t)
	data, err := r.JSON()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ResultFile), data, 0o666); err != nil {
		t.Fatal(err)
	}
	want(Finishing)
	if err := RemoveFailure(folder, "run"); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	want(Interrupted) // killed between the result and done
	if d, err = Open(dir, newSettings(1), Place{}, true); err != nil {
		t.Fatal(err)
	}
	if err := d.Finish(r); err != nil {
		t.Fatal(err)
	}
	want(Complete)
	d.Close()
	if err := WriteFailure(folder, "run", errors.New("an old failure")); err != nil {
		t.Fatal(err)
	}
	want(Complete)
}
