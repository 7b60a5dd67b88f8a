package examples

import (
	"math"
	"math/rand/v2"
)

const (
	// dropped is the share of features that dropout sets to their mean, in 256ths.
	dropped = 77
	// keptFactor multiplies the other features, so that expectations stay the same.
	keptFactor = 256. / (256 - dropped)
)

// standardiseRowGeneric sets dst to (x - mean) * scale, feature by feature. All have equal lengths.
func standardiseRowGeneric(dst, x, mean []float32, scale float32) {
	for j, m := range mean {
		dst[j] = (x[j] - m) * scale
	}
}

// dropOutGeneric sets some standardised features to zero, their mean, and multiplies the others by
// keptFactor. One byte of r decides on each feature.
func dropOutGeneric(x []float32, r *rand.Rand) {
	for len(x) > 0 {
		bits := r.Uint64()
		next := x[:min(8, len(x))]
		for k, y := range next {
			// All ones to keep the feature; a branch would be mispredicted in a third of all cases.
			keep := ^uint32((int32(bits&0xff) - dropped) >> 31)
			next[k] = math.Float32frombits(math.Float32bits(y*keptFactor) & keep)
			bits >>= 8
		}
		x = x[len(next):]
	}
}
