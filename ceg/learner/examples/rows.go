package examples

import (
	"math"
	"math/rand/v2"
)

// dropped is the share of features that dropout puts to their mean, in 256ths; kept ones are
// scaled up.
const (
	dropped    = 77
	keptFactor = 256. / (256 - dropped)
)

// standardiseGeneric sets dst to (x - mean) * scale, for each feature.
func standardiseGeneric(dst, x, mean []float32, scale float32) {
	for j, m := range mean {
		dst[j] = (x[j] - m) * scale
	}
}

// dropOutGeneric puts some features to zero and scales the others up, by one byte of r for each.
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
