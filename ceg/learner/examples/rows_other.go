//go:build !goexperiment.simd || !amd64

package examples

import "math/rand/v2"

func standardiseRow(dst, x, mean []float32, scale float32) {
	standardiseRowGeneric(dst, x, mean, scale)
}

func dropOut(x []float32, r *rand.Rand) { dropOutGeneric(x, r) }
