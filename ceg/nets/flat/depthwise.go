package flat

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Depthwise implements nets.Ops. Every tap is a product of a whole phase, displaced where
// it reads beyond it, with a column of weights that is broadcast along it. Maps that
// are small and have one phase are vectors instead, and each channel's kernel a matrix
// from them to the output: one batch of small products, without a tap on padding.
func (f *flat) Depthwise(in nets.Maps, name string, kernel, stride, padding int) nets.Maps {
	x := settled(in)
	w := Reshape(f.param(name+".weight", x.c, 1, kernel, kernel), x.c, kernel*kernel)
	if ho, wo := nets.OutSize(x.h, kernel, stride, padding), nets.OutSize(x.w, kernel, stride, padding); x.p == 1 && x.h*x.w*ho*wo <= maxDense {
		return f.dense(name, w, x, ho, wo, kernel, stride, padding)
	}
	x, win := f.window(name, x, kernel, stride, padding)
	y := x.like(x.c, x.h/stride, x.w/stride, win.q)
	column := func(k int) *Node { return Slice(w, AxisRange(), AxisRange(k, k+1)) }
	displaced := func(i int, t tap) *Node {
		node := x.at[i][t.phase]
		if t.dy == 0 && t.dx == 0 {
			return node
		}
		return f.once(fmt.Sprint("shifted", node.Id(), t.dy, t.dx), func() *Node {
			return f.shifted(x.c, f.grid(i, x), node, t.dy, t.dx)
		})
	}
	for i := range x.at {
		g := f.grid(i, x)
		for q := range y.at[i] {
			var sum *Node
			for _, t := range g.stack(win.forward(q/win.q, q%win.q)).taps {
				sum = plus(sum, Mul(byChannel(x.c, displaced(i, t)), column(t.k)))
			}
			y.at[i][q] = line(sum)
		}
	}
	f.backward(func(i int) {
		g := f.grid(i, x)
		grads := make([]*Node, kernel*kernel)
		for q, node := range y.at[i] {
			d := byChannel(x.c, f.adjointOf(node))
			for _, t := range g.stack(win.forward(q/win.q, q%win.q)).taps {
				grads[t.k] = plus(grads[t.k], ReduceSum(Mul(d, byChannel(x.c, displaced(i, t))), 1))
				if x.leaf {
					continue
				}
				back := Mul(d, column(t.k))
				if t.dy != 0 || t.dx != 0 {
					back = f.unshifted(x.c, g, line(back), t.dy, t.dx)
				}
				f.addAdjoint(x.at[i][t.phase], line(back))
			}
		}
		for k, v := range grads {
			if v == nil { // a tap that reads nothing but padding
				v = f.fill(0, x.c)
			}
			grads[k] = Reshape(v, x.c, 1)
		}
		f.addGrad(name+".weight", Reshape(Concatenate(grads, 1), x.c, 1, kernel, kernel))
	})
	return y
}

// maxDense is up to how many pairs of an input and an output pixel a depthwise
// convolution is dense: 7x7 maps, and 14x14 with a stride.
const maxDense = 196 * 49

// dense is a depthwise convolution of maps with one phase by a matrix for every channel.
func (f *flat) dense(name string, w *Node, x *maps, ho, wo, kernel, stride, padding int) *maps {
	top, _ := nets.Padding(x.h, kernel, stride, padding)
	left, _ := nets.Padding(x.w, kernel, stride, padding)
	in, out := x.h*x.w, ho*wo
	// places [kernel*kernel, in*out] says which tap connects two pixels.
	places := f.once(fmt.Sprint("places", x.h, x.w, kernel, stride, padding), func() *Node {
		v := make([]float32, kernel*kernel*in*out)
		for o := range out {
			for k := range kernel * kernel {
				y, x0 := o/wo*stride+k/kernel-top, o%wo*stride+k%kernel-left
				if y >= 0 && y < x.h && x0 >= 0 && x0 < x.w {
					v[(k*in+y*x.w+x0)*out+o] = 1
				}
			}
		}
		return Reshape(Const(f.g, v), kernel*kernel, in*out)
	})
	matrix := Reshape(dot(w, places), x.c, in, out)
	batches := func(i int, v *Node, pixels int) *Node { return Reshape(v, x.c, f.images(i), pixels) }
	y := x.like(x.c, ho, wo, 1)
	for i := range x.at {
		y.at[i][0] = line(DotGeneral(batches(i, x.at[i][0], in), []int{2}, []int{0}, matrix, []int{1}, []int{0}))
	}
	f.backward(func(i int) {
		d, v := batches(i, f.adjointOf(y.at[i][0]), out), batches(i, x.at[i][0], in)
		product := DotGeneral(v, []int{1}, []int{0}, d, []int{1}, []int{0}) // [c, in, out]
		f.addGrad(name+".weight", Reshape(dotRows(Reshape(product, x.c, in*out), places), x.c, 1, kernel, kernel))
		if !x.leaf {
			f.addAdjoint(x.at[i][0], line(DotGeneral(d, []int{2}, []int{0}, matrix, []int{2}, []int{0})))
		}
	})
	return y
}
