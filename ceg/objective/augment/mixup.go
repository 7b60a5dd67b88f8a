package augment

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// MixUp returns lambda*a + (1-lambda)*b of two images of one size, rounded: the
// picture of what MixUp trains on (Zhang et al. 2018; M_intra and M_inter of Yuan
// et al. 2022). Training itself mixes normalised inputs in the network's graph,
// without rounding. It panics when the sizes differ or lambda is outside [0, 1].
func MixUp(a, b *rgb.Image, lambda float64) *rgb.Image {
	mustMatch(a, b)
	if !(lambda >= 0 && lambda <= 1) {
		panic(fmt.Sprintf("augment.MixUp: lambda is %v, want 0 to 1", lambda))
	}
	out := rgb.New(a.Width, a.Height)
	for i := range out.Pix {
		out.Pix[i] = uint8(math.Round(lambda*float64(a.Pix[i]) + (1-lambda)*float64(b.Pix[i])))
	}
	return out
}
