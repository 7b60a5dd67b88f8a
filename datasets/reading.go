package datasets

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// Pools say what a vector is made of where a network gives a vector for each token: the class
// token, which is the first; the mean of all tokens; the mean of those of patches, which are the
// last and a square.
const (
	ClassToken  = "cls"
	MeanToken   = "mean"
	PatchTokens = "patches"
)

// Pools are all there are.
var Pools = []string{ClassToken, MeanToken, PatchTokens}

// Reading is how images are given to a network from a file, and what is taken out of it.
type Reading struct {
	// Short and Filter are the rest of the images' [rgb.Fit].
	Short  int        `json:"short,omitempty"`
	Filter rgb.Filter `json:"filter,omitempty"`
	// Mean and Std normalise the channels red, green and blue, of values from 0 to 1.
	Mean [3]float64 `json:"mean"`
	Std  [3]float64 `json:"std"`
	// BGR turns the order of the channels.
	BGR bool `json:"bgr,omitempty"`
	// Output is the value that is taken, by its name in the file, and Pool one of Pools or, where
	// there are no tokens, empty.
	Output string `json:"output,omitempty"`
	Pool   string `json:"pool,omitempty"`
}

// Check returns what is wrong with a reading for images of a size.
func (r Reading) Check(size int) error {
	for i, v := range r.Std {
		if !(v > 0) || math.IsInf(v, 0) || math.IsNaN(r.Mean[i]) || math.IsInf(r.Mean[i], 0) {
			return fmt.Errorf("mean %v and standard deviation %v: want numbers, the latter above 0", r.Mean, r.Std)
		}
	}
	return rgb.Fit{Size: size, Short: r.Short, Filter: r.Filter}.Check()
}

// Fit is how images become what the network is given.
func (o Origin) Fit() rgb.Fit {
	f := rgb.Fit{Size: o.Size}
	if o.ONNX != nil {
		f.Short, f.Filter = o.ONNX.Short, o.ONNX.Filter
	}
	return f
}
