package native

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/datasets/seed"
)

// TestCPUFormsMatchGoMLX compares convolutions and max-pooling, and the gradients
// of their inputs, with GoMLX's own, in shapes that take every way through cpu.go,
// tiny.go and pool.go.
func TestCPUFormsMatchGoMLX(t *testing.T) {
	backend := enginetest.Open(t)
	plain := func(x, k *Node, stride, pad int) *Node {
		return Convolve(x, k).Strides(stride).PaddingPerDim([][2]int{{pad, pad}, {pad, pad}}).Done()
	}
	maximum := func(x *Node, side, stride, pad int) *Node {
		return MaxPool(x).Window(side).Strides(stride).PaddingPerDim([][2]int{{pad, pad}, {pad, pad}}).Done()
	}
	for _, c := range []struct {
		name                  string
		images, h, w, in, out int // out is 0 for max-pooling
		side, stride, pad     int
	}{
		{"3x3", 3, 7, 6, 4, 5, 3, 1, 1},
		{"3x3 without padding", 2, 7, 6, 4, 5, 3, 1, 0},
		{"3x3, kernel in parts", 1, 4, 4, 130, 200, 3, 1, 1},
		{"3x3, chunks of images", 9, 24, 24, 2, 64, 3, 1, 1},
		{"3x3, many chunks", 18, 66, 66, 1, 64, 3, 1, 1},
		{"3x3, chunks of rows", 1, 80, 72, 2, 64, 3, 1, 1},
		{"3x3 on a map of 2x2", 5, 2, 2, 4, 5, 3, 1, 1},
		{"3x3 on a map of 2x1", 5, 2, 1, 4, 5, 3, 1, 1},
		{"3x3 on a map of 1x1", 5, 1, 1, 4, 5, 3, 1, 1},
		{"3x3 on a map of 3x3", 5, 3, 3, 4, 5, 3, 1, 1},
		{"5x5 on a map of 3x2", 3, 3, 2, 4, 5, 5, 1, 2},
		{"5x5", 3, 6, 7, 4, 5, 5, 1, 2},
		{"3x3, stride 2", 3, 8, 6, 4, 5, 3, 2, 1},
		{"3x3, stride 2, odd sides", 3, 9, 7, 4, 5, 3, 2, 1},
		{"3x3, stride 2, many channels", 2, 9, 8, 16, 20, 3, 2, 1},
		{"3x3, stride 2 to a map of 2x2", 3, 4, 4, 16, 20, 3, 2, 1},
		{"3x3, stride 2 to a map of 1x1", 3, 2, 2, 16, 20, 3, 2, 1},
		{"7x7, stride 2", 3, 20, 22, 3, 5, 7, 2, 3},
		{"7x7, stride 2, odd sides", 3, 21, 23, 3, 5, 7, 2, 3},
		{"7x7, stride 2, chunks of rows", 1, 150, 150, 2, 64, 7, 2, 3},
		{"5x5, stride 3", 2, 13, 11, 3, 5, 5, 3, 2},
		{"1x1", 4, 32, 32, 6, 5, 1, 1, 0},
		{"1x1, stride 2", 3, 8, 6, 4, 5, 1, 2, 0},
		{"1x1, stride 2, odd sides", 3, 7, 9, 4, 5, 1, 2, 0},
		{"max 2x2", 3, 8, 6, 4, 0, 2, 2, 0},
		{"max 2x2, odd sides", 3, 7, 9, 4, 0, 2, 2, 0},
		{"max 3x3, stride 2", 3, 8, 6, 4, 0, 3, 2, 1},
		{"max 3x3, stride 2, odd sides", 3, 7, 9, 4, 0, 3, 2, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "3x3, many chunks" && backend.FastConv {
				t.Skip("a loop over slices: GoMLX's Go backend cannot")
			}
			r := seed.New(1, c.name)
			random := func(dims ...int) *tensors.Tensor {
				x := tensors.FromShape(tensors.FromScalarAndDimensions(float32(0), dims...).Shape())
				tensors.MustMutableFlatData(x, func(v []float32) {
					for i := range v {
						v[i] = float32(r.NormFloat64())
						if c.out == 0 {
							v[i] = float32(r.IntN(4)) // ties
						}
					}
				})
				return x
			}
			ho, wo, out := (c.h+2*c.pad-c.side)/c.stride+1, (c.w+2*c.pad-c.side)/c.stride+1, c.out
			if out == 0 {
				out = c.in
			}
			args := []any{random(c.images, c.h, c.w, c.in), random(c.images, ho, wo, out), random(c.side, c.side, c.in, out)}
			got, err := ExecOnceN(backend.Compute, func(in []*Node) []*Node {
				var all []*Node
				for _, cpu := range []bool{true, false} {
					var y *Node
					of := in[:1]
					switch {
					case c.out == 0 && cpu:
						y = maxPoolCPU(in[0], c.side, c.stride, c.pad)
					case c.out == 0:
						y = maximum(in[0], c.side, c.stride, c.pad)
					case cpu:
						y, of = convolveCPU(in[0], in[2], c.stride, c.pad), []*Node{in[0], in[2]}
					default:
						y, of = plain(in[0], in[2], c.stride, c.pad), []*Node{in[0], in[2]}
					}
					all = append(append(all, y), Gradient(ReduceAllSum(Mul(y, in[1])), of...)...)
				}
				return all
			}, args...)
			if err != nil {
				t.Fatal(err)
			}
			n := len(got) / 2
			for i, name := range []string{"output", "gradient of the images", "gradient of the kernel"}[:n] {
				a, b := tensors.MustCopyFlatData[float32](got[i]), tensors.MustCopyFlatData[float32](got[n+i])
				if fmt.Sprint(got[i].Shape()) != fmt.Sprint(got[n+i].Shape()) {
					t.Fatalf("%s: shape %v, want %v", name, got[i].Shape(), got[n+i].Shape())
				}
				// float32 sums of up to some thousand products in another order.
				scale, worst := 0.0, 0.0
				for j := range b {
					scale, worst = max(scale, math.Abs(float64(b[j]))), max(worst, math.Abs(float64(a[j]-b[j])))
				}
				if !(worst <= 1e-5*scale) || scale == 0 {
					t.Errorf("%s: differs by %g, largest value %g", name, worst, scale)
				}
			}
		})
	}
}

// TestTwoLoops compiles two kernel gradients of one graph that are loops over as many
// chunks each, as ResNets have at 224 pixels.
func TestTwoLoops(t *testing.T) {
	backend := enginetest.Open(t)
	if backend.FastConv {
		t.Skip("loops over slices: GoMLX's Go backend cannot")
	}
	r := seed.New(1, "two loops")
	random := func(dims ...int) *tensors.Tensor {
		v := make([]float32, shapes.Make(dtypes.Float32, dims...).Size())
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return tensors.FromFlatDataAndDimensions(v, dims...)
	}
	k := random(3, 3, 1, 64)
	got, err := ExecOnceN(backend.Compute, func(in []*Node) []*Node {
		x, dy, a, b := in[0], in[1], in[2], in[3]
		both := Add(convolveCPU(x, a, 1, 1), convolveCPU(x, b, 1, 1))
		plain := Convolve(x, a).PaddingPerDim([][2]int{{1, 1}, {1, 1}}).Done()
		return append(Gradient(ReduceAllSum(Mul(both, dy)), a, b), Gradient(ReduceAllSum(Mul(plain, dy)), a)...)
	}, random(18, 66, 66, 1), random(18, 66, 66, 64), k, k)
	if err != nil {
		t.Fatal(err)
	}
	want := tensors.MustCopyFlatData[float32](got[2])
	scale := 0.0
	for _, v := range want {
		scale = max(scale, math.Abs(float64(v)))
	}
	for i, name := range []string{"first", "second"} {
		for j, v := range tensors.MustCopyFlatData[float32](got[i]) {
			if math.Abs(float64(v-want[j])) > 1e-4*scale {
				t.Fatalf("the %s loop's value %d is %v, want %v", name, j, v, want[j])
			}
		}
	}
}
