package engine_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
)

// Jobs on Go, and those that name a device, share what they name.
func TestSpreadOfOne(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "")
	for _, spec := range []string{"go", "xla:cuda,device=1"} {
		got, err := engine.Spread(spec, 3)
		if want := []string{spec, spec, spec}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %v, %v", spec, got, err)
		}
	}
	if _, err := engine.Spread("metal", 2); err == nil || !strings.Contains(err.Error(), `"metal"`) {
		t.Errorf("got error %v", err)
	}
}

// XLA's plugin for the CPU shows several devices: jobs take one after the other.
func TestSpreadOnXLA(t *testing.T) {
	spec := enginetest.XLA(t)
	b, err := engine.Open(spec)
	if err != nil {
		t.Fatal(err)
	}
	n := b.Compute.NumDevices()
	b.Close()
	if n < 2 {
		t.Fatalf("the plugin shows %d devices", n)
	}
	specs, err := engine.Spread(spec, n+1)
	if err != nil {
		t.Fatal(err)
	}
	if want := spec + ",device=1"; specs[0] != spec+",device=0" || specs[1] != want || specs[n] != specs[0] {
		t.Fatalf("got %v, want %s second and the first again at the end", specs, want)
	}
	b, err = engine.Open(specs[n-1])
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if b.Compute.NumDevices() != 1 || b.Settings.Device == "" {
		t.Errorf("got %d devices, settings %+v", b.Compute.NumDevices(), b.Settings)
	}
}
