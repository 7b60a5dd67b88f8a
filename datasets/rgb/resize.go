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

func (m *Image) resizeInto(dst *Image, f Filter) {
	if m.Width < 1 || m.Height < 1 || len(m.Pix) != 3*m.Width*m.Height {
		panic(fmt.Sprintf("rgb: Resize: source of %d x %d pixels has %d bytes", m.Width, m.Height, len(m.Pix)))
	}
	if dst.Width < 1 || dst.Height < 1 || len(dst.Pix) != 3*dst.Width*dst.Height {
		panic(fmt.Sprintf("rgb: Resize: destination of %d x %d pixels has %d bytes", dst.Width, dst.Height, len(dst.Pix)))
	}
	src := m
	if dst.Width != src.Width {
		if dst.Height == src.Height {
			resizeRows(dst, src, f)
			return
		}
		wide := scratch(dst.Width, src.Height)
		defer scratchPool.Put(wide)
		resizeRows(wide, src, f)
		src = wide
	}
	if dst.Height != src.Height {
		resizeColumns(dst, src, f)
		return
	}
	copy(dst.Pix, src.Pix)
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

// kernel holds the weights of one axis: output pixel i is the sum over j of
// weights[taps*i+j] * input[first[i]+j], for j below count[i].
type kernel struct {
	taps         int
	first, count []int
	weights      []int32
	// beyond is true if there are negative weights, so that sums leave the range of bytes.
	beyond bool
}

// limit is a sum as a byte.
func limit(v int32) uint8 { return uint8(min(max(v>>fractionBits, 0), 255)) }

// resizeRows scales every row of src to the width of dst.
func resizeRows(dst, src *Image, f Filter) {
	k := kernelOf(src.Width, dst.Width, f)
	for y := range src.Height {
		in := src.Pix[3*src.Width*y:][:3*src.Width]
		out := dst.Pix[3*dst.Width*y:][:3*dst.Width]
		for x := range dst.Width {
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
}

// resizeColumns scales every column of src to the height of dst.
func resizeColumns(dst, src *Image, f Filter) {
	k := kernelOf(src.Height, dst.Height, f)
	n := 3 * dst.Width
	sums := make([]int32, n)
	for y := range dst.Height {
		weights := k.weights[k.taps*y:][:k.count[y]]
		if len(weights) == 2 && !k.beyond { // enlarging: nearly all rows
			v, w := weights[0], weights[1]
			a := src.Pix[n*k.first[y]:][:n]
			b := src.Pix[n*(k.first[y]+1):][:len(a)]
			out := dst.Pix[n*y:][:len(a)]
			for i := range a {
				out[i] = uint8((half + int32(a[i])*v + int32(b[i])*w) >> fractionBits)
			}
			continue
		}
		for i := range sums {
			sums[i] = half
		}
		for j, w := range weights {
			in := src.Pix[n*(k.first[y]+j):][:len(sums)]
			for i := range sums {
				sums[i] += int32(in[i]) * w
			}
		}
		out := dst.Pix[n*y:][:len(sums)]
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
}

// kernels remembers the kernels of the first maxKernels pairs of lengths. A run
// uses a handful; a folder of photographs, each of its own size, does not grow
// the table without end.
var (
	kernels     sync.Map // kernelKey to *kernel
	kernelCount atomic.Int64
)

const maxKernels = 256

type kernelKey struct {
	in, out int
	filter  Filter
}

func kernelOf(in, out int, f Filter) *kernel {
	key := kernelKey{in, out, f}
	if k, ok := kernels.Load(key); ok {
		return k.(*kernel)
	}
	k := newKernel(in, out, f)
	if kernelCount.Load() < maxKernels {
		if _, had := kernels.LoadOrStore(key, k); !had {
			kernelCount.Add(1)
		}
	}
	return k
}

// newKernel computes the weights that scale a line of in pixels to out pixels.
// The order of operations follows Pillow's precompute_coeffs; conversions to
// float64 keep the compiler from fusing a product with a sum.
func newKernel(in, out int, f Filter) *kernel {
	scale := float64(in) / float64(out)
	weight, radius := f.function()
	support := max(scale, 1) * radius
	k := &kernel{
		beyond: radius > 1,
		taps:   int(math.Ceil(support))*2 + 1,
		first:  make([]int, out),
		count:  make([]int, out),
	}
	k.weights = make([]int32, k.taps*out)
	exact := make([]float64, k.taps)
	inverse := 1 / max(scale, 1)
	for i := range out {
		center := float64((float64(i) + 0.5) * scale)
		first := max(0, int(center-support+0.5))
		count := min(in, int(center+support+0.5)) - first
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
