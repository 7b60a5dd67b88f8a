package rgb

import (
	"fmt"
	"math"
	"sync"
	"sync/atomic"
)

// Resize returns the image resized to w by h pixels, without keeping the aspect ratio: Pillow's
// resize((w, h), BILINEAR), bit for bit. When an axis shrinks by a factor s, the triangle filter
// is s times wider (antialiasing). Rows are resized first and rounded to 8 bits, then columns;
// weights have 22 fractional bits. It panics if a side is below 1.
func (m *Image) Resize(w, h int) *Image {
	dst := New(w, h)
	m.ResizeInto(dst)
	return dst
}

// ResizeInto is Resize to the size of dst, which is overwritten. The images must not share
// pixels.
func (m *Image) ResizeInto(dst *Image) { m.resizeInto(dst, Bilinear) }

func (m *Image) resizeInto(dst *Image, f Filter) { m.partInto(dst, dst.Width, dst.Height, 0, 0, f) }

// partInto writes a part of m scaled to w x h pixels to dst: the one of dst's size at (left, top).
// Of the rest, nothing is computed. Memory beyond m and dst is at most of their size.
func (m *Image) partInto(dst *Image, w, h, left, top int, f Filter) {
	if m.Width < 1 || m.Height < 1 || len(m.Pix) != 3*m.Width*m.Height {
		panic(fmt.Sprintf("rgb: Resize: source of %d x %d pixels has %d bytes", m.Width, m.Height, len(m.Pix)))
	}
	if dst.Width < 1 || dst.Height < 1 || len(dst.Pix) != 3*dst.Width*dst.Height {
		panic(fmt.Sprintf("rgb: Resize: destination of %d x %d pixels has %d bytes", dst.Width, dst.Height, len(dst.Pix)))
	}
	across, down := axis{m.Width, w, left, left + dst.Width, f}, axis{m.Height, h, top, top + dst.Height, f}
	if m.Width == 1 && dst.Width > 1 { // all columns are equal
		column := scratch(1, dst.Height)
		defer scratchPool.Put(column)
		m.partInto(column, 1, h, 0, top, f)
		resizeRows(dst, column, across)
		return
	}
	if down.same() {
		resizeRows(dst, m, across)
		return
	}
	s := strip{src: m, across: across, last: down.end(down.hi - 1)}
	if s.rows = s.last - down.start(down.lo); across.same() {
		s.wide = m
		s.to = m.Height
	} else {
		if most := max(m.Width*m.Height, dst.Width*dst.Height, 1<<20) / dst.Width; s.rows > most {
			s.rows = max(1, most)
		}
		s.wide = scratch(dst.Width, s.rows)
		defer scratchPool.Put(s.wide)
	}
	resizeColumns(dst, &s, down)
}

// scratchPool keeps the images between the two passes.
var scratchPool = sync.Pool{New: func() any { return new(Image) }}

// scratch returns an image of w by h pixels with arbitrary content.
func scratch(w, h int) *Image {
	return scratchPool.Get().(*Image).Reset(w, h)
}

const (
	fractionBits = 22
	half         = 1 << (fractionBits - 1)
)

// axis scales a line of in pixels to out pixels, of which those from lo to hi are computed.
type axis struct {
	in, out, lo, hi int
	filter          Filter
}

// same reports whether the line stays as it is.
func (a axis) same() bool { return a.in == a.out && a.lo == 0 && a.hi == a.out }

// kernel holds the weights of an axis: output pixel lo+i is the sum over j of
// weights[taps*i+j] * input[first[i]+j], for j below count[i].
type kernel struct {
	taps         int
	first, count []int
	weights      []int32
	// beyond is true if there are negative weights, so that sums leave the range of bytes.
	beyond bool
}

// maxWeights bounds the weights that are in memory at a time, but for one output pixel's.
const maxWeights = 1 << 20

// kernels calls f with the axis in pieces, each with its kernel.
func (a axis) kernels(f func(a axis, k *kernel)) {
	_, support, _ := a.support()
	piece := max(1, maxWeights/(2*int(support)+3))
	for lo := a.lo; lo < a.hi; lo += piece {
		part := a
		part.lo, part.hi = lo, min(lo+piece, a.hi)
		f(part, kernelOf(part))
	}
}

// limit is a sum as a byte.
func limit(v int32) uint8 { return uint8(min(max(v>>fractionBits, 0), 255)) }

// resizeRows scales every row of src to the width of dst.
func resizeRows(dst, src *Image, a axis) {
	if a.same() {
		copy(dst.Pix, src.Pix)
		return
	}
	a.kernels(func(part axis, k *kernel) {
		for y := range src.Height {
			in := src.Pix[3*src.Width*y:][:3*src.Width]
			out := dst.Pix[3*(dst.Width*y+part.lo-a.lo):][:3*(part.hi-part.lo)]
			k.row(out, in)
		}
	})
}

// row writes the outputs of a kernel over a row of pixels.
func (k *kernel) row(out, in []uint8) {
	for x := range k.first {
		weights := k.weights[k.taps*x:][:k.count[x]]
		p := in[3*k.first[x]:][:3*len(weights)]
		if len(weights) == 2 && !k.beyond { // enlarging: nearly all pixels
			v, w := weights[0], weights[1]
			q, o := p[:6], out[3*x:][:3]
			o[0] = uint8((half + int32(q[0])*v + int32(q[3])*w) >> fractionBits)
			o[1] = uint8((half + int32(q[1])*v + int32(q[4])*w) >> fractionBits)
			o[2] = uint8((half + int32(q[2])*v + int32(q[5])*w) >> fractionBits)
			continue
		}
		r, g, b := int32(half), int32(half), int32(half)
		for _, w := range weights {
			r += int32(p[0]) * w
			g += int32(p[1]) * w
			b += int32(p[2]) * w
			p = p[3:]
		}
		o := out[3*x:][:3]
		if k.beyond {
			o[0], o[1], o[2] = limit(r), limit(g), limit(b)
			continue
		}
		o[0] = uint8(r >> fractionBits)
		o[1] = uint8(g >> fractionBits)
		o[2] = uint8(b >> fractionBits)
	}
}

// strip holds some rows of src, scaled across.
type strip struct {
	src    *Image
	across axis
	wide   *Image
	// Rows from from to to are in wide; at most rows are, and none from last on is needed.
	from, to, rows, last int
}

// at returns row y and those behind it that are there, at most n.
func (s *strip) at(y, n int) []uint8 {
	if y < s.from || y >= s.to {
		s.from, s.to = y, min(y+s.rows, s.last)
		part := Image{s.src.Width, s.to - y, s.src.Pix[3*s.src.Width*y : 3*s.src.Width*s.to]}
		resizeRows(s.wide, &part, s.across)
	}
	row := 3 * s.wide.Width
	return s.wide.Pix[row*(y-s.from) : row*(min(y+n, s.to)-s.from)]
}

// resizeColumns scales every column of a strip to the height of dst.
func resizeColumns(dst *Image, src *strip, a axis) {
	n := 3 * dst.Width
	sums := make([]int32, n)
	a.kernels(func(part axis, k *kernel) {
		for y := range k.first {
			weights := k.weights[k.taps*y:][:k.count[y]]
			out := dst.Pix[n*(part.lo-a.lo+y):][:n]
			rows := src.at(k.first[y], len(weights))
			if len(weights) == 2 && !k.beyond && len(rows) == 2*n { // enlarging: nearly all rows
				v, w := weights[0], weights[1]
				a, b := rows[:n], rows[n:]
				for i := range a {
					out[i] = uint8((half + int32(a[i])*v + int32(b[i])*w) >> fractionBits)
				}
				continue
			}
			for i := range sums {
				sums[i] = half
			}
			for j, w := range weights {
				if len(rows) == 0 {
					rows = src.at(k.first[y]+j, len(weights)-j)
				}
				in := rows[:len(sums)]
				for i := range sums {
					sums[i] += int32(in[i]) * w
				}
				rows = rows[n:]
			}
			if k.beyond {
				for i, v := range sums {
					out[i] = limit(v)
				}
				continue
			}
			for i := range sums {
				out[i] = uint8(sums[i] >> fractionBits)
			}
		}
	})
}

// kernels remembers the kernels of the first maxKernels pairs of lengths. A run
// uses a handful; a folder of photographs, each of its own size, does not grow
// the table without end.
var (
	kernels     sync.Map // axis to *kernel
	kernelCount atomic.Int64
)

const maxKernels = 256

func kernelOf(a axis) *kernel {
	if k, ok := kernels.Load(a); ok {
		return k.(*kernel)
	}
	k := newKernel(a)
	if len(k.weights) <= maxWeights/8 && kernelCount.Load() < maxKernels {
		if _, had := kernels.LoadOrStore(a, k); !had {
			kernelCount.Add(1)
		}
	}
	return k
}

// support returns the filter's weight of distances, how many input pixels it reaches to each
// side of an output pixel, and the factor by which the axis shrinks.
func (a axis) support() (weight func(d float64) float64, support, scale float64) {
	weight, radius := a.filter.function()
	scale = float64(a.in) / float64(a.out)
	return weight, max(scale, 1) * radius, scale
}

// start is the first input pixel of output pixel i, and end the one behind the last. The order
// of operations follows Pillow's precompute_coeffs; conversions to float64 keep the compiler from
// fusing a product with a sum.
func (a axis) start(i int) int {
	_, support, scale := a.support()
	return max(0, int(float64((float64(i)+0.5)*scale)-support+0.5))
}

func (a axis) end(i int) int {
	_, support, scale := a.support()
	return min(a.in, int(float64((float64(i)+0.5)*scale)+support+0.5))
}

// newKernel computes the weights of an axis, as Pillow does.
func newKernel(a axis) *kernel {
	weight, support, scale := a.support()
	n := a.hi - a.lo
	k := &kernel{
		beyond: a.filter != "" && a.filter != Bilinear,
		taps:   min(int(math.Ceil(support))*2+1, a.in),
		first:  make([]int, n),
		count:  make([]int, n),
	}
	k.weights = make([]int32, k.taps*n)
	exact := make([]float64, k.taps)
	inverse := 1 / max(scale, 1)
	for i := range n {
		center := float64((float64(a.lo+i) + 0.5) * scale)
		first := a.start(a.lo + i)
		count := a.end(a.lo+i) - first
		var sum float64
		for j := range count {
			exact[j] = weight(math.Abs(float64((float64(j+first) - center + 0.5) * inverse)))
			sum += exact[j]
		}
		for j := range count {
			k.weights[k.taps*i+j] = int32(math.Copysign(0.5, exact[j]) + float64(exact[j]/sum*(1<<fractionBits)))
		}
		k.first[i], k.count[i] = first, count
	}
	return k
}
