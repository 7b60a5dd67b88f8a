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

// Convolutions and their gradients, on CPUs and GPUs, are those of plain loops in
// float64. Kernels of even sides are here because GoMLX's own gradient of the images is
// wrong for them.
func TestEvenKernelsMatchLoops(t *testing.T) {
	backend := enginetest.Open(t)
	for _, c := range []loops{
		{h: 2, w: 2, kernel: 2, stride: 1, padding: nets.Same},
		{h: 2, w: 2, kernel: 2, stride: 2, padding: nets.Same},
		{h: 2, w: 2, kernel: 4, stride: 1, padding: nets.Same},
		{h: 2, w: 2, kernel: 4, stride: 2, padding: nets.Same},
		{h: 2, w: 2, kernel: 2, stride: 1, padding: 1},
		{h: 2, w: 2, kernel: 2, stride: 2, padding: 0},
		{h: 2, w: 2, kernel: 2, stride: 2, padding: 1},
		{h: 2, w: 2, kernel: 4, stride: 1, padding: 2},
		{h: 2, w: 2, kernel: 4, stride: 2, padding: 1},
		{h: 2, w: 1, kernel: 4, stride: 1, padding: nets.Same},
		{h: 1, w: 1, kernel: 2, stride: 1, padding: nets.Same},
		{h: 1, w: 1, kernel: 2, stride: 2, padding: 1},
		{h: 2, w: 2, kernel: 6, stride: 1, padding: nets.Same},
		{h: 5, w: 6, kernel: 4, stride: 2, padding: 1},
		{h: 6, w: 5, kernel: 2, stride: 1, padding: nets.Same},
		{h: 6, w: 5, kernel: 4, stride: 3, padding: nets.Same},
		{h: 2, w: 2, kernel: 5, stride: 1, padding: nets.Same},
		{h: 4, w: 3, kernel: 3, stride: 2, padding: nets.Same},
		{h: 2, w: 2, kernel: 2, stride: 1, padding: nets.Same, depthwise: true},
		{h: 2, w: 2, kernel: 4, stride: 2, padding: nets.Same, depthwise: true},
		{h: 2, w: 2, kernel: 2, stride: 1, padding: 1, depthwise: true},
		{h: 5, w: 6, kernel: 4, stride: 2, padding: 1, depthwise: true},
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			y, dx, dw, x, w, dy := c.compute()
			outs := fatal.Get(ExecOnceN(backend.Compute, func(in []*Node) []*Node {
				n := &native{params: map[string]*Node{"conv.weight": in[1]}, dtype: in[0].DType()}
				m := &maps{c: channels, h: c.h, w: c.w, at: []*Node{in[0]}}
				var out nets.Maps
				if c.depthwise {
					out = n.Depthwise(m, "conv", c.kernel, c.stride, c.padding)
				} else {
					out = n.Conv(m, "conv", channels, c.kernel, c.stride, c.padding, false)
				}
				v := out.(*maps).at[0]
				return append([]*Node{v}, Gradient(ReduceAllSum(Mul(v, in[2])), in[0], in[1])...)
			}, x, w, dy))(t)
			for i, want := range [][]float64{y, dx, dw} {
				what := []string{"output", "gradient of the images", "gradient of the kernel"}[i]
				got := tensors.MustCopyFlatData[float32](outs[i])
				if len(got) != len(want) {
					t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
				}
				for j := range want { // sums of up to some hundred products of about 1
					if math.Abs(float64(got[j])-want[j]) > 1e-4 {
						t.Fatalf("%s: value %d is %v, want %v", what, j, got[j], want[j])
					}
				}
			}
		})
	}
}

// channels of the maps on either side.
const channels = 3

// loops is a convolution by plain loops.
type loops struct {
	h, w, kernel, stride, padding int
	depthwise                     bool
}

// compute draws images x, weights w and the gradient dy of the output, and returns the
// output and the gradients of x and w, too.
func (c loops) compute() (y, dx, dw []float64, x, w, dy *tensors.Tensor) {
	const images = 2
	r := seed.New(1, fmt.Sprint(c))
	random := func(dims ...int) ([]float32, *tensors.Tensor) {
		n := 1
		for _, d := range dims {
			n *= d
		}
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v, tensors.FromFlatDataAndDimensions(v, dims...)
	}
	per := channels // inputs of an output
	if c.depthwise {
		per = 1
	}
	ho, wo := nets.OutSize(c.h, c.kernel, c.stride, c.padding), nets.OutSize(c.w, c.kernel, c.stride, c.padding)
	top, _ := nets.Padding(c.h, c.kernel, c.stride, c.padding)
	left, _ := nets.Padding(c.w, c.kernel, c.stride, c.padding)
	xs, x := random(images, c.h, c.w, channels)
	ws, w := random(channels, per, c.kernel, c.kernel)
	dys, dy := random(images, ho, wo, channels)
	y, dx, dw = make([]float64, len(dys)), make([]float64, len(xs)), make([]float64, len(ws))
	for at := range dys { // [image, oy, ox, o]
		o, ox, oy, image := at%channels, at/channels%wo, at/channels/wo%ho, at/channels/wo/ho
		for tap := range per * c.kernel * c.kernel { // [i, ky, kx]
			i, ky, kx := tap/c.kernel/c.kernel, tap/c.kernel%c.kernel, tap%c.kernel
			iy, ix := oy*c.stride+ky-top, ox*c.stride+kx-left
			if iy < 0 || iy >= c.h || ix < 0 || ix >= c.w {
				continue
			}
			if c.depthwise {
				i = o
			}
			pixel, weight := ((image*c.h+iy)*c.w+ix)*channels+i, o*per*c.kernel*c.kernel+tap
			y[at] += float64(xs[pixel]) * float64(ws[weight])
			dx[pixel] += float64(dys[at]) * float64(ws[weight])
			dw[weight] += float64(dys[at]) * float64(xs[pixel])
		}
	}
	return y, dx, dw, x, w, dy
}
