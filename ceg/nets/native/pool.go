package native

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// maxPoolCPU is max-pooling of x [images, h, w, channels] by strided slices. Its
// gradient goes to the first of the largest pixels of a window, in reading order.
// XLA's own, a reduction of windows and a scatter, takes a third of a step of
// smallcnn on a CPU.
func maxPoolCPU(x *Node, side, stride, pad int) *Node {
	d := x.Shape().Dimensions
	g := window{images: d[0], h: d[1], w: d[2], in: d[3], out: d[3], side: side, stride: stride, pad: pad}
	g.ho, g.wo = (g.h+2*pad-side)/stride+1, (g.w+2*pad-side)/stride+1
	return withGradients(func(in ...*Node) *Node {
		taps := g.taps(in[0])
		y := taps[0]
		for _, t := range taps[1:] {
			y = Max(y, t)
		}
		return y
	}, []*Node{x}, func(y, dy *Node) *Node { return g.poolGradient(x, y, dy) })
}

// withGradients returns forward(in...) with hand-made gradients, one for each input:
// functions of the output and its gradient.
func withGradients(forward func(in ...*Node) *Node, in []*Node, gradients ...func(y, dy *Node) *Node) *Node {
	// Only the order of automatic differentiation is used: the output's gradient is known before
	// the inputs' gradients are needed.
	var y, dy *Node
	hooked := make([]*Node, len(in))
	for i, x := range in {
		hooked[i] = IdentityWithCustomGradient(x, func(_, _ *Node) *Node { return gradients[i](y, dy) })
	}
	y = forward(hooked...)
	return IdentityWithCustomGradient(y, func(_, v *Node) *Node { dy = v; return v })
}

// taps are the pixels of every window, a map [images, ho, wo, channels] for each
// place in it.
func (g window) taps(x *Node) []*Node {
	if g.pad > 0 {
		low := Infinity(x.Graph(), x.DType(), -1)
		x = Pad(x, low, PadAxis{}, PadAxis{Start: g.pad, End: g.pad}, PadAxis{Start: g.pad, End: g.pad}, PadAxis{})
	}
	var taps []*Node
	for y := range g.side {
		for z := range g.side {
			taps = append(taps, Slice(x, AxisRange(), AxisRange(y, y+(g.ho-1)*g.stride+1).Stride(g.stride), AxisRange(z, z+(g.wo-1)*g.stride+1).Stride(g.stride), AxisRange()))
		}
	}
	return taps
}

// poolGradient is the gradient of the images x that gave the maxima y, for theirs.
func (g window) poolGradient(x, y, dy *Node) *Node {
	taps := g.taps(x)
	place := func(i int) *Node { return BroadcastToDims(Const(x.Graph(), int8(i)), y.Shape().Dimensions...) }
	of := place(len(taps) - 1)
	for i := len(taps) - 2; i >= 0; i-- {
		of = Where(Equal(taps[i], y), place(i), of)
	}
	if g.side == g.stride && g.pad == 0 {
		return g.tiledPoolGradient(of, dy)
	}
	jh, jw := (g.h+g.stride-1)/g.stride, (g.w+g.stride-1)/g.stride
	var rows []*Node
	for a := range g.stride {
		var columns []*Node
		for b := range g.stride {
			var sum *Node
			for ky := (a + g.pad) % g.stride; ky < g.side; ky += g.stride {
				for kx := (b + g.pad) % g.stride; kx < g.side; kx += g.stride {
					// Pixel j of the class is the tap of window j + shift.
					v := Where(Equal(of, place(ky*g.side+kx)), dy, ZerosLike(dy))
					v = shifted(v, 1, (a+g.pad-ky)/g.stride, jh)
					v = shifted(v, 2, (b+g.pad-kx)/g.stride, jw)
					sum = plus(sum, v)
				}
			}
			columns = append(columns, sum)
		}
		rows = append(rows, interleave(columns, 2, jw))
	}
	return Slice(interleave(rows, 1, jh), AxisRange(), AxisRange(0, g.h), AxisRange(0, g.w), AxisRange())
}

// tiledPoolGradient is poolGradient for windows that lie side by side; of [images, ho, wo,
// channels] says which pixel of each was the largest, in reading order. It is one loop over
// the pixels, where one for every place in the window would read all maps again.
func (g window) tiledPoolGradient(of, dy *Node) *Node {
	h, w, c := g.ho*g.side, g.wo*g.side, dy.Shape().Dimensions[3]
	spread := func(v *Node) *Node {
		v = BroadcastToDims(Reshape(v, g.images, g.ho, 1, g.wo, 1, c), g.images, g.ho, g.side, g.wo, g.side, c)
		return Reshape(v, g.images, h, w, c)
	}
	places := make([][]int8, h)
	for y := range places {
		for x := range w {
			places[y] = append(places[y], int8(y%g.side*g.side+x%g.side))
		}
	}
	place := BroadcastToDims(Reshape(Const(dy.Graph(), places), 1, h, w, 1), g.images, h, w, c)
	dy = spread(dy)
	dx := Where(Equal(spread(of), place), dy, ZerosLike(dy))
	if h == g.h && w == g.w {
		return dx
	}
	return padded(dx, PadAxis{}, PadAxis{End: g.h - h}, PadAxis{End: g.w - w}, PadAxis{})
}

// shifted returns count pixels of x along an axis, from start on: zeros where there
// are none.
func shifted(x *Node, axis, start, count int) *Node {
	size := x.Shape().Dimensions[axis]
	x = SliceAxis(x, axis, AxisRange(max(start, 0), min(start+count, size)))
	pads := make([]PadAxis, x.Rank())
	pads[axis] = PadAxis{Start: max(-start, 0), End: max(start+count-size, 0)}
	if pads[axis] == (PadAxis{}) {
		return x
	}
	return Pad(x, ScalarZero(x.Graph(), x.DType()), pads...)
}
