//go:build goexperiment.simd && amd64

package examples

import (
	"math/rand/v2"
	"simd/archsimd"
)

var hasAVX2 = archsimd.X86.AVX2()

// standardiseRow is standardiseRowGeneric, eight features at a time.
func standardiseRow(dst, x, mean []float32, scale float32) {
	i := 0
	if hasAVX2 {
		for s := archsimd.BroadcastFloat32x8(scale); i+8 <= len(mean); i += 8 {
			archsimd.LoadFloat32x8(x[i:]).Sub(archsimd.LoadFloat32x8(mean[i:])).Mul(s).Store(dst[i:])
		}
		archsimd.ClearAVXUpperBits()
	}
	standardiseRowGeneric(dst[i:], x[i:], mean[i:], scale)
}

// dropOut is dropOutGeneric, eight features at a time.
func dropOut(x []float32, r *rand.Rand) {
	if hasAVX2 {
		// Drawn in blocks: the generator's own instructions are slow between AVX's.
		var bits [32]uint64
		for len(x) >= 8 {
			n := min(len(bits), len(x)/8)
			for i := range bits[:n] {
				bits[i] = r.Uint64()
			}
			least, factor := archsimd.BroadcastInt32x8(dropped), archsimd.BroadcastFloat32x8(keptFactor)
			for _, b := range bits[:n] {
				bytes := archsimd.BroadcastUint64x2(b).AsUint8x16().ExtendLo8ToUint32().AsInt32x8()
				archsimd.LoadFloat32x8(x).Mul(factor).Masked(bytes.GreaterEqual(least)).Store(x)
				x = x[8:]
			}
			archsimd.ClearAVXUpperBits()
		}
	}
	dropOutGeneric(x, r)
}
