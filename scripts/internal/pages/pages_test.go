//go:build cgo && !noxla && linux && (amd64 || arm64)

package pages

import (
	"os"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine"
)

// TestXLATakesLargePages checks that it is this package from which XLA takes the memory of
// a computation from, that the next computation gets the same memory, and that it is
// given back when asked for.
func TestXLATakesLargePages(t *testing.T) {
	plugin := os.Getenv("LEDG_TEST_XLA")
	if plugin == "" {
		t.Skip("XLA not tested: LEDG_TEST_XLA names no plugin; scripts/test.sh --all fetches one")
	}
	b, err := engine.Open("xla:" + plugin)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	exec := graph.MustNewExec(b.Compute, func(n *graph.Node) *graph.Node {
		return graph.BroadcastToDims(n, 1<<21) // 8 MB
	})
	defer exec.Finalize()
	compute := func() {
		for _, out := range exec.MustCall(float32(1)) {
			tensors.MustCopyFlatData[float32](out) // which waits for the computation
			out.MustFinalizeAll()
		}
	}
	before := largeRequests()
	compute()
	blocks := largeRequests() - before
	if blocks == 0 {
		t.Fatal("an output of 8 MB was not allocated here")
	}
	reserved := reservedBytes()
	if reserved < 8<<20 {
		t.Errorf("%d bytes are kept for the next computation, want the output's 8 MB", reserved)
	}
	for range 10 {
		compute()
	}
	if n := largeRequests() - before; n != 11*blocks {
		t.Errorf("11 computations asked for %d blocks, the first for %d", n, blocks)
	}
	if n := reservedBytes(); n != reserved {
		t.Errorf("%d bytes are kept after 11 computations, %d after the first", n, reserved)
	}
	b.Compiled()
	if n := reservedBytes(); n != 0 {
		t.Errorf("%d bytes are kept after they were to be given back", n)
	}
}
