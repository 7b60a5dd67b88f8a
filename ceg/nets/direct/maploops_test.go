package direct

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/datasets/seed"
)

// normals returns a function that draws a number of normal values.
func normals(name string) func(n int) []float32 {
	r := seed.New(1, name)
	return func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(3 * r.NormFloat64())
		}
		return v
	}
}

func mustAgree[T float32 | float64](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i, v := range want {
		if d := math.Abs(float64(got[i] - v)); !(d <= 1e-4*max(1, math.Abs(float64(v)))) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], v)
		}
	}
}

// The loops are the generic ones, in another order of sums.
func TestMapLoops(t *testing.T) {
	random := normals("loops")
	for _, channels := range []int{16, 32, 48} {
		for _, a := range []area{line(1), line(7), {3, 2, 2}, {2, 3, 5}} {
			const stride = 64
			rows := a.rows * a.width
			x, y := view{random(rows * stride), stride}, random(rows*stride)
			f, b, c := random(channels), random(channels), random(channels)
			n := &normed{scale: f, bias: b, inv: c, off: random(channels)}
			inf := float32(math.Inf(1))
			run := func(generic bool) (out [][]float32) {
				normalise, combine, shifted, gate := normalise, combine, shifted, gate
				if generic {
					normalise, combine, shifted, gate = normaliseGeneric, combineGeneric, shiftedGeneric, gateGeneric
				}
				make := func() []float32 { return make([]float32, rows*stride) }
				limited, combined, sum, square := make(), make(), make(), make()
				normalise(view{limited, stride}, x, a, f, b, 0, 6)
				combine(view{combined, stride}, view{y, stride}, x, a, f, b, c)
				shifted(sum[:channels], square[:channels], x, rows, f)
				out = append(out, limited, combined, sum, square)
				for _, limits := range [][2]float32{{0, 6}, {0, inf}, {-inf, inf}} {
					dy, sum, product := slices.Clone(y), make(), make()
					gate(view{dy, stride}, x, rows, n, 0, limits[0], limits[1], sum[:channels], product[:channels])
					out = append(out, dy, sum, product)
				}
				return out
			}
			got := run(false)
			for i, want := range run(true) {
				mustAgree(t, fmt.Sprint(channels, " channels, ", a, ", result ", i), got[i], want)
			}
		}
	}
}

func TestVectorLoops(t *testing.T) {
	random := normals("vectors")
	x, y := random(48), random(48)
	got, want := slices.Clone(y), slices.Clone(y)
	add(got, 0.3, x)
	addGeneric(want, 0.3, x)
	mustAgree(t, "add", got, want)
	wide, all := make([]float64, 48), make([]float64, 48)
	for range 2 {
		addWide(wide, 0.3, x)
		addWideGeneric(all, 0.3, x)
	}
	mustAgree(t, "addWide", wide, all)
	mustAgree(t, "inner", []float64{inner(x, y)}, []float64{innerGeneric(x, y)})
}

// Sweeps over planes are a depthwise convolution and its gradients as they are defined.
func TestWindows(t *testing.T) {
	random := normals("windows")
	for _, c := range []struct{ h, w, kernel, stride, top, left int }{
		{9, 9, 3, 1, 1, 1}, {8, 9, 5, 1, 2, 2}, {9, 8, 3, 2, 1, 0}, {9, 9, 5, 2, 2, 2}, {8, 8, 5, 2, 1, 1}, {1, 1, 5, 1, 2, 2},
		{2, 2, 5, 2, 1, 1}, {7, 7, 4, 3, 0, 1}, {5, 5, 2, 3, 0, 0}, {12, 11, 7, 1, 3, 3}, {6, 6, 1, 1, 0, 0},
	} {
		for _, channels := range []int{16, 32} {
			const apart = 48
			outH, outW := (c.h+2*c.top-c.kernel)/c.stride+1, (c.w+2*c.left-c.kernel)/c.stride+1
			m := newWindows(apart, c.h, c.w, outH, outW, c.kernel, c.stride, c.top, c.left)
			x, dy, weights := random(c.h*c.w*channels), random(outH*outW*channels), random(c.kernel*c.kernel*apart)
			in, out := make([]float32, m.in.size()), make([]float32, m.out.size())
			plain := func(n int) []float32 { return slices.Repeat([]float32{1}, n) }
			normalise(m.in.from(in, 0, 0), view{x, channels}, area{c.h, c.w, m.in.width}, plain(channels), make([]float32, channels), float32(math.Inf(-1)), float32(math.Inf(1)))
			normalise(m.out.from(out, 0, 0), view{dy, channels}, area{outH, outW, m.out.width}, plain(channels), make([]float32, channels), float32(math.Inf(-1)), float32(math.Inf(1)))

			wantY, wantX, wantW := make([]float32, len(dy)), make([]float32, len(x)), make([]float32, len(weights))
			for o := range outH * outW {
				for k := range c.kernel * c.kernel {
					iy, ix := o/outW*c.stride+k/c.kernel-c.top, o%outW*c.stride+k%c.kernel-c.left
					if iy < 0 || iy >= c.h || ix < 0 || ix >= c.w {
						continue
					}
					for ch := range channels {
						i, o, k := (iy*c.w+ix)*channels+ch, o*channels+ch, k*apart+ch
						wantY[o] += x[i] * weights[k]
						wantX[i] += dy[o] * weights[k]
						wantW[k] += dy[o] * x[i]
					}
				}
			}
			for _, way := range []string{"vectors", "generic"} {
				weigh, unweigh := (*sweep).weigh, (*sweep).unweigh
				if way == "generic" {
					weigh, unweigh = (*sweep).weighGeneric, (*sweep).unweighGeneric
				}
				y, dx, dw := random(len(dy)), random(len(x)), make([]float32, len(weights))
				weigh(m.forth, view{y, channels}, in, weights, channels)
				unweigh(m.forth, m.out.from(out, 0, 0).v, m.out.width, in, dw, channels)
				for _, s := range m.back {
					weigh(s, view{dx, channels}, out, weights, channels)
				}
				name := fmt.Sprint(c, " ", channels, " ", way)
				mustAgree(t, name+": output", y, wantY)
				mustAgree(t, name+": gradient of the input", dx, wantX)
				mustAgree(t, name+": gradient of the weights", dw, wantW)
			}
		}
	}
}
