package augment

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// MixUp returns lambda*a + (1-lambda)*b of two images of one size, rounded, for figures (Zhang
// et al. 2018; Eq. 10 and 11 of Yuan et al. 2022). Training mixes normalised inputs in the
// network's graph, without rounding. It panics if the sizes differ or lambda is outside [0, 1].
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
