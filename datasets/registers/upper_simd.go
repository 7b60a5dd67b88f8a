//go:build goexperiment.simd && amd64

package registers

import "simd/archsimd"

// ClearUpper clears the upper halves of the vector registers. Go 1.27 with GOEXPERIMENT=simd
// leaves them in use after it has preempted a goroutine. Later SSE instructions are slow then on
// some processors: math.Exp takes 40 to 70 times as long, SHA-256 100 times.
func ClearUpper() {
	if archsimd.X86.AVX() {
		archsimd.ClearAVXUpperBits()
	}
}
