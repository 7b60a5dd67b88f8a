package native

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// tiny reports whether every output pixel sees the whole map: the convolution is a
// matrix product then, of maps as vectors.
func (g window) tiny() bool {
	return g.stride == 1 && g.ho == g.h && g.wo == g.w && 2*max(g.h, g.w)-1 <= g.side
}

// blocks calls f for every pair of an input and an output pixel, in reading order
// of the pairs, with the tap that connects them.
func (g window) blocks(f func(in, out, ky, kx int)) {
	for in := range g.h * g.w {
		for out := range g.h * g.w {
			f(in, out, in/g.w-out/g.w+g.pad, in%g.w-out%g.w+g.pad)
		}
	}
}

// matrix is the kernel as a matrix from maps to maps, [h*w*in, h*w*out].
func (g window) matrix(kernel *Node) *Node {
	rows := make([][]*Node, g.h*g.w)
	g.blocks(func(in, _, ky, kx int) {
		rows[in] = append(rows[in], Reshape(Slice(kernel, AxisElem(ky), AxisElem(kx)), g.in, g.out))
	})
	var all []*Node
	for _, r := range rows {
		all = append(all, Concatenate(r, 1))
	}
	return Concatenate(all, 0)
}

// tinyForward is the convolution of a tiny map.
func (g window) tinyForward(x, kernel *Node) *Node {
	y := Dot(Reshape(x, g.images, -1), g.matrix(kernel)).Product()
	return Reshape(y, g.images, g.h, g.w, g.out)
}

// tinyImageGradient is the imageGradient of a tiny map.
func (g window) tinyImageGradient(dy, kernel *Node) *Node {
	dx := DotGeneral(Reshape(dy, g.images, -1), []int{1}, nil, g.matrix(kernel), []int{1}, nil)
	return Reshape(dx, g.images, g.h, g.w, g.in)
}

// tinyKernelGradient is the kernelGradient of a tiny map: each tap adds up the
// blocks of the matrix's gradient that it stands in.
func (g window) tinyKernelGradient(x, dy *Node) *Node {
	m := DotGeneral(Reshape(x, g.images, -1), []int{0}, nil, Reshape(dy, g.images, -1), []int{0}, nil)
	taps := make([]*Node, g.side*g.side)
	g.blocks(func(in, out, ky, kx int) {
		b := Slice(m, AxisRange(in*g.in, (in+1)*g.in), AxisRange(out*g.out, (out+1)*g.out))
		taps[ky*g.side+kx] = plus(taps[ky*g.side+kx], b)
	})
	for i, t := range taps {
		if t == nil {
			taps[i] = ZerosLike(Slice(m, AxisRange(0, g.in), AxisRange(0, g.out)))
		}
	}
	return Reshape(Stack(taps, 0), g.side, g.side, g.in, g.out)
}
