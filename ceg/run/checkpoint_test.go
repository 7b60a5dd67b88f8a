package run

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner/trainer"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestResumingOnAnotherEngineIsRecorded(t *testing.T) {
	r := &run{reporter: newReporter(nil, 5)}
	var tr trainer.Trainer
	resume := func(epoch int, s engine.Settings) {
		tr.Backend.Settings = s
		r.addEngine(r.engines, tr.Engine(epoch))
	}
	cuda := engine.Settings{Backend: "xla:cuda", Plugin: "/some/where/p.so", PluginAPI: "0.104", TF32: true}
	exact := cuda
	exact.TF32 = false
	fast := engine.Settings{Backend: "go", Hardware: "amd64 avx512"}
	resume(0, fast)
	resume(2, fast)
	resume(2, engine.Settings{Backend: "go", Hardware: "amd64 avx2"})
	resume(3, cuda)
	resume(4, cuda)
	resume(5, exact)
	want := []result.Engine{
		{Backend: "go", Hardware: "amd64 avx512"},
		{FromEpoch: 2, Backend: "go", Hardware: "amd64 avx2"},
		{FromEpoch: 3, Backend: "xla:cuda", Plugin: "p.so", PluginAPI: "0.104", TF32: true},
		{FromEpoch: 5, Backend: "xla:cuda", Plugin: "p.so", PluginAPI: "0.104"},
	}
	for i := range want {
		want[i].Software = tr.Engine(0).Software
	}
	if !slices.Equal(r.engines, want) {
		t.Errorf("got engines %v, want %v", r.engines, want)
	}
}

// A run's timing has when it began, whichever process finishes it.
func TestTimingHasTheBeginning(t *testing.T) {
	c := fatal.Get(config.Resolve(config.Spec{Target: "photo"}))(t)
	dir := filepath.Join(t.TempDir(), "run")
	began := func() time.Time {
		t.Helper()
		d := fatal.Get(result.Open(dir, c, result.Place{}, true))(t)
		defer d.Close()
		return (&run{folder: d}).timed(nil).Began
	}
	if at := began(); time.Since(at) > time.Minute || time.Since(at) < 0 || at.Location() != time.UTC {
		t.Errorf("a new run began at %v, it is %v", at, time.Now())
	}
	yesterday := time.Now().AddDate(0, 0, -1).UTC().Truncate(time.Second)
	fatal.If(t, os.Chtimes(filepath.Join(dir, result.ConfigFile), yesterday, yesterday))
	if at := began(); !at.Equal(yesterday) {
		t.Errorf("the resumed run began at %v, want %v", at, yesterday)
	}
}
