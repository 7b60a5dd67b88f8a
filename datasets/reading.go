package datasets

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// Poolings of a network's output tokens to one vector: the class token, which is the first; the
// mean of all tokens; the mean of the patch tokens, which are the last ones and whose number is
// a square.
const (
	ClassToken  = "cls"
	MeanToken   = "mean"
	PatchTokens = "patches"
)

// Pools lists the poolings of tokens.
var Pools = []string{ClassToken, MeanToken, PatchTokens}

// Reading describes the input preprocessing and the output of an ONNX network.
type Reading struct {
	// Short and Filter are as in the images' [rgb.Fit].
	Short  int        `json:"short,omitempty"`
	Filter rgb.Filter `json:"filter,omitempty"`
	// Mean and Std normalise the channels red, green and blue, for values in [0, 1].
	Mean [3]float64 `json:"mean"`
	Std  [3]float64 `json:"std"`
	// BGR reverses the order of channels.
	BGR bool `json:"bgr,omitempty"`
	// Output names the network's output, and Pool its pooling, one of Pools; empty for an output
	// without tokens.
	Output string `json:"output,omitempty"`
	Pool   string `json:"pool,omitempty"`
}

// Check returns an error if the reading is invalid for images of the given size.
func (r Reading) Check(size int) error {
	for i, v := range r.Std {
		if !(v > 0) || math.IsInf(v, 0) || math.IsNaN(r.Mean[i]) || math.IsInf(r.Mean[i], 0) {
			return fmt.Errorf("mean %v and standard deviation %v: want numbers, the latter above 0", r.Mean, r.Std)
		}
	}
	return rgb.Fit{Size: size, Short: r.Short, Filter: r.Filter}.Check()
}

// Fit returns how images are resized and cropped for the network.
func (o Origin) Fit() rgb.Fit {
	f := rgb.Fit{Size: o.Size}
	if o.ONNX != nil {
		f.Short, f.Filter = o.ONNX.Short, o.ONNX.Filter
	}
	return f
}
