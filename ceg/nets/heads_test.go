package nets_test

import (
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
)

// LinearOfVectors and its gradient are Linear's, for every number of outputs up to a
// multiple of four and beyond, but for the order of sums.
func TestLinearOfVectors(t *testing.T) {
	b := enginetest.Open(t)
	for _, out := range []int{1, 3, 4, 7, 8, 9} {
		values := func(n, m int, step float32) [][]float32 {
			rows := make([][]float32, n)
			for i := range rows {
				for j := range m {
					rows[i] = append(rows[i], step*float32((7*i+3*j)%11)-1)
				}
			}
			return rows
		}
		x, w, bias := values(6, 40, 0.3), values(out, 40, 0.1), values(1, out, 0.2)[0]
		run := func(linear func(map[string]*Node, string, *Node) *Node) []*tensors.Tensor {
			exec := MustNewExec(b.Compute, func(x, w, bias *Node) []*Node {
				y := linear(map[string]*Node{"fc.weight": w, "fc.bias": bias}, "fc", x)
				y.AssertDims(6, out)
				loss := ReduceAllSum(Mul(y, Sin(y)))
				return append(Gradient(loss, w, bias), y)
			})
			defer exec.Finalize()
			return exec.MustCall(x, w, bias)
		}
		want, got := run(nets.Linear), run(nets.LinearOfVectors)
		for i, name := range []string{"gradient of the weights", "gradient of the bias", "outputs"} {
			a, b := tensors.MustCopyFlatData[float32](want[i]), tensors.MustCopyFlatData[float32](got[i])
			for k := range a {
				// Sums of 40 values of about 10 in float32.
				if d := a[k] - b[k]; d > 1e-3 || d < -1e-3 {
					t.Fatalf("%d outputs: %s %d is %v, Linear's is %v", out, name, k, b[k], a[k])
				}
			}
		}
	}
}
