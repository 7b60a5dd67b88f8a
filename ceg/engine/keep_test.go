package engine

import (
	"errors"
	"testing"

	"github.com/gomlx/compute"
)

// Backends of one key are one, a failure is not kept, and Close leaves a kept one open.
func TestKeep(t *testing.T) {
	failing := errors.New("no memory")
	if _, err := keep(t.Name(), func() (compute.Backend, error) { return nil, failing }); err != failing {
		t.Fatalf("got %v, want %v", err, failing)
	}
	opened := 0
	open := func() (compute.Backend, error) {
		opened++
		b, err := Open("go:parallelism=-1")
		return b.Compute, err
	}
	var got [3]compute.Backend
	for i, key := range []string{"a", "a", "b"} {
		var err error
		if got[i], err = keep(t.Name()+key, open); err != nil {
			t.Fatal(err)
		}
		Backend{Compute: got[i], kept: true}.Close()
		if got[i].IsFinalized() {
			t.Errorf("backend %d is closed", i)
		}
	}
	if got[0] != got[1] || got[0] == got[2] || opened != 2 {
		t.Errorf("opened %d, want two: the first two the same", opened)
	}
}
