package imported

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/ort"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/half"
)

// ExecRuntime prepares the network for ONNX Runtime, for images preprocessed by r. Each Run uses
// the given number of threads, and Runs may be concurrent. The file's operations are passed on
// unchanged.
func (n *Network) ExecRuntime(rt *engine.Runtime, threads, size int, r datasets.Reading) (*Exec, error) {
	if err := n.room(size); err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(filepath.Dir(n.Path))
	if err != nil {
		return nil, err
	}
	s, err := rt.Open(n.source(), ort.Options{Threads: threads, Folder: folder})
	if err != nil {
		return nil, fmt.Errorf("%s: ONNX Runtime: %w", n.Path, err)
	}
	for _, b := range n.sizes() {
		x := &Exec{Batch: b, Size: size, Concurrent: true, path: n.Path, close: s.Close}
		x.run = n.runner(s, b, size, r)
		if err = x.try(); err == nil {
			return x, nil
		}
	}
	s.Close()
	return nil, fmt.Errorf("%s: %w", n.Path, err)
}

// runner returns a function that computes the features of a batch of images.
func (n *Network) runner(s *ort.Session, batch, size int, r datasets.Reading) func(images []byte) ([]float32, error) {
	p := newPixels(n.input.kind, r)
	dims := []int64{int64(batch), 3, int64(size), int64(size)}
	if n.last {
		dims = []int64{int64(batch), int64(size), int64(size), 3}
	}
	inputs := sync.Pool{New: func() any { return new([]byte) }}
	return func(images []byte) ([]float32, error) {
		data := inputs.Get().(*[]byte)
		defer inputs.Put(data)
		*data = p.fill((*data)[:0], images, size*size, n.last)
		y, err := s.Run(n.input.name, n.Output, ort.Tensor{Kind: n.input.kind, Dims: dims, Data: *data})
		if err != nil {
			return nil, fmt.Errorf("ONNX Runtime: %w", err)
		}
		d := make([]int, len(y.Dims))
		for i, v := range y.Dims {
			d[i] = int(v)
		}
		t, err := take(d, batch, n.Output, r)
		if err != nil {
			return nil, err
		}
		return t.of(floatsOf(y), d), nil
	}
}

// floatsOf decodes an output.
func floatsOf(y ort.Tensor) []float32 {
	if y.Kind != ort.Float32 {
		y.Data = widen(y.Data, y.Kind)
	}
	v := make([]float32, len(y.Data)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.NativeEndian.Uint32(y.Data[4*i:]))
	}
	return v
}

// pixels is a lookup table: for each input channel, the image channel and the encoded numbers for
// the 256 pixel values.
type pixels struct {
	width  int // in bytes
	from   [3]int
	number [3][256]uint32
}

// newPixels returns the table for an input of a type, normalised like [nets.Normalise].
func newPixels(kind int, r datasets.Reading) *pixels {
	p := &pixels{width: int(width(kind)), from: [3]int{0, 1, 2}}
	if r.BGR {
		p.from = [3]int{2, 1, 0}
	}
	for c, from := range p.from {
		scale, shift := float32(1/(255*r.Std[from])), float32(-r.Mean[from]/r.Std[from])
		for i := range 256 {
			x := float32(float32(i)*scale) + shift
			switch kind {
			case uint8Type:
				p.number[c][i] = uint32(max(0, min(math.Round(float64(x)), 255)))
			case float16Type:
				p.number[c][i] = uint32(half.Bits(x))
			case bfloat16Type: // round to nearest, ties to even
				bits := math.Float32bits(x)
				p.number[c][i] = (bits + 0x7fff + bits>>16&1) >> 16
			default:
				p.number[c][i] = math.Float32bits(x)
			}
		}
	}
	return p
}

// fill overwrites data with encoded images of the given number of pixels, channels first or last.
func (p *pixels) fill(data, images []byte, area int, last bool) []byte {
	if need := len(images) * p.width; cap(data) < need {
		data = make([]byte, need)
	} else {
		data = data[:need]
	}
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

// source encodes the part of the file that the output depends on, unchanged.
func (n *Network) source() []byte {
	g := n.graph
	type field struct {
		number protowire.Number
		data   []byte
	}
	var fields []field
	for _, x := range g.original {
		fields = append(fields, field{1, x.source})
	}
	for _, t := range g.weights {
		fields = append(fields, field{5, t.source})
	}
	output := message(n.output.source)
	if output == nil {
		output.text(1, n.Output)
	}
	fields = append(fields, field{11, n.input.source}, field{12, output})
	size := len(g.rest)
	for _, f := range fields {
		size += protowire.SizeTag(f.number) + protowire.SizeBytes(len(f.data))
	}
	m := make(message, 0, len(g.head)+size+32)
	m.number(1, max(g.version, 4)) // from this version on, weights need not be inputs
	m = append(m, g.head...)
	m = protowire.AppendVarint(protowire.AppendTag(m, 7, protowire.BytesType), uint64(size))
	m = append(m, g.rest...)
	for _, f := range fields {
		m.bytes(f.number, f.data)
	}
	return m
}
