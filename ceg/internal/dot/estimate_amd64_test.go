package dot

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Every kernel that this machine can run sets the tile that the generic one does.
func TestEstimateKernelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	const stride = 40
	for _, k := range []int{1, 2, 17, 100} {
		// Whole numbers, so that no order of summation rounds.
		whole := func(n int) []float32 {
			v := make([]float32, n)
			for i := range v {
				v[i] = float32(r.IntN(19) - 9)
			}
			return v
		}
		a, b := whole(k*stripRows), whole(k*panelCols)
		want := slices.Repeat([]float32{-1}, stripRows*stride)
		estimateGeneric(want, stride, a, b, k)
		for name, f := range map[string]func(got []float32){
			"AVX-512": func(got []float32) { estimateAVX512(&got[0], stride, &a[0], &b[0], k) },
			"AVX2":    func(got []float32) { estimateQuarters(got, stride, a, b, k) },
		} {
			if name == "AVX-512" && !wide || name == "AVX2" && !narrow {
				continue
			}
			got := slices.Repeat([]float32{-1}, stripRows*stride)
			f(got)
			if !slices.Equal(got, want) {
				t.Errorf("k=%d: %s differs from the generic kernel", k, name)
			}
		}
	}
}
