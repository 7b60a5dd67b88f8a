package direct

import (
	"fmt"
	"math"
	"testing"

	"github.com/ledg-go/ledg/ceg/seed"
)

// The loops are the generic ones, in another order of sums.
func TestMapLoops(t *testing.T) {
	r := seed.New(1, "loops")
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(3 * r.NormFloat64())
		}
		return v
	}
	for _, channels := range []int{16, 48} {
		for _, rows := range []int{1, 7} {
			const stride = 64
			x, y := view{random(rows * stride), stride}, random(rows*stride)
			a, b, c := random(channels), random(channels), random(channels)
			n := &normed{scale: a, bias: b, inv: c, off: random(channels)}
			some := taps{[]int{0, stride, 3 * stride, 64, 4 * stride}, []int{0, 48, 96, 48, 0}}
			src, weights := random((rows+5)*2*stride), random(96+channels)
			inf := float32(math.Inf(1))
			run := func(generic bool) (out [][]float32) {
				normalise, combine, shifted, gate, weigh, unweigh := normalise, combine, shifted, gate, weigh, unweigh
				if generic {
					normalise, combine, shifted, gate, weigh, unweigh = normaliseGeneric, combineGeneric, shiftedGeneric, gateGeneric, weighGeneric, unweighGeneric
				}
				make := func() []float32 { return make([]float32, rows*stride) }
				limited, combined, sum, square := make(), make(), make(), make()
				normalise(view{limited, stride}, x, rows, a, b, 0, 6)
				combine(view{combined, stride}, view{y, stride}, x, rows, a, b, c)
				shifted(sum[:channels], square[:channels], x, rows, a)
				out = append(out, limited, combined, sum, square)
				for _, limits := range [][2]float32{{0, 6}, {0, inf}, {-inf, inf}} {
					dy, sum, product := append([]float32(nil), y...), make(), make()
					gate(view{dy, stride}, x, rows, n, 0, limits[0], limits[1], sum[:channels], product[:channels])
					out = append(out, dy, sum, product)
				}
				weighed, grads := make(), append([]float32(nil), weights...)
				weigh(weighed, stride, src, 2*stride, some, weights, rows, channels)
				unweigh(y, stride, src, 2*stride, some, grads, rows, channels)
				return append(out, weighed, grads)
			}
			got := run(false)
			for i, want := range run(true) {
				for j, v := range want {
					if d := math.Abs(float64(got[i][j] - v)); !(d <= 1e-4) {
						t.Fatalf("%s: value %d is %v, want %v", fmt.Sprint(channels, " channels, ", rows, " rows, result ", i), j, got[i][j], v)
					}
				}
			}
		}
	}
}
