package ceg

import (
	"fmt"
	"math"
	"slices"
)

// Normalisation says what is made of every feature vector before the pool's mean is
// taken off. Empty leaves it as it is stored.
type Normalisation string

const (
	// RootFeatures puts sign(x) sqrt|x| in the place of every feature, which brings the
	// few loud features of a ReLU network nearer to the many quiet ones (Tukey's ladder of
	// powers; Yang et al., "Free Lunch for Few-Shot Learning: Distribution Calibration",
	// ICLR 2021).
	RootFeatures Normalisation = "root"
	// UnitFeatures divides every vector by its length.
	UnitFeatures Normalisation = "unit"
	// RootUnitFeatures does both, the root first.
	RootUnitFeatures Normalisation = "root-unit"
)

// Normalisations lists those that have a name.
func Normalisations() []Normalisation {
	return []Normalisation{RootFeatures, UnitFeatures, RootUnitFeatures}
}

// apply normalises one vector in its place.
func (n Normalisation) apply(x []float32) {
	if n == RootFeatures || n == RootUnitFeatures {
		for j, v := range x {
			x[j] = float32(math.Copysign(math.Sqrt(math.Abs(float64(v))), float64(v)))
		}
	}
	if n != UnitFeatures && n != RootUnitFeatures {
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

// checkNormalisation reports one that does not exist, or is of images.
func (d Data) checkNormalisation() error {
	switch {
	case d.Normalise == "":
		return nil
	case !slices.Contains(Normalisations(), d.Normalise):
		return fmt.Errorf("config: features normalised by %q, want one of %s; empty for none", d.Normalise, list(Normalisations()))
	case !d.vectors():
		return fmt.Errorf("config: features normalised by %q, but data set %s has images", d.Normalise, d.Dataset)
	}
	return nil
}
