//go:build goexperiment.simd && amd64

package dot

import (
	"math/rand/v2"
	"testing"
)

// Every kernel that this machine can run gives the bits of the generic one.
func TestKernelsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, d := range []int{1, 8, 13, 512} {
		rows := random(r, tile*d)
		a, b := Pack(rows, d), Pack(random(r, tile*d), d)
		v := NewVector(random(r, d))
		var want, got [tile * tile]float64
		var want4, got4 [tile]float64
		productsGeneric(&want, a.data, b.data)
		againstGeneric(&want4, rows, v)
		check := func(name string) {
			t.Helper()
			if got != want || got4 != want4 {
				t.Errorf("d=%d: %s differs from the generic kernel", d, name)
			}
		}
		wantOne := product(rows[:d], v.data)
		long := NewVector(rows[:d]).data[:d]
		single := func(name string, one, wide float64) {
			t.Helper()
			if one != wantOne || wide != wantOne {
				t.Errorf("d=%d: %s gives %v and %v for one row, the generic kernel %v", d, name, one, wide, wantOne)
			}
		}
		if hasAVX512 {
			single("AVX-512", oneAVX512(rows[:d], v.data), float64sAVX512(long, v.data))
			productsAVX512(&got, a.data, b.data)
			againstAVX512(&got4, rows, v)
			check("AVX-512")
		}
		if hasAVX2 {
			single("AVX2", oneAVX2(rows[:d], v.data), float64sAVX2(long, v.data))
			productsAVX2(&got, a.data, b.data)
			againstAVX2(&got4, rows, v)
			check("AVX2")
		}
	}
}
