package flat

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Some 3x3 convolutions with stride 1 read what is beyond an image's edge from nodes
// of their own: those that go on there as in a mirror, and those of images that have
// gradients themselves, where a column matrix of the output's gradient would have
// many times the rows.

// beyond returns the row before the first (by -1) or after the last (by 1) of maps
// whose phases along an axis are d: zeros, or with mirror the one next to the edge.
// The axis is the rows, or with across the columns.
func (f *flat) beyond(c int, g grid, d []*Node, by int, across, mirror bool) *Node {
	from := d[0]
	if by < 0 {
		from = d[len(d)-1]
	}
	dy, dx := along(by, across)
	y := f.shifted(c, g, from, dy, dx)
	if mirror {
		y = Add(y, Mul(f.inner(g, d, by, across), f.edge(c, g, dy, dx)))
	}
	return y
}

// unbeyond is the adjoint of beyond: it adds to the adjoints of d.
func (f *flat) unbeyond(c int, g grid, d []*Node, by int, across, mirror bool, v *Node) {
	from := d[0]
	if by < 0 {
		from = d[len(d)-1]
	}
	dy, dx := along(by, across)
	f.addAdjoint(from, f.unshifted(c, g, v, dy, dx))
	if mirror {
		f.addInner(g, d, by, across, Mul(v, f.edge(c, g, dy, dx)))
	}
}

// along is a displacement by rows, or across by columns.
func along(by int, across bool) (dy, dx int) {
	if across {
		return 0, by
	}
	return by, 0
}

// edge is 1 at the pixels that a displacement reads from outside the images.
func (f *flat) edge(c int, g grid, dy, dx int) *Node {
	return f.once(fmt.Sprint("edge", c, g, dy, dx), func() *Node { return OneMinus(f.mask(c, g, -dy, -dx)) })
}

// inner returns the mirrored values at the edge: the phase next to the first or the last, or of a
// single phase the pixels on the inner side.
func (f *flat) inner(g grid, d []*Node, by int, across bool) *Node {
	switch {
	case len(d) == 1:
		dy, dx := along(-by, across)
		return f.shift(d[0], dy*g.w+dx)
	case by < 0:
		return d[1]
	}
	return d[len(d)-2]
}

// addInner is the adjoint of inner.
func (f *flat) addInner(g grid, d []*Node, by int, across bool, v *Node) {
	switch {
	case len(d) == 1:
		dy, dx := along(by, across)
		f.addAdjoint(d[0], f.shift(v, dy*g.w+dx))
	case by < 0:
		f.addAdjoint(d[1], v)
	default:
		f.addAdjoint(d[len(d)-2], v)
	}
}

// framed returns the p*p phases of a shard of x between those beyond the edges, as
// rows of p+2, and appends the backward step.
func (f *flat) framed(shard int, x *maps, mirror bool) [][]*Node {
	g := f.grid(shard, x)
	frame := func(d []*Node, across bool) []*Node {
		before, after := f.beyond(x.c, g, d, -1, across, mirror), f.beyond(x.c, g, d, 1, across, mirror)
		if !x.leaf && f.shards[shard].grad {
			f.back = append(f.back, func() {
				f.unbeyond(x.c, g, d, -1, across, mirror, f.adjointOf(before))
				f.unbeyond(x.c, g, d, 1, across, mirror, f.adjointOf(after))
			})
		}
		return slices.Concat([]*Node{before}, d, []*Node{after})
	}
	rows := make([][]*Node, x.p+2)
	for b := range x.p {
		var column []*Node
		for a := range x.p {
			column = append(column, x.at[shard][a*x.p+b])
		}
		for a, node := range frame(column, false) {
			rows[a] = append(rows[a], node)
		}
	}
	for a, row := range rows {
		rows[a] = frame(row, true)
	}
	return rows
}

// byTaps is a 3x3 convolution with stride 1 of maps, given the values beyond their edges; b may be
// nil. Both gradients come from the forward column matrix's rows; they
// are few where the maps have few channels.
func (f *flat) byTaps(name string, w, b *Node, x *maps, mirror bool) *maps {
	out := w.Shape().Dimensions[0]
	y := x.like(out, x.h, x.w, x.p)
	s := stack{taps: make([]tap, 9)}
	for k := range s.taps {
		s.taps[k].k = k
	}
	taps, columns := map[*Node][]*Node{}, map[*Node]*Node{} // by output
	for i := range x.at {
		n := f.grid(i, x).columns()
		frame := f.framed(i, x, mirror)
		for q := range y.at[i] {
			var rowBlocks []*Node
			for k := range 9 {
				rowBlocks = append(rowBlocks, frame[q/x.p+k/3][q%x.p+k%3])
			}
			read, rows := rowBlocks, 9*x.c
			if b != nil {
				rowBlocks, rows = append(slices.Clone(rowBlocks), f.fill(1, n)), rows+1 // the bias
			}
			cols := Reshape(Concatenate(rowBlocks, 0), rows, n)
			node := line(dot(f.forwardWeights(name, w, b, s), cols))
			y.at[i][q], taps[node], columns[node] = node, read, cols
		}
	}
	f.back = append(f.back, func() {
		grad := kernelGrad{f: f, rows: x.c, columns: out, taps: 9}
		// [out, in, 3, 3] to [9*in, out]
		byTap := Reshape(TransposeAllAxes(Reshape(w, out, x.c, 9), 2, 1, 0), 9*x.c, out)
		f.eachGrad(func(i int) {
			n := f.grid(i, y).columns()
			for _, node := range y.at[i] {
				d := Reshape(f.adjointOf(node), out, n)
				product := rowProducts(columns[node], d)
				if b != nil {
					f.addGrad(name+".bias", Reshape(takeRows(product, []int{9 * x.c}), out))
				}
				grad.add(s, product)
				if x.leaf {
					continue
				}
				toTaps := dot(byTap, d)
				for k, t := range taps[node] {
					f.addAdjoint(t, line(gatherSlice(toTaps, []int{k * x.c}, []int{x.c})))
				}
			}
		})
		v := TransposeAllAxes(Reshape(grad.total(), 9, x.c, out), 2, 1, 0)
		f.addGrad(name+".weight", Reshape(v, out, x.c, 3, 3))
	})
	return y
}

// ConvMirrored is nets.ConvMirrored.
func (f *flat) ConvMirrored(in nets.Maps, name string, out int, bias bool) nets.Maps {
	x := settled(in)
	w := f.param(name+".weight", out, x.c, 3, 3)
	var b *Node
	if bias {
		b = f.param(name+".bias", out)
	}
	if fitsWinograd(x) {
		return f.winograd(name, w, b, x, true)
	}
	return f.byTaps(name, w, b, x, true)
}
