package native

import (
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
)

// How XLA convolves on a CPU, measured on two cores with AVX-512 and 2 MB of
// second cache each (PJRT 0.115, 240 images, float32, billions of operations a
// second; the peak of a matrix product is 400), with an allocator that keeps large
// blocks, as package engine does. BenchmarkConvolution measures XLA's own and the rule again; on a
// slower machine, whose peak is 260, all of it was in proportion.
//
//	forward                   16x16x64  8x8x128  4x4x256  4x4x512  2x2x512
//	XLA's convolution              395      340      177      100        4
//	in parts of the kernel                           359      347
//	product over columns            54       87      280      295      306
//	product over whole maps                                            559
//
//	gradient of the kernel    16x16x64  8x8x128  4x4x256  2x2x512  3 to 64, 32x32
//	XLA's convolution               80       83      114      379       35
//	in chunks of 2 MB              112      151      168                68
//	in chunks of 1 MB              217      274      299      339       97
//	in chunks of 1/4 MB            147      227      234
//
// XLA's convolution is a matrix product (YNNPACK's) that cuts its left side out of
// the maps as it goes and reads the kernel as its right side, over and over: it is
// as fast as a product while that stays in a core's cache, and several times slower
// when it does not. Hence the rule:
//
//   - maps that the kernel covers from everywhere (2x2 under 3x3, 1x1) are vectors,
//     and the convolution one matrix product: no tap is wasted on padding;
//   - 1x1 kernels, and outputs of less than 3 rows or columns, are products over
//     columns, which are few then;
//   - any other convolution is in parts of the output channels, of kernelBytes of
//     the kernel each, but at least 64 channels;
//   - the gradient of the images is a convolution of the output's gradient, with a
//     stride one for every residue class (4x4 to 2x2, 256 to 512: 145 where XLA's own
//     has 5);
//   - the gradient of the kernel is a sum over chunks of chunkBytes of the output's
//     gradient, which is the kernel there; with a stride it is a product over columns,
//     or with few channels (the first layer) one over 2x2 blocks of pixels as
//     channels (7x7, 3 to 64: 142 where XLA's own has 56).
//
// Measured alternatives that did not help the kernel's gradient: rows of the maps beside the
// images in what the product sums over, so that it sums over runs of hundreds of values and not of
// the images of a chunk alone (0.6 to 0.95 of the speed, since the maps must be copied for every
// row of the kernel), chunks of 1/2 MB (0.7 to 1.0), and products over columns (0.3 to 0.9).
const (
	kernelBytes = 600 << 10
	chunkBytes  = 1 << 20
	// unrolled is from how many chunks on they are a loop: that is up to a third
	// slower, but each takes the compiler some 40 ms otherwise.
	unrolled = 16
	// fewChannels is from how many channels on columns are worth their memory.
	fewChannels = 16
)

// window is the geometry of a convolution from [images, h, w, in] to
// [images, ho, wo, out].
type window struct {
	images, h, w, in  int
	ho, wo, out       int
	side, stride, pad int // of the kernel
}

// convolveCPU convolves x [images, h, w, in] with kernel [side, side, in, out].
func convolveCPU(x, kernel *Node, stride, pad int) *Node {
	d, k := x.Shape().Dimensions, kernel.Shape().Dimensions
	g := window{images: d[0], h: d[1], w: d[2], in: d[3], out: k[3], side: k[0], stride: stride, pad: pad}
	g.ho, g.wo = (g.h+2*pad-g.side)/stride+1, (g.w+2*pad-g.side)/stride+1
	forward, imageGradient, kernelGradient := g.forward, g.imageGradient, g.kernelGradient
	if g.tiny() {
		forward, imageGradient, kernelGradient = g.tinyForward, g.tinyImageGradient, g.tinyKernelGradient
	}
	return withGradients(func(in ...*Node) *Node { return forward(in[0], in[1]) }, []*Node{x, kernel},
		func(_, dy *Node) *Node { return imageGradient(dy, kernel) },
		func(_, dy *Node) *Node { return kernelGradient(x, dy) })
}

// forward is the convolution, of a map that is not tiny.
func (g window) forward(x, kernel *Node) *Node {
	return correlate(x, kernel, g.stride, [][2]int{{g.pad, g.pad}, {g.pad, g.pad}})
}

// imageGradient is the gradient of the images, given the gradient of the output. The pixels of
// each residue class of rows and columns are a separate correlation, with the taps of the kernel
// that reach them.
func (g window) imageGradient(dy, kernel *Node) *Node {
	kernel = TransposeAllAxes(kernel, 0, 1, 3, 2)
	jh, jw := (g.h+g.stride-1)/g.stride, (g.w+g.stride-1)/g.stride
	var rows []*Node
	for a := range g.stride {
		var columns []*Node
		for b := range g.stride {
			ky, py := g.reaching(kernel, 0, a, g.ho, jh)
			if ky == nil {
				columns = append(columns, nil)
				continue
			}
			kx, px := g.reaching(ky, 1, b, g.wo, jw)
			if kx == nil {
				columns = append(columns, nil)
				continue
			}
			columns = append(columns, correlate(dy, kx, 1, [][2]int{py, px}))
		}
		rows = append(rows, interleave(columns, 2, jw))
	}
	dx := interleave(rows, 1, jh)
	return Slice(dx, AxisRange(), AxisRange(0, g.h), AxisRange(0, g.w), AxisRange())
}

// reaching returns the taps of a kernel, along one of its axes and in reverse, that
// reach the pixels of residue a, and the padding at which they are correlated with
// the output's size pixels to give count ones; nil where there is none.
func (g window) reaching(kernel *Node, axis, a, size, count int) (*Node, [2]int) {
	first, shift := (a+g.pad)%g.stride, (a+g.pad)/g.stride
	if first >= g.side {
		return nil, [2]int{}
	}
	taps := (g.side - first + g.stride - 1) / g.stride
	k := Reverse(SliceAxis(kernel, axis, AxisRange(first).Stride(g.stride)), axis)
	return k, [2]int{taps - 1 - shift, count - size + shift}
}

// interleave deals the pixels of equally large maps out in turn along an axis; nil
// stands for zeros, and is the result where all are nil.
func interleave(maps []*Node, axis, count int) *Node {
	if len(maps) == 1 {
		return maps[0]
	}
	var some *Node
	for _, m := range maps {
		if m != nil {
			some = m
		}
	}
	if some == nil {
		return nil
	}
	for i, m := range maps {
		if m == nil {
			maps[i] = ZerosLike(some)
		}
	}
	d := append([]int{}, some.Shape().Dimensions...)
	d[axis] = count * len(maps)
	return Reshape(Stack(maps, axis+1), d...)
}

// kernelGradient is the gradient of the kernel [side, side, in, out].
func (g window) kernelGradient(x, dy *Node) *Node {
	switch {
	case g.side == 1 && g.pad == 0, g.stride > 1 && g.in >= fewChannels:
		c := columns(x, g.side, g.side, g.stride, [][2]int{{g.pad, g.pad}, {g.pad, g.pad}})
		return Reshape(product(c, dy), g.side, g.side, g.in, g.out)
	case g.stride > 1:
		return g.phasesKernelGradient(x, dy)
	}
	return g.chunkedKernelGradient(x, dy)
}

// phasesKernelGradient is the kernelGradient of a convolution with a stride s: of
// one without, from maps whose channels are the s x s pixels of a block.
func (g window) phasesKernelGradient(x, dy *Node) *Node {
	s := g.stride
	p := window{images: g.images, in: s * s * g.in, ho: g.ho, wo: g.wo, out: g.out, side: (g.side + s - 1) / s, stride: 1}
	p.h, p.w = g.ho+p.side-1, g.wo+p.side-1
	zero := ScalarZero(x.Graph(), x.DType())
	x = Pad(x, zero, PadAxis{}, PadAxis{Start: g.pad, End: s*p.h - g.pad - g.h}, PadAxis{Start: g.pad, End: s*p.w - g.pad - g.w}, PadAxis{})
	x = Reshape(x, g.images, p.h, s, p.w, s, g.in)
	x = Reshape(TransposeAllAxes(x, 0, 1, 3, 2, 4, 5), p.images, p.h, p.w, p.in)
	dk := Reshape(p.chunkedKernelGradient(x, dy), p.side, p.side, s, s, g.in, g.out)
	dk = Reshape(TransposeAllAxes(dk, 0, 2, 1, 3, 4, 5), s*p.side, s*p.side, g.in, g.out)
	return Slice(dk, AxisRange(0, g.side), AxisRange(0, g.side))
}

// chunkedKernelGradient is the kernelGradient of a convolution without stride. It
// is a convolution itself, of the images [in, h, w, images] with the output's
// gradient [ho, wo, images, out] as the kernel, and fast as long as that stays in a
// core's cache: it is the sum over chunks of some images, or of some rows of one.
func (g window) chunkedKernelGradient(x, dy *Node) *Node {
	images := min(max(1, chunkBytes/(g.ho*g.wo*g.out*4)), g.images)
	var sum *Node
	if chunks := (g.images + images - 1) / images; chunks <= unrolled {
		for i := 0; i < g.images; i += images {
			c := AxisRange(i, min(i+images, g.images))
			sum = plus(sum, g.chunk(Slice(x, c), Slice(dy, c)))
		}
	} else {
		for g.images%images > 0 {
			images--
		}
		sum = g.chunkLoop(x, dy, images)
	}
	return cast(TransposeAllAxes(sum, 1, 2, 0, 3), x.DType())
}

// chunk is the kernel's gradient [in, side, side, out], float32, of some images.
func (g window) chunk(x, dy *Node) *Node {
	rows := g.ho
	if d := dy.Shape().Dimensions; d[0] == 1 {
		rows = min(max(1, chunkBytes/(g.wo*g.out*4)), g.ho)
	}
	var sum *Node
	for y := 0; y < g.ho; y += rows {
		end := min(y+rows, g.ho)
		first, last := y-g.pad, end-1+g.side-g.pad // rows of x that are read
		a := Slice(x, AxisRange(), AxisRange(max(first, 0), min(last, g.h)))
		b := Slice(dy, AxisRange(), AxisRange(y, end))
		sum = plus(sum, cast(Convolve(TransposeAllAxes(a, 3, 1, 2, 0), TransposeAllAxes(b, 1, 2, 0, 3)).
			PaddingPerDim([][2]int{{max(-first, 0), max(last-g.h, 0)}, {g.pad, g.side - 1 + g.wo - g.w - g.pad}}).Done(), dtypes.Float32))
	}
	return sum
}

// chunkLoop adds up the chunks of all images in a loop, a number of images at a time.
func (g window) chunkLoop(x, dy *Node, images int) *Node {
	graph := x.Graph()
	zero := Const(graph, int32(0))
	state := []*Node{zero, Zeros(graph, shapes.Make(dtypes.Float32, g.in, g.side, g.side, g.out)), x, dy}
	parameters := func(graph *Graph) []*Node {
		var in []*Node
		for i, s := range state {
			in = append(in, Parameter(graph, []string{"image", "sum", "x", "dy"}[i], s.Shape()))
		}
		return in
	}
	more := NewClosure(graph, func(graph *Graph) []*Node {
		return []*Node{LessThan(parameters(graph)[0], Const(graph, int32(g.images)))}
	})
	add := NewClosure(graph, func(graph *Graph) []*Node {
		in, zero := parameters(graph), Const(graph, int32(0))
		at := func(v *Node) *Node {
			return DynamicSlice(v, []*Node{in[0], zero, zero, zero}, append([]int{images}, v.Shape().Dimensions[1:]...))
		}
		sum := Add(in[1], g.chunk(at(in[2]), at(in[3])))
		// Not AddScalar: GoMLX keeps scalars for the whole graph, also one that it made in
		// another loop's closure (v0.28.16), where two loops do not compile then.
		return []*Node{Add(in[0], Const(graph, int32(images))), sum, in[2], in[3]}
	})
	return While(more, add, state...)[1]
}

// plus adds b to a sum that may have nothing yet.
func plus(sum, b *Node) *Node {
	if sum == nil {
		return b
	}
	return Add(sum, b)
}

// correlate convolves x [images, h, w, in] with a kernel [ky, kx, in, out].
func correlate(x, kernel *Node, stride int, pad [][2]int) *Node {
	d, k := x.Shape().Dimensions, kernel.Shape().Dimensions
	ho := (d[1]+pad[0][0]+pad[0][1]-k[0])/stride + 1
	wo := (d[2]+pad[1][0]+pad[1][1]-k[1])/stride + 1
	if k[0]*k[1] == 1 || min(ho, wo) < 3 {
		c := columns(x, k[0], k[1], stride, pad)
		return DotGeneral(c, []int{3}, nil, Reshape(kernel, k[0]*k[1]*k[2], k[3]), []int{0}, nil)
	}
	part := max(64, kernelBytes/(k[0]*k[1]*k[2]*4)/64*64)
	var parts []*Node
	for from := 0; from < k[3]; from += part {
		v := SliceAxis(kernel, 3, AxisRange(from, min(from+part, k[3])))
		parts = append(parts, Convolve(x, v).Strides(stride).PaddingPerDim(pad).Done())
	}
	return Concatenate(parts, 3)
}

// columns gives every output pixel of a convolution the inputs that it sees, tap by
// tap: [images, ho, wo, ky*kx*in].
func columns(x *Node, ky, kx, stride int, pad [][2]int) *Node {
	d := x.Shape().Dimensions
	h, w := d[1]+pad[0][0]+pad[0][1], d[2]+pad[1][0]+pad[1][1]
	if h != d[1] || w != d[2] {
		x = Pad(x, ScalarZero(x.Graph(), x.DType()), PadAxis{}, PadAxis{Start: pad[0][0], End: pad[0][1]}, PadAxis{Start: pad[1][0], End: pad[1][1]}, PadAxis{})
	}
	var taps []*Node
	for y := range ky {
		for z := range kx {
			taps = append(taps, Slice(x, AxisRange(), AxisRange(y, h-ky+y+1).Stride(stride), AxisRange(z, w-kx+z+1).Stride(stride), AxisRange()))
		}
	}
	return Concatenate(taps, 3)
}

// product is the sum over all pixels of the outer products of two maps' channels,
// [channels of a, channels of b].
func product(a, b *Node) *Node {
	p, q := a.Shape().Dimensions[3], b.Shape().Dimensions[3]
	if p > q {
		return TransposeAllAxes(product(b, a), 1, 0)
	}
	const blocks = 4
	rows := a.Shape().Size() / p
	if rows < 1000*blocks || rows%blocks != 0 {
		return DotGeneral(Reshape(a, rows, p), []int{0}, nil, Reshape(b, rows, q), []int{0}, nil)
	}
	parts := DotGeneral(Reshape(a, blocks, rows/blocks, p), []int{1}, []int{0}, Reshape(b, blocks, rows/blocks, q), []int{1}, []int{0})
	return cast(ReduceSum(cast(parts, dtypes.Float32), 0), a.DType())
}
