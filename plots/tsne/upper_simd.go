//go:build goexperiment.simd && amd64

package tsne

import "simd/archsimd"

// clearUpper clears the upper halves of the vector registers. Go 1.27 with GOEXPERIMENT=simd
// leaves them in use after it has preempted a goroutine, and each later math.Exp, which uses SSE
// instructions, takes 40 to 70 times as long.
func clearUpper() {
	if archsimd.X86.AVX() {
		archsimd.ClearAVXUpperBits()
	}
}
