package rundir

import (
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner/trainer"
	"github.com/ledg-go/ledg/ceg/result"
)

func TestResumingOnAnotherEngineIsRecorded(t *testing.T) {
	d := &Folder{say: func(string, ...any) {}}
	var tr trainer.Trainer
	resume := func(epoch int, s engine.Settings) {
		tr.Backend.Settings = s
		d.addEngine(d.Engines, tr.Engine(epoch))
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
	if !slices.Equal(d.Engines, want) {
		t.Errorf("got engines %v, want %v", d.Engines, want)
	}
}
