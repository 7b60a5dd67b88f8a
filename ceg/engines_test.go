package ceg

import (
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/result"
)

func TestResumingOnAnotherEngineIsRecorded(t *testing.T) {
	d := &record{voice: newVoice(nil, 1)}
	var tr trainer
	resume := func(epoch int, s engine.Settings) {
		tr.backend.Settings = s
		d.addEngine(d.engines, tr.engine(epoch))
	}
	cuda := engine.Settings{Backend: "xla:cuda", Plugin: "/some/where/p.so", PluginAPI: "0.104", TF32: true}
	exact := cuda
	exact.TF32 = false
	resume(0, engine.Settings{Backend: "go"})
	resume(2, engine.Settings{Backend: "go"})
	resume(3, cuda)
	resume(4, cuda)
	resume(5, exact)
	want := []result.Engine{
		{Backend: "go"},
		{FromEpoch: 3, Backend: "xla:cuda", Plugin: "p.so", PluginAPI: "0.104", TF32: true},
		{FromEpoch: 5, Backend: "xla:cuda", Plugin: "p.so", PluginAPI: "0.104"},
	}
	if !slices.Equal(d.engines, want) {
		t.Errorf("got engines %+v, want %+v", d.engines, want)
	}
}
