package flat

import (
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// tap is one position of a kernel as seen from one phase of a convolution's
// output (or, going backward, of its input): which phase it reads, and where.
type tap struct {
	// k is the kernel position in reading order.
	k int
	// phase is the phase that is read.
	phase int
	// dy and dx displace the reading within the phase.
	dy, dx int
}

func (t tap) centred() bool { return t.dy == 0 && t.dx == 0 }

// window describes a convolution's geometry: k x k taps at a stride, over p x p
// phases in, q x q phases out.
type window struct{ k, stride, pad, p, q int }

// forward lists the taps that output phase (a, b) reads, a centred one first.
func (v window) forward(a, b int) []tap { return centredFirst(v.reading(a, b)) }

// reading lists the taps that output phase (a, b) reads, in reading order.
func (v window) reading(a, b int) []tap {
	var taps []tap
	for ky := range v.k {
		for kx := range v.k {
			y, x := v.stride*a+ky-v.pad, v.stride*b+kx-v.pad
			taps = append(taps, tap{ky*v.k + kx, mod(y, v.p)*v.p + mod(x, v.p), floorDiv(y, v.p), floorDiv(x, v.p)})
		}
	}
	return taps
}

// backward lists the taps through which input phase (a, b) reached the output:
// phase is the output phase, and the displacement goes the opposite way.
func (v window) backward(a, b int) []tap {
	var taps []tap
	for ky := range v.k {
		for kx := range v.k {
			for oy := range v.q {
				for ox := range v.q {
					y, x := v.stride*oy+ky-v.pad, v.stride*ox+kx-v.pad
					if mod(y, v.p) == a && mod(x, v.p) == b {
						taps = append(taps, tap{ky*v.k + kx, oy*v.q + ox, -floorDiv(y, v.p), -floorDiv(x, v.p)})
					}
				}
			}
		}
	}
	return centredFirst(taps)
}

// centredFirst moves the first tap without displacement to the front: the
// column matrix begins with it.
func centredFirst(taps []tap) []tap {
	i := slices.IndexFunc(taps, tap.centred)
	if i > 0 {
		t := taps[i]
		copy(taps[1:i+1], taps[:i])
		taps[0] = t
	}
	return taps
}

func mod(a, b int) int      { return ((a % b) + b) % b }
func floorDiv(a, b int) int { return (a - mod(a, b)) / b }

// order returns the kernel positions of taps, which is the block order of the
// weights that multiply their column matrix.
func order(taps []tap) []int {
	ks := make([]int, len(taps))
	for i, t := range taps {
		ks[i] = t.k
	}
	return ks
}

// Conv implements nets.Ops.
func (f *flat) Conv(in nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	x := in.(*maps)
	nets.OutSize(x.h, kernel, stride, padding) // panics when too small
	if kernel%2 == 0 || padding != (kernel-1)/2 || stride > 2 {
		panic(fmt.Sprintf("conv %s: only odd kernels with padding (kernel-1)/2 and stride 1 or 2 are built, got kernel %d, padding %d, stride %d",
			name, kernel, padding, stride))
	}
	if stride == 2 {
		x = f.even(x, 0) // more of the padding that is there anyway
		if x.p%2 != 0 {
			x = f.split(x)
		}
	}
	w := f.param(name+".weight", out, x.c, kernel, kernel)
	var b *Node
	if bias {
		b = f.param(name+".bias", out)
	}
	win := window{k: kernel, stride: stride, pad: padding, p: x.p, q: x.p / stride}
	y := x.like(out, x.h/stride, x.w/stride, win.q)
	columns := map[*Node]*Node{} // forward column matrices, by output
	for i := range x.at {
		g := f.grid(i, x)
		for q := range y.at[i] {
			taps := win.forward(q/win.q, q%win.q)
			cols := f.columns(x.c, g, x.at[i], taps, bias)
			y.at[i][q] = dot(f.forwardWeights(name, w, b, order(taps)), cols)
			columns[y.at[i][q]] = cols
		}
	}
	if x.leaf {
		f.backLeafConv(name, x, y, win, bias, columns)
	} else {
		f.backConv(name, w, x, y, win, bias)
	}
	return y
}

// columns builds the column matrix [len(taps)*(c+1) (+1), columns] of phases
// [c, columns]. Every tap has a row of zeros after its c rows, which takes up
// the displacement; with ones, a last row of ones carries the bias.
func (f *flat) columns(c int, g grid, phases []*Node, taps []tap, ones bool) *Node {
	n := g.columns()
	if len(taps) == 1 && !ones {
		return Concatenate([]*Node{phases[taps[0].phase], f.fill(0, 1, n)}, 0)
	}
	var pieces []*Node
	pos := 0
	gap := func(to int) {
		if to < pos {
			panic(fmt.Sprintf("flat: taps %v overlap in phases of %d columns", taps, n))
		}
		if to > pos {
			pieces = append(pieces, f.fill(0, to-pos))
			pos = to
		}
	}
	for i, t := range taps {
		shift := t.dy*g.w + t.dx
		if abs(t.dy) >= g.h || abs(t.dx) >= g.w {
			continue // reads nothing but padding
		}
		gap(i*(c+1)*n - shift)
		x := f.masked(c, g, phases[t.phase], t.dy, t.dx)
		pieces = append(pieces, Reshape(x, c*n))
		pos += c * n
	}
	rows := len(taps) * (c + 1)
	gap(rows * n)
	if ones {
		pieces = append(pieces, f.fill(1, n))
		rows++
	}
	return Reshape(Concatenate(pieces, 0), rows, n)
}

// masked clears the pixels of a phase that a displacement would carry over an
// image's edge.
func (f *flat) masked(c int, g grid, x *Node, dy, dx int) *Node {
	if dy == 0 && dx == 0 {
		return x
	}
	return f.once(fmt.Sprint("masked", x.Id(), dy, dx), func() *Node {
		return Mul(x, f.mask(c, g, dy, dx))
	})
}

// mask is the 0/1 matrix [c, columns] of the pixels (y, x) for which
// (y-dy, x-dx) is inside the phase.
func (f *flat) mask(c int, g grid, dy, dx int) *Node {
	return f.once(fmt.Sprint("mask", c, g, dy, dx), func() *Node {
		row := f.once(fmt.Sprint("mask row", g, dy, dx), func() *Node {
			v := make([]float32, 0, g.columns())
			for range g.images {
				for y := range g.h {
					for x := range g.w {
						keep := float32(0)
						if y-dy >= 0 && y-dy < g.h && x-dx >= 0 && x-dx < g.w {
							keep = 1
						}
						v = append(v, keep)
					}
				}
			}
			return Reshape(Const(f.g, v), 1, g.columns())
		})
		return dot(f.fill(1, c, 1), row)
	})
}

// slab returns kernel position k of weights [out, in, kernel, kernel] as a
// matrix [out, in].
func (f *flat) slab(name string, w *Node, k int) *Node {
	return f.once(fmt.Sprint("slab ", name, k), func() *Node {
		d := w.Shape().Dimensions
		v := Reshape(w, d[0], d[1], d[2]*d[3])
		return Reshape(Slice(v, AxisRange(), AxisRange(), AxisElem(k)), d[0], d[1])
	})
}

// forwardWeights lays out weights as [out, len(ks)*(in+1) (+1)] to multiply a
// column matrix.
func (f *flat) forwardWeights(name string, w, b *Node, ks []int) *Node {
	return f.once(fmt.Sprint("forward ", name, ks), func() *Node {
		out := w.Shape().Dimensions[0]
		var blocks []*Node
		for _, k := range ks {
			blocks = append(blocks, f.slab(name, w, k), f.fill(0, out, 1))
		}
		if b != nil {
			blocks = append(blocks, Reshape(b, out, 1))
		}
		return Concatenate(blocks, 1)
	})
}

// backwardWeights lays out weights as [in, len(ks)*(out+1)].
func (f *flat) backwardWeights(name string, w *Node, ks []int) *Node {
	return f.once(fmt.Sprint("backward ", name, ks), func() *Node {
		in := w.Shape().Dimensions[1]
		var blocks []*Node
		for _, k := range ks {
			t := f.once(fmt.Sprint("slab transposed ", name, k), func() *Node {
				return TransposeAllAxes(f.slab(name, w, k), 1, 0)
			})
			blocks = append(blocks, t, f.fill(0, in, 1))
		}
		return Concatenate(blocks, 1)
	})
}

// backConv appends the backward step of a convolution of maps: the column
// matrix of the output's gradient gives both the input's and the weights'.
func (f *flat) backConv(name string, w *Node, x, y *maps, win window, bias bool) {
	f.back = append(f.back, func() {
		var acc products
		for i, pass := range f.passes {
			if pass.NoGrad {
				continue
			}
			g := f.grid(i, y)
			dy := make([]*Node, len(y.at[i]))
			for q, node := range y.at[i] {
				dy[q] = f.adjointOf(node)
				if bias {
					f.addGrad(name+".bias", Reshape(f.rowSums(dy[q]), y.c))
				}
			}
			for q, node := range x.at[i] {
				taps := win.backward(q/win.p, q%win.p)
				if len(taps) == 0 {
					continue
				}
				cols := f.columns(y.c, g, dy, taps, false)
				f.addAdjoint(node, dot(f.backwardWeights(name, w, order(taps)), cols))
				acc.add(order(taps), dotRows(node, cols))
			}
		}
		slabs := make([]*Node, win.k*win.k)
		for _, t := range acc {
			for j, k := range t.order {
				s := Slice(t.product, AxisRange(), AxisRange(j*(y.c+1), j*(y.c+1)+y.c))
				slabs[k] = plus(slabs[k], s)
			}
		}
		for k, s := range slabs {
			if s != nil {
				slabs[k] = Reshape(TransposeAllAxes(s, 1, 0), y.c, x.c, 1)
			}
		}
		f.addKernelGrad(name, slabs, y.c, x.c, win.k)
	})
}

// backLeafConv appends the backward step of a convolution of the images, which
// need no gradient: the weights' comes from the forward column matrix, and the
// bias' with it from the row of ones.
func (f *flat) backLeafConv(name string, x, y *maps, win window, bias bool, columns map[*Node]*Node) {
	f.back = append(f.back, func() {
		var acc products
		for i, pass := range f.passes {
			if pass.NoGrad {
				continue
			}
			for q, node := range y.at[i] {
				acc.add(order(win.forward(q/win.q, q%win.q)), dotRows(columns[node], f.adjointOf(node)))
			}
		}
		slabs := make([]*Node, win.k*win.k)
		for _, t := range acc {
			for j, k := range t.order {
				s := Slice(t.product, AxisRange(j*(x.c+1), j*(x.c+1)+x.c), AxisRange())
				slabs[k] = plus(slabs[k], Reshape(TransposeAllAxes(s, 1, 0), y.c, x.c, 1))
			}
			if bias {
				f.addGrad(name+".bias", Reshape(Slice(t.product, AxisElem(-1), AxisRange()), y.c))
			}
		}
		f.addKernelGrad(name, slabs, y.c, x.c, win.k)
	})
}

// products sums matrices whose row blocks stand in the same order of kernel
// positions.
type products []struct {
	order   []int
	product *Node
}

func (p *products) add(order []int, product *Node) {
	for i, t := range *p {
		if slices.Equal(t.order, order) {
			(*p)[i].product = Add(t.product, product)
			return
		}
	}
	*p = append(*p, struct {
		order   []int
		product *Node
	}{order, product})
}

// addKernelGrad puts together the gradients [out, in, 1] of every kernel
// position; nil stands for zeros.
func (f *flat) addKernelGrad(name string, slabs []*Node, out, in, k int) {
	for i, s := range slabs {
		if s == nil {
			slabs[i] = f.fill(0, out, in, 1)
		}
	}
	f.addGrad(name+".weight", Reshape(Concatenate(slabs, 2), out, in, k, k))
}

func abs(a int) int { return max(a, -a) }
