package native

import (
	"fmt"
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Depthwise convolutions, padded as TensorFlow does, and their gradients are those of
// GoMLX's convolution of groups.
func TestDepthwiseMatchesGoMLX(t *testing.T) {
	backend := enginetest.Open(t)
	for _, c := range []struct{ h, w, kernel, stride, padding int }{
		{7, 7, 3, 1, nets.Same}, {8, 8, 3, 2, nets.Same}, {8, 6, 5, 2, nets.Same}, {7, 9, 5, 2, nets.Same}, {6, 6, 5, 1, nets.Same},
		{2, 2, 5, 1, nets.Same}, {6, 5, 3, 1, 1}, {6, 6, 3, 2, 1}, {1, 1, 3, 2, nets.Same},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			const channels, images = 4, 3
			r := seed.New(1, t.Name())
			random := func(dims ...int) *tensors.Tensor {
				n := 1
				for _, d := range dims {
					n *= d
				}
				v := make([]float32, n)
				for i := range v {
					v[i] = float32(r.NormFloat64())
				}
				return tensors.FromFlatDataAndDimensions(v, dims...)
			}
			outs := fatal.Get(ExecOnceN(backend.Compute, func(in []*Node) []*Node {
				x, w := in[0], in[1]
				n := &native{params: map[string]*Node{"dw.weight": w}, dtype: x.DType()}
				ours := n.Depthwise(&maps{c: channels, h: c.h, w: c.w, at: []*Node{x}}, "dw", c.kernel, c.stride, c.padding).(*maps).at[0]
				top, bottom := nets.Padding(c.h, c.kernel, c.stride, c.padding)
				left, right := nets.Padding(c.w, c.kernel, c.stride, c.padding)
				theirs := Convolve(x, TransposeAllAxes(w, 2, 3, 1, 0)).Strides(c.stride).
					PaddingPerDim([][2]int{{top, bottom}, {left, right}}).ChannelGroupCount(channels).Done()
				var all []*Node
				for _, y := range []*Node{ours, theirs} {
					loss := ReduceAllSum(Mul(y, Cos(IotaFull(y.Graph(), y.Shape()))))
					all = append(all, y)
					all = append(all, Gradient(loss, x, w)...)
				}
				return all
			}, random(images, c.h, c.w, channels), random(channels, 1, c.kernel, c.kernel)))(t)
			for i, what := range []string{"output", "gradient of the maps", "gradient of the kernel"} {
				got, want := tensors.MustCopyFlatData[float32](outs[i]), tensors.MustCopyFlatData[float32](outs[3+i])
				if !outs[i].Shape().Equal(outs[3+i].Shape()) {
					t.Fatalf("%s: got %s, want %s", what, outs[i].Shape(), outs[3+i].Shape())
				}
				for j := range want {
					if math.Abs(float64(got[j]-want[j])) > 1e-4 {
						t.Fatalf("%s: value %d is %v, want %v", what, j, got[j], want[j])
					}
				}
			}
		})
	}
}
