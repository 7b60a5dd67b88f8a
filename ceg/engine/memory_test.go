//go:build cgo && !noxla && linux && (amd64 || arm64)

package engine

import (
	"os"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
)

// TestXLATakesLargePages checks that it is this package which XLA takes the memory of
// a computation from.
func TestXLATakesLargePages(t *testing.T) {
	plugin := os.Getenv("LEDG_TEST_XLA")
	if plugin == "" {
		t.Skip("XLA not tested: LEDG_TEST_XLA names no plugin; scripts/test.sh fetches one")
	}
	b, err := Open("xla:" + plugin)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	before := largeBlocks()
	out, err := graph.ExecOnce(b.Compute, func(n *graph.Node) *graph.Node {
		return graph.BroadcastToDims(n, 1<<21) // 8 MB
	}, float32(1))
	if err != nil {
		t.Fatal(err)
	}
	out.MustFinalizeAll()
	if n := largeBlocks() - before; n == 0 {
		t.Error("an output of 8 MB was not allocated here")
	}
	b.Compiled()
}
