package dot

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Tiles are the generic loop's, of matrices as they are and transposed.
func TestStrided(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	random := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	for _, cols := range []int{16, 32} {
		for _, k := range []int{1, 2, 27, 96} {
			for _, transposed := range []bool{false, true} {
				for _, add := range []bool{false, true} {
					t.Run(fmt.Sprint(cols, " columns, k ", k, transposed, add), func(t *testing.T) {
						si, sk, sb, sd := k+3, 1, cols+5, cols+1
						if transposed {
							si, sk = 1, TileRows+2
						}
						a, b := random((TileRows-1)*si+(k-1)*sk+1), random((k-1)*sb+cols)
						got := random((TileRows-1)*sd + cols)
						want := append([]float32(nil), got...)
						Strided(got, sd, a, si, sk, b, sb, cols, k, add)
						stridedGeneric(want, sd, a, si, sk, b, sb, cols, k, add)
						for i := range want {
							if d := math.Abs(float64(got[i] - want[i])); !(d <= 1e-5*math.Sqrt(float64(k))) {
								t.Fatalf("value %d is %v, want %v", i, got[i], want[i])
							}
						}
					})
				}
			}
		}
	}
}
