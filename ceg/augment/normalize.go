package augment

import "github.com/ledg-go/ledg/datasets/rgb"

// Mean and Std are the ImageNet statistics of red, green and blue on the scale
// [0, 1], with which every network input is normalised.
var (
	Mean = [3]float32{0.485, 0.456, 0.406}
	Std  = [3]float32{0.229, 0.224, 0.225}
)

// Normalize returns (x/255 - Mean)/Std of every value of src, channel first: the
// value of channel c at (x, y) is at index (c*Height + y)*Width + x.
func Normalize(src *rgb.Image) []float32 {
	plane := src.Width * src.Height
	dst := make([]float32, 3*plane)
	for c := range 3 {
		for i := range plane {
			dst[c*plane+i] = (float32(src.Pix[3*i+c])/255 - Mean[c]) / Std[c]
		}
	}
	return dst
}
