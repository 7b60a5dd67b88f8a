package rundir

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// A run's timing has when it began, whichever process finishes it.
func TestTimingHasTheBeginning(t *testing.T) {
	c, err := config.Resolve(config.Spec{Target: "photo"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "run")
	began := func() time.Time {
		t.Helper()
		d, err := Open(dir, c, result.Place{}, true, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		return d.Timing(nil).Began
	}
	if at := began(); time.Since(at) > time.Minute || time.Since(at) < 0 || at.Location() != time.UTC {
		t.Errorf("a new run began at %v, it is %v", at, time.Now())
	}
	yesterday := time.Now().AddDate(0, 0, -1).UTC().Truncate(time.Second)
	if err := os.Chtimes(filepath.Join(dir, result.ConfigFile), yesterday, yesterday); err != nil {
		t.Fatal(err)
	}
	if at := began(); !at.Equal(yesterday) {
		t.Errorf("the resumed run began at %v, want %v", at, yesterday)
	}
}
