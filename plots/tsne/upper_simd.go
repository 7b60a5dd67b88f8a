//go:build goexperiment.simd && amd64

package tsne

import "simd/archsimd"

// clearUpper clears the upper halves of the vector registers. Go 1.27 with GOEXPERIMENT=simd
// leaves them in use when it goes on with an interrupted goroutine, and from then on each
// math.Exp, whose instructions are older, takes 40 to 70 times as long.
func clearUpper() {
	if archsimd.X86.AVX() {
		archsimd.ClearAVXUpperBits()
	}
}
