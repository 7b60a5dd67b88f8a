//go:build !goexperiment.simd || !amd64

package examples

import "math/rand/v2"

func standardise(dst, x, mean []float32, scale float32) { standardiseGeneric(dst, x, mean, scale) }

func dropOut(x []float32, r *rand.Rand) { dropOutGeneric(x, r) }
