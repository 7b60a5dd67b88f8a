package scaler

import (
	"math"

	"github.com/ledg-go/ledg/ceg/config"
)

// Normalise normalises a feature vector in place.
func Normalise(n config.Normalisation, x []float32) {
	if n == config.RootFeatures || n == config.RootUnitFeatures {
		for j, v := range x {
			x[j] = float32(math.Copysign(math.Sqrt(math.Abs(float64(v))), float64(v)))
		}
	}
	if n != config.UnitFeatures && n != config.RootUnitFeatures {
		return
	}
	square := 0.0
	for _, v := range x {
		square += float64(v) * float64(v)
	}
	if square == 0 {
		return
	}
	scale := float32(1 / math.Sqrt(square))
	for j := range x {
		x[j] *= scale
	}
}

// Undo restores the direction of a feature vector before [Normalise], in place; not its length.
func Undo(n config.Normalisation, x []float32) {
	if n == config.RootFeatures || n == config.RootUnitFeatures {
		for j, v := range x {
			x[j] = float32(math.Copysign(float64(v)*float64(v), float64(v)))
		}
	}
}
