package native

import (
	"fmt"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
)

// BenchmarkConvolution measures the rule of cpu.go: convolutions of its table, and one more,
// and their gradients as XLA would compute them and by the rule.
//
//	LEDG_TEST_BACKEND=xla:cpu go test ./ceg/nets/native -run xxx -bench Convolution
func BenchmarkConvolution(b *testing.B) {
	backend := enginetest.Open(b)
	if backend.FastConv {
		b.Skip("XLA not measured: LEDG_TEST_BACKEND names none")
	}
	for _, g := range []window{
		{images: 240, h: 32, w: 32, in: 3, out: 64, side: 3, stride: 1, pad: 1},
		{images: 240, h: 16, w: 16, in: 64, out: 64, side: 3, stride: 1, pad: 1},
		{images: 240, h: 8, w: 8, in: 128, out: 128, side: 3, stride: 1, pad: 1},
		{images: 240, h: 4, w: 4, in: 256, out: 256, side: 3, stride: 1, pad: 1},
		{images: 240, h: 4, w: 4, in: 512, out: 512, side: 3, stride: 1, pad: 1},
		{images: 240, h: 2, w: 2, in: 512, out: 512, side: 3, stride: 1, pad: 1},
		{images: 60, h: 64, w: 64, in: 64, out: 64, side: 3, stride: 1, pad: 1},
	} {
		g.ho, g.wo = g.h, g.w
		array := func(d ...int) *tensors.Tensor { return tensors.FromShape(shapes.Make(dtypes.Float32, d...)) }
		x, dy := array(g.images, g.h, g.w, g.in), array(g.images, g.ho, g.wo, g.out)
		k := array(g.side, g.side, g.in, g.out)
		own := func(x, k *Node) *Node {
			return Convolve(x, k).PaddingPerDim([][2]int{{g.pad, g.pad}, {g.pad, g.pad}}).Done()
		}
		rule := func(x, k *Node) *Node { return convolveCPU(x, k, g.stride, g.pad) }
		gradient := func(f func(x, k *Node) *Node, of int) func(x, k, dy *Node) *Node {
			return func(x, k, dy *Node) *Node {
				return Gradient(ReduceAllSum(Mul(f(x, k), dy)), []*Node{x, k}[of])[0]
			}
		}
		for _, form := range []struct {
			name string
			f    func(x, k, dy *Node) *Node
		}{
			{"forward/own", func(x, k, _ *Node) *Node { return own(x, k) }},
			{"forward/rule", func(x, k, _ *Node) *Node { return rule(x, k) }},
			{"images/own", gradient(own, 0)},
			{"images/rule", gradient(rule, 0)},
			{"kernel/own", gradient(own, 1)},
			{"kernel/rule", gradient(rule, 1)},
		} {
			b.Run(fmt.Sprintf("%dx%dx%d-%d/%s", g.h, g.w, g.in, g.out, form.name), func(b *testing.B) {
				exec := MustNewExec(backend.Compute, form.f)
				defer exec.Finalize()
				run := func() {
					for _, o := range exec.MustCall(x, k, dy) {
						o.MustFinalizeAll()
					}
				}
				run() // compiles
				for b.Loop() {
					run()
				}
				flops := 2 * float64(g.images*g.ho*g.wo*g.out*g.in*g.side*g.side)
				b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	}
}
