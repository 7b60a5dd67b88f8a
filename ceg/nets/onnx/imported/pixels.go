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
	kind, width int // the element type and its bytes
	from        [3]int
	number      [3][256]uint32
}

// newPixels returns the table for an input of a type, normalised like [nets.Normalise].
func newPixels(kind int, r datasets.Reading) *pixels {
	p := &pixels{kind: kind, width: map[int]int{onnxpb.Uint8: 1, onnxpb.Float16: 2, onnxpb.BFloat16: 2, onnxpb.Float32: 4}[kind], from: [3]int{0, 1, 2}}
	if r.BGR {
		p.from = [3]int{2, 1, 0}
	}
	for c, from := range p.from {
		scale, shift := float32(1/(255*r.Std[from])), float32(-r.Mean[from]/r.Std[from])
		for i := range 256 {
			x := float32(float32(i)*scale) + shift
			switch kind {
			case onnxpb.Uint8:
				p.number[c][i] = uint32(max(0, min(math.Round(float64(x)), 255)))
			case onnxpb.Float16:
				p.number[c][i] = uint32(half.Bits(x))
			case onnxpb.BFloat16: // round to nearest, ties to even
				bits := math.Float32bits(x)
				p.number[c][i] = (bits + 0x7fff + bits>>16&1) >> 16
			default:
				p.number[c][i] = math.Float32bits(x)
			}
		}
	}
	return p
}

// fill encodes images of the given number of pixels, channels first or last.
func (p *pixels) fill(images []byte, area int, last bool) []byte {
	data := make([]byte, len(images)*p.width)
	for image, at := images, 0; len(image) > 0; image, at = image[3*area:], at+3*area {
		for c, from := range p.from {
			first, step := at+c*area, 1
			if last {
				first, step = at+c, 3
			}
			number := &p.number[c]
			for i := range area {
				to, v := first+i*step, number[image[3*i+from]]
				switch p.width {
				case 4:
					binary.NativeEndian.PutUint32(data[4*to:], v)
				case 2:
					binary.NativeEndian.PutUint16(data[2*to:], uint16(v))
				default:
					data[to] = byte(v)
				}
			}
		}
	}
	return data
}
