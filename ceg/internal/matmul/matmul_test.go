package matmul

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
)

// Products are those of float64 sums within the roundings of float32, and the same bytes on
// any number of processors.
func TestMultiply(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	for _, c := range [][4]int{{1, 1, 1, 1}, {1, 8, 32, 256}, {2, 9, 33, 257}, {3, 7, 31, 1}, {1, 70, 5, 600}, {16, 12, 40, 16}, {1, 64, 300, 72}, {1, 3, 4, 0}} {
		batch, m, n, k := c[0], c[1], c[2], c[3]
		a, b := random(batch*m*k), random(batch*k*n)
		for _, transposed := range []bool{false, true} {
			t.Run(fmt.Sprint(c, transposed), func(t *testing.T) {
				at := func(i, j, l int) (x, y float64) {
					x = float64(a[(i/m*m+i%m)*k+l])
					if transposed {
						return x, float64(b[(i/m*n+j)*k+l])
					}
					return x, float64(b[(i/m*k+l)*n+j])
				}
				got := slices.Repeat([]float32{-1}, batch*m*n)
				Multiply(got, a, b, batch, m, n, k, transposed)
				for i := range batch * m {
					for j := range n {
						want, size := 0.0, 0.0
						for l := range k {
							x, y := at(i, j, l)
							want, size = want+x*y, size+math.Abs(x*y)
						}
						// k+1 roundings of float32 by at most 2^-24 (Higham 2002, section 3.1).
						if diff := math.Abs(float64(got[i*n+j]) - want); !(diff <= float64(k+1)*0x1p-24*size) {
							t.Fatalf("element [%d, %d] is %v, want %v", i, j, got[i*n+j], want)
						}
					}
				}
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				again := make([]float32, len(got))
				Multiply(again, a, b, batch, m, n, k, transposed)
				if !slices.Equal(again, got) {
					t.Error("differs on one processor")
				}
			})
		}
	}
}
