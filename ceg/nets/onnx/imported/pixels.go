package imported

import (
	"encoding/binary"
	"math"

	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/half"
)

// pixels is a lookup table: for each input channel, the image channel and the encoded numbers for
// the 256 pixel values.
type pixels struct {
	kind   int // the element type
	from   [3]int
	number [3][256][]byte
}

// newPixels returns the table for an input of a type, normalised like [nets.Normalise].
func newPixels(kind int, r datasets.Reading) *pixels {
	p := &pixels{kind: kind, from: [3]int{0, 1, 2}}
	if r.BGR {
		p.from = [3]int{2, 1, 0}
	}
	for c, from := range p.from {
		scale, shift := float32(1/(255*r.Std[from])), float32(-r.Mean[from]/r.Std[from])
		for i := range 256 {
			x := float32(float32(i)*scale) + shift
			bits := math.Float32bits(x)
			switch to := &p.number[c][i]; kind {
			case onnxpb.Uint8:
				*to = []byte{byte(max(0, min(math.Round(float64(x)), 255)))}
			case onnxpb.Float16:
				*to = binary.NativeEndian.AppendUint16(nil, half.Bits(x))
			case onnxpb.BFloat16: // round to nearest, ties to even
				*to = binary.NativeEndian.AppendUint16(nil, uint16((bits+0x7fff+bits>>16&1)>>16))
			default:
				*to = binary.NativeEndian.AppendUint32(nil, bits)
			}
		}
	}
	return p
}

// fill encodes images of the given number of pixels, channels first or last.
func (p *pixels) fill(images []byte, area int, last bool) []byte {
	width := len(p.number[0][0])
	data := make([]byte, len(images)*width)
	for image, at := images, 0; len(image) > 0; image, at = image[3*area:], at+3*area {
		for c, from := range p.from {
			first, step := at+c*area, 1
			if last {
				first, step = at+c, 3
			}
			for i := range area {
				copy(data[(first+i*step)*width:], p.number[c][image[3*i+from]])
			}
		}
	}
	return data
}
