package direct

// A depthwise convolution reads planes: 32 channels of the maps of an image with zeros around
// them, so that all outputs read the same taps. The pixels of a plane are slice values apart.

// bordered is how a map lies in its plane.
type bordered struct {
	h, w          int // of the map
	height, width int // of the plane
	top, left     int // of the map in it
}

// size is the number of values of a plane.
func (p *bordered) size() int { return p.height * p.width * slice }

// from returns the pixels of a map from a row on, in a plane of some.
func (p *bordered) from(planes []float32, at, row int) view {
	return view{planes[at*p.size()+((p.top+row)*p.width+p.left)*slice:], slice}
}

// sweep are rows by cols pixels of a map that read the same taps of a plane. Distances are
// numbers of pixels.
type sweep struct {
	to, step, row    int // the first one, and from one to the next, and to the next row
	from, move, fall int // the same for their inputs
	rows, cols       int
	taps             []tap
	// Weights are channels apart. These are the taps in bytes, of the value and of the
	// weight, and the farthest of either.
	channels             int
	bytes                []int
	farthest, lastWeight int
}

// tap is what an output reads: a value at an offset in pixels after the first, and the row of its
// weight.
type tap struct{ at, weight int }

// windows is a depthwise convolution.
type windows struct {
	in, out bordered // of the maps that it reads, and of the gradients of those that it makes
	forth   *sweep
	back    []*sweep
}

// newWindows returns a convolution of maps of h by w pixels and the given numbers of channels. The
// first window begins top and left pixels before the first pixel.
func newWindows(channels, h, w, outH, outW, kernel, stride, top, left int) windows {
	// The gradient at i is a sum over weights k of the gradient of output (i+top-k)/stride, where
	// this is an integer: output (i+top)/stride and the few before it.
	before := (kernel+stride-1)/stride - 1
	m := windows{
		in:  bordered{h, w, max((outH-1)*stride+kernel, top+h), max((outW-1)*stride+kernel, left+w), top, left},
		out: bordered{outH, outW, before + max(outH, (top+h-1)/stride+1), before + max(outW, (left+w-1)/stride+1), before, before},
	}
	forth := sweep{step: 1, row: outW, move: stride, fall: stride * m.in.width, rows: outH, cols: outW}
	for y := range kernel {
		for x := range kernel {
			forth.taps = append(forth.taps, tap{y*m.in.width + x, y*kernel + x})
		}
	}
	m.forth = forth.done(channels)
	for y := range min(stride, h) {
		for x := range min(stride, w) {
			s := sweep{to: y*w + x, step: stride, row: stride * w, from: (y+top)/stride*m.out.width + (x+left)/stride,
				move: 1, fall: m.out.width, rows: (h-y-1)/stride + 1, cols: (w-x-1)/stride + 1}
			for ky := (y + top) % stride; ky < kernel; ky += stride {
				for kx := (x + left) % stride; kx < kernel; kx += stride {
					s.taps = append(s.taps, tap{(before-ky/stride)*m.out.width + before - kx/stride, ky*kernel + kx})
				}
			}
			m.back = append(m.back, s.done(channels))
		}
	}
	return m
}

func (s sweep) done(channels int) *sweep {
	s.channels = channels
	for _, t := range s.taps {
		s.farthest, s.lastWeight = max(s.farthest, t.at), max(s.lastWeight, t.weight)
		s.bytes = append(s.bytes, 4*slice*t.at, 4*channels*t.weight)
	}
	return &s
}

// weighGeneric sets channels of the pixels of a sweep to sums over taps of weight times value.
func (s *sweep) weighGeneric(dst view, src, weights []float32, channels int) {
	for y := range s.rows {
		for x := range s.cols {
			to, from := dst.v[(s.to+y*s.row+x*s.step)*dst.stride:], src[(s.from+y*s.fall+x*s.move)*slice:]
			for c := range channels {
				sum := float32(0)
				for _, t := range s.taps {
					sum += from[t.at*slice+c] * weights[t.weight*s.channels+c]
				}
				to[c] = sum
			}
		}
	}
}

// unweighGeneric adds the contributions of pixel gradients to the gradients of weights. The pixels
// lie in rows of a plane of the given width.
func (s *sweep) unweighGeneric(dy []float32, width int, src, weights []float32, channels int) {
	for _, t := range s.taps {
		for c := range channels {
			sum := float32(0)
			for y := range s.rows {
				for x := range s.cols {
					sum += dy[(y*width+x)*slice+c] * src[(s.from+y*s.fall+x*s.move+t.at)*slice+c]
				}
			}
			weights[t.weight*s.channels+c] += sum
		}
	}
}
