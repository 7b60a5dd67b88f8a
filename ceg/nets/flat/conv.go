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

// window describes a convolution's geometry: k x k taps at a stride, over p x p
// phases in, q x q phases out.
type window struct{ k, stride, pad, p, q int }

// axis returns the phase and the displacement at which kernel position k of
// output phase a reads, along one axis.
func (v window) axis(a, k int) (phase, d int) {
	y := v.stride*a + k - v.pad
	phase = (y%v.p + v.p) % v.p
	return phase, (y - phase) / v.p
}

// forward lists the taps that output phase (a, b) reads, in reading order.
func (v window) forward(a, b int) []tap {
	var taps []tap
	for ky := range v.k {
		for kx := range v.k {
			py, dy := v.axis(a, ky)
			px, dx := v.axis(b, kx)
			taps = append(taps, tap{ky*v.k + kx, py*v.p + px, dy, dx})
		}
	}
	return taps
}

// backward lists the taps through which input phase (a, b) reached the output:
// phase is the output phase, and the displacement goes the opposite way.
func (v window) backward(a, b int) []tap {
	var taps []tap
	for q := range v.q * v.q {
		for _, t := range v.forward(q/v.q, q%v.q) {
			if t.phase == a*v.p+b {
				taps = append(taps, tap{t.k, q, -t.dy, -t.dx})
			}
		}
	}
	return taps
}

// stack is the row order of a column matrix: one block of rows for each tap,
// between lead and tail rows of zeros.
type stack struct {
	taps       []tap
	lead, tail int
}

// stack arranges taps. Their copies of a phase lie one after another along the
// flat axis, each displaced by its tap, so that the order of falling displacement
// leaves gaps and never an overlap. Taps that read nothing but padding are left
// out.
func (g grid) stack(taps []tap) stack {
	s := stack{taps: slices.DeleteFunc(taps, func(t tap) bool { return abs(t.dy) >= g.h || abs(t.dx) >= g.w })}
	slices.SortStableFunc(s.taps, func(a, b tap) int { return g.shift(b) - g.shift(a) })
	if len(s.taps) > 0 && g.shift(s.taps[0]) > 0 {
		s.lead = 1
	}
	if len(s.taps) > 0 && g.shift(s.taps[len(s.taps)-1]) < 0 {
		s.tail = 1
	}
	return s
}

// shift is a tap's displacement along the flat axis.
func (g grid) shift(t tap) int { return t.dy*g.w + t.dx }

// rows returns the number of rows for c channels.
func (s stack) rows(c int) int { return s.lead + len(s.taps)*c + s.tail }

// key names the order of the blocks.
func (s stack) key() string {
	ks := make([]int, len(s.taps))
	for i, t := range s.taps {
		ks[i] = t.k
	}
	return fmt.Sprint(s.lead, ks, s.tail)
}

// splitChannels is the number of channels from which maps of one phase are split:
// for the filtering, or for 2x2 maps to leave out the taps beyond the edges.
const splitChannels = 128

func (f *flat) Conv(in nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	x := settled(in)
	nets.OutSize(x.h, kernel, stride, padding) // panics when too small
	if padding == 0 && stride == 1 && kernel > 1 {
		// Cut off what the padding adds.
		edge := (kernel - 1) / 2
		y := f.Conv(x, name, out, kernel, stride, edge, bias)
		return f.Apply(y, out, x.h-2*edge, x.w-2*edge, func(images *Node) *Node {
			return Slice(images, AxisRange(), AxisRange(edge, x.h-edge), AxisRange(edge, x.w-edge))
		})
	}
	x, win := f.window(name, x, kernel, stride, padding)
	w := f.param(name+".weight", out, x.c, kernel, kernel)
	var b *Node
	if bias {
		b = f.param(name+".bias", out)
	}
	if kernel == 3 && stride == 1 && !x.leaf && x.p == 1 && x.h%2 == 0 && x.w%2 == 0 && x.c >= splitChannels {
		x = f.split(x)
	}
	if kernel == 3 && stride == 1 && fitsWinograd(x) {
		return f.winograd(name, w, b, x, false)
	}
	if kernel == 3 && stride == 1 && x.images {
		return f.byTaps(name, w, b, x, false)
	}
	win.p, win.q = x.p, x.p/stride
	y := x.like(out, x.h/stride, x.w/stride, win.q)
	columns := map[*Node]*Node{} // forward column matrices, by output
	for i := range x.at {
		g := f.grid(i, x)
		for q := range y.at[i] {
			s := g.stack(win.forward(q/win.q, q%win.q))
			cols := f.columns(x.c, g, x.at[i], s, bias)
			y.at[i][q] = line(dot(f.forwardWeights(name, w, b, s), cols))
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

// window returns the geometry of a convolution of x, and x with as many phases and as
// even sides as a stride needs.
func (f *flat) window(name string, x *maps, kernel, stride, padding int) (*maps, window) {
	before, _ := nets.Padding(x.h, kernel, stride, padding)
	left, _ := nets.Padding(x.w, kernel, stride, padding)
	if kernel%2 == 0 || padding != nets.Same && padding != (kernel-1)/2 || stride > 2 || before != left {
		panic(fmt.Sprintf("conv %s: only odd kernels with padding (kernel-1)/2, or SAME on both axes alike, and stride 1 or 2, or with padding 0 and stride 1, are built, got kernel %d, padding %d, stride %d of maps %dx%d",
			name, kernel, padding, stride, x.h, x.w))
	}
	if stride == 2 {
		x = f.even(x, 0) // more of the padding that is there anyway
		if x.p%2 != 0 {
			x = f.split(x)
		}
	}
	return x, window{k: kernel, stride: stride, pad: before, p: x.p, q: x.p / stride}
}

// columns builds the column matrix [s.rows(c) (+1), columns] of phases of c
// channels. With ones, a last row of ones carries the bias.
func (f *flat) columns(c int, g grid, phases []*Node, s stack, ones bool) *Node {
	n := g.columns()
	if len(s.taps) == 1 && g.shift(s.taps[0]) == 0 && !ones {
		return Reshape(phases[s.taps[0].phase], c, n)
	}
	var blocks []*Node
	pos := 0
	zerosTo := func(to int) {
		if to > pos {
			blocks = append(blocks, f.fill(0, to-pos))
			pos = to
		}
	}
	for i, t := range s.taps {
		zerosTo((s.lead+i*c)*n - g.shift(t))
		blocks = append(blocks, f.masked(c, g, phases[t.phase], t.dy, t.dx))
		pos += c * n
	}
	rows := s.rows(c)
	zerosTo(rows * n)
	if ones {
		blocks = append(blocks, f.fill(1, n))
		rows++
	}
	return Reshape(Concatenate(blocks, 0), rows, n)
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

// mask is 1 at the pixels (y, x) of a phase of c channels for which
// (y-dy, x-dx) is inside the phase, and else 0.
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
		return line(dot(f.fill(1, c, 1), row))
	})
}

// forwardWeights lays out weights [out, in, kernel, kernel] as
// [out, s.rows(in) (+1)] to multiply a column matrix.
func (f *flat) forwardWeights(name string, w, b *Node, s stack) *Node {
	return f.once("forward "+name+s.key(), func() *Node {
		d := w.Shape().Dimensions
		// rows (kernel position, out) of in values
		v := f.once("by tap "+name, func() *Node {
			return Reshape(transpose(w, d[0]*d[1]), d[2]*d[3]*d[0], d[1])
		})
		var order []int
		for o := range d[0] {
			for _, t := range s.taps {
				order = append(order, t.k*d[0]+o)
			}
		}
		blocks := f.between(s, Reshape(takeRows(v, order), d[0], len(s.taps)*d[1]))
		if b != nil {
			blocks = append(blocks, Reshape(b, d[0], 1))
		}
		return Concatenate(blocks, 1)
	})
}

// backwardWeights lays out weights [out, in, kernel, kernel] as [in, s.rows(out)].
func (f *flat) backwardWeights(name string, w *Node, s stack) *Node {
	return f.once("backward "+name+s.key(), func() *Node {
		d := w.Shape().Dimensions
		// rows (in, kernel position) of out values
		v := f.once("by input "+name, func() *Node { return transpose(w, d[0]) })
		var order []int
		for i := range d[1] {
			for _, t := range s.taps {
				order = append(order, i*d[2]*d[3]+t.k)
			}
		}
		return Concatenate(f.between(s, Reshape(takeRows(v, order), d[1], len(s.taps)*d[0])), 1)
	})
}

// between puts a matrix of weights between the zeros for a stack's lead and tail.
func (f *flat) between(s stack, weights *Node) []*Node {
	rows := weights.Shape().Dimensions[0]
	blocks := []*Node{weights}
	if s.lead > 0 {
		blocks = append([]*Node{f.fill(0, rows, s.lead)}, blocks...)
	}
	if s.tail > 0 {
		blocks = append(blocks, f.fill(0, rows, s.tail))
	}
	return blocks
}

// backConv appends the backward step of a convolution of maps: the column
// matrix of the output's gradient gives both the input's and the weights'.
func (f *flat) backConv(name string, w *Node, x, y *maps, win window, bias bool) {
	f.back = append(f.back, func() {
		grad := kernelGrad{f: f, rows: y.c, columns: x.c, taps: win.k * win.k}
		f.eachGrad(func(i int) {
			g := f.grid(i, y)
			dy := make([]*Node, len(y.at[i]))
			for q, node := range y.at[i] {
				dy[q] = f.adjointOf(node)
				if bias {
					f.addGrad(name+".bias", ReduceSum(byChannel(y.c, dy[q]), 1))
				}
			}
			for q, node := range x.at[i] {
				s := g.stack(win.backward(q/win.p, q%win.p))
				if len(s.taps) == 0 {
					continue
				}
				cols := f.columns(y.c, g, dy, s, false)
				f.addAdjoint(node, line(dot(f.backwardWeights(name, w, s), cols)))
				grad.add(s, rowProducts(cols, Reshape(node, x.c, g.columns())))
			}
		})
		// [k*k, out, in] to [out, in, k, k]
		f.addGrad(name+".weight", Reshape(transpose(grad.total(), win.k*win.k), y.c, x.c, win.k, win.k))
	})
}

// backLeafConv appends the backward step of a convolution of the images, which
// need no gradient: the weights' comes from the forward column matrix, and the
// bias' with it from the row of ones.
func (f *flat) backLeafConv(name string, x, y *maps, win window, bias bool, columns map[*Node]*Node) {
	f.back = append(f.back, func() {
		grad := kernelGrad{f: f, rows: x.c, columns: y.c, taps: win.k * win.k}
		f.eachGrad(func(i int) {
			g := f.grid(i, x)
			for q, node := range y.at[i] {
				product := rowProducts(columns[node], Reshape(f.adjointOf(node), y.c, g.columns()))
				if bias {
					last := product.Shape().Dimensions[0] - 1
					f.addGrad(name+".bias", Reshape(takeRows(product, []int{last}), y.c))
				}
				grad.add(g.stack(win.forward(q/win.q, q%win.q)), product)
			}
		})
		// [k*k, in, out] to [out, in, k, k]
		v := TransposeAllAxes(Reshape(grad.total(), win.k*win.k, x.c, y.c), 2, 1, 0)
		f.addGrad(name+".weight", Reshape(v, y.c, x.c, win.k, win.k))
	})
}

// rowProducts is the product of a [m, n] and the transpose of b [k, n]. The
// larger side goes to the left, where the backend packs it four times faster.
func rowProducts(a, b *Node) *Node {
	if a.Shape().Dimensions[0] < b.Shape().Dimensions[0] {
		return TransposeAllAxes(dotRows(b, a), 1, 0)
	}
	return dotRows(a, b)
}

// kernelGrad sums products with column matrices into the gradient of a kernel.
type kernelGrad struct {
	f *flat
	// rows is the number of rows of a tap's block, columns the number of columns of the products.
	rows, columns, taps int
	// stacks and products hold the sums for each order of blocks.
	stacks   []stack
	products []*Node
}

// add adds a product [s.rows(rows), columns]; rows after those are left out.
func (k *kernelGrad) add(s stack, product *Node) {
	for i, o := range k.stacks {
		if o.key() == s.key() {
			k.products[i] = Add(k.products[i], product)
			return
		}
	}
	k.stacks, k.products = append(k.stacks, s), append(k.products, product)
}

// total returns the gradient as [taps*rows, columns], with zeros for kernel
// positions that never meet the image.
func (k *kernelGrad) total() *Node {
	var sum *Node // of the products with all taps
	blocks := make([]*Node, k.taps)
	for i, s := range k.stacks {
		if len(s.taps) == k.taps {
			order := make([]int, k.taps*k.rows)
			for j, t := range s.taps {
				for r := range k.rows {
					order[t.k*k.rows+r] = s.lead + j*k.rows + r
				}
			}
			sum = plus(sum, takeRows(k.products[i], order))
			continue
		}
		for j, t := range s.taps {
			block := gatherSlice(k.products[i], []int{s.lead + j*k.rows}, []int{k.rows})
			blocks[t.k] = plus(blocks[t.k], block)
		}
	}
	if sum != nil && !slices.ContainsFunc(blocks, func(n *Node) bool { return n != nil }) {
		return sum
	}
	for i, b := range blocks {
		if b == nil {
			blocks[i] = k.f.fill(0, k.rows, k.columns)
		}
	}
	all := Concatenate(blocks, 0)
	return plus(sum, all)
}

func abs(a int) int { return max(a, -a) }
