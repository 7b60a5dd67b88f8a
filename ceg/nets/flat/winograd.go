package flat

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// A 3x3 convolution with stride 1 computes tiles of 2x2 outputs by the minimal
// filtering F(2x2, 3x3) of Lavin and Gray (2016, section 4.1): 16 products for
// 4 outputs instead of 36, of transformed inputs and weights. Phases make the
// transforms sums of whole nodes: the inputs of a tile are 4x4 neighbouring phases,
// of which only those beyond the last one are displaced. There is no column matrix.
//
// Along one axis, from inputs d0 to d3 and weights g0 to g2,
//
//	v = (d0-d2, d1+d2, d2-d1, d3-d1)
//	u = (g0, (g0+g1+g2)/2, (g0-g1+g2)/2, g2)
//	m = u*v
//	y = (m0+m1+m2, m1-m2+m3)
//
// with the sign of v3 turned around, so that no negation is needed anywhere.

// minWinograd is the number of channels from which the transforms pay.
const minWinograd = 24

// filterTransform turns 9 weights into 16, row by row.
var filterTransform = func() [][]float32 {
	g := [4][3]float32{{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}}
	var all [][]float32
	for a := range 4 {
		for b := range 4 {
			var row []float32
			for y := range 3 {
				for x := range 3 {
					row = append(row, g[a][y]*g[b][x])
				}
			}
			all = append(all, row)
		}
	}
	return all
}()

// four are the values of a tile along one axis.
type four [4]*Node

// tiles transforms the phases along one axis into v for every tile. before and after
// are the phases beyond the first and the last.
func tiles(d []*Node, before, after *Node) []four {
	list := make([]four, len(d)/2)
	for t := range list {
		first, fourth := before, after
		if t > 0 {
			first = d[2*t-1]
		}
		if t < len(list)-1 {
			fourth = d[2*t+2]
		}
		d1, d2 := d[2*t], d[2*t+1]
		list[t] = four{Sub(first, d2), Add(d1, d2), Sub(d2, d1), Sub(fourth, d1)}
	}
	return list
}

// untiles is the adjoint of tiles, along rows or across them.
func (f *flat) untiles(c int, g grid, v []four, across, mirror bool) []*Node {
	before, after := v[0][0], v[len(v)-1][3]
	dy, dx := along(1, across)
	d := make([]*Node, 2*len(v))
	for t, a := range v {
		var fourth, first *Node // of the neighbouring tiles
		if t > 0 {
			fourth = v[t-1][3]
		} else {
			fourth = f.unshifted(c, g, after, dy, dx)
		}
		if t < len(v)-1 {
			first = v[t+1][0]
		} else {
			first = f.unshifted(c, g, before, -dy, -dx)
		}
		d[2*t] = Add(Sub(Sub(a[1], a[2]), a[3]), fourth)
		d[2*t+1] = Add(Sub(Add(a[1], a[2]), a[0]), first)
	}
	if mirror {
		d[1] = Add(d[1], Mul(before, f.edge(c, g, -dy, -dx)))
		d[len(d)-2] = Add(d[len(d)-2], Mul(after, f.edge(c, g, dy, dx)))
	}
	return d
}

// outputs turns m of a tile into y.
func outputs(m four) [2]*Node {
	return [2]*Node{Add(Add(m[0], m[1]), m[2]), Add(Sub(m[1], m[2]), m[3])}
}

// unoutputs is the adjoint of outputs.
func unoutputs(y [2]*Node) four { return four{y[0], Add(y[0], y[1]), Sub(y[0], y[1]), y[1]} }

// fitsWinograd reports whether a 3x3 convolution with stride 1 of x has channels
// enough, tiles, and phases that are large enough for most of their taps to meet
// the image.
func fitsWinograd(x *maps) bool {
	return !x.leaf && x.c >= minWinograd && x.p%2 == 0 && x.h/x.p > 1 && x.w/x.p > 1
}

// winograd is a 3x3 convolution with stride 1 of maps whose phases are even in
// number, with zeros beyond the edges or what is in the mirror; b may be nil.
func (f *flat) winograd(name string, w, b *Node, x *maps, mirror bool) *maps {
	out := w.Shape().Dimensions[0]
	y := x.like(out, x.h, x.w, x.p)
	weights := f.filters(name, w)
	p, half := x.p, x.p/2
	inputs := make([]map[[4]int]*Node, len(x.at)) // by shard: tile row and column, u, v
	for i := range x.at {
		g := f.grid(i, x)
		inputs[i] = map[[4]int]*Node{}
		transform := func(d []*Node, across bool) []four {
			return tiles(d, f.beyond(x.c, g, d, -1, across, mirror), f.beyond(x.c, g, d, 1, across, mirror))
		}
		// Transform along columns, then along rows.
		rows := make([][]four, p) // by phase column and tile row
		for c := range p {
			var column []*Node
			for r := range p {
				column = append(column, x.at[i][r*p+c])
			}
			rows[c] = transform(column, false)
		}
		for r := range half {
			products := make([][4]four, half) // by tile column, v and u
			for u := range 4 {
				var row []*Node
				for c := range p {
					row = append(row, rows[c][r][u])
				}
				for c, in := range transform(row, true) {
					for v := range 4 {
						in[v] = byChannel(x.c, in[v])
						inputs[i][[4]int{r, c, u, v}] = in[v]
						m := dot(weights[u*4+v], in[v])
						if b != nil && u == 1 && v == 1 { // which all outputs add
							m = Add(m, Reshape(b, out, 1))
						}
						products[c][v][u] = line(m)
					}
				}
			}
			for c := range half {
				var columns [4][2]*Node
				for v := range 4 {
					columns[v] = outputs(products[c][v])
				}
				for s := range 2 {
					o := outputs(four{columns[0][s], columns[1][s], columns[2][s], columns[3][s]})
					y.at[i][(2*r+s)*p+2*c], y.at[i][(2*r+s)*p+2*c+1] = o[0], o[1]
				}
			}
		}
	}
	f.back = append(f.back, func() { f.backWinograd(name, weights, b != nil, inputs, x, y, mirror) })
	return y
}

// backWinograd is winograd's backward step.
func (f *flat) backWinograd(name string, weights []*Node, bias bool, inputs []map[[4]int]*Node, x, y *maps, mirror bool) {
	p, half := x.p, x.p/2
	grads := make([]*Node, 16)
	transposed := make([]*Node, 16)
	for k, u := range weights {
		transposed[k] = TransposeAllAxes(u, 1, 0)
	}
	f.eachGrad(func(i int) {
		g := f.grid(i, x)
		dRows := make([][]four, p) // by phase column and tile row
		for c := range p {
			dRows[c] = make([]four, half)
		}
		for r := range half {
			dIn := [4][]four{} // by u and tile column
			for c := range half {
				dy := func(s, t int) *Node { return f.adjointOf(y.at[i][(2*r+s)*p+2*c+t]) }
				left, right := unoutputs([2]*Node{dy(0, 0), dy(1, 0)}), unoutputs([2]*Node{dy(0, 1), dy(1, 1)})
				for u := range 4 {
					dm := unoutputs([2]*Node{left[u], right[u]})
					var in four
					for v := range 4 {
						k := u*4 + v
						d := byChannel(y.c, dm[v])
						if bias && k == 5 {
							f.addGrad(name+".bias", ReduceSum(d, 1))
						}
						grads[k] = plus(grads[k], dotRows(d, inputs[i][[4]int{r, c, u, v}]))
						in[v] = line(dot(transposed[k], d))
					}
					dIn[u] = append(dIn[u], in)
				}
			}
			for u := range 4 {
				for c, d := range f.untiles(x.c, g, dIn[u], true, mirror) {
					dRows[c][r][u] = d
				}
			}
		}
		for c := range p {
			for r, d := range f.untiles(x.c, g, dRows[c], false, mirror) {
				f.addAdjoint(x.at[i][r*p+c], d)
			}
		}
	})
	for k, d := range grads {
		grads[k] = Reshape(d, 1, y.c*x.c)
	}
	t := TransposeAllAxes(Const(f.g, filterTransform), 1, 0)
	f.addGrad(name+".weight", Reshape(transpose(dot(t, Concatenate(grads, 0)), 9), y.c, x.c, 3, 3))
}

// filters returns the 16 transformed weights of each tile position, [out, in].
func (f *flat) filters(name string, w *Node) []*Node {
	d := w.Shape().Dimensions
	all := dot(Const(f.g, filterTransform), transpose(w, d[0]*d[1]))
	list := make([]*Node, 16)
	for k := range list {
		list[k] = Reshape(part(all, []int{k}, []int{1}), d[0], d[1])
	}
	return list
}

// shifted returns a phase read at a displacement, with zeros from outside the
// images: pixel (y, x) of the result is pixel (y+dy, x+dx).
func (f *flat) shifted(c int, g grid, x *Node, dy, dx int) *Node {
	return Mul(f.shift(x, dy*g.w+dx), f.mask(c, g, -dy, -dx))
}

// unshifted is the adjoint of shifted.
func (f *flat) unshifted(c int, g grid, d *Node, dy, dx int) *Node {
	return f.shift(Mul(d, f.mask(c, g, -dy, -dx)), -(dy*g.w + dx))
}

// shift returns a line whose value at i is that of x at i+by, 0 outside.
func (f *flat) shift(x *Node, by int) *Node {
	n := x.Shape().Size()
	if by > 0 {
		return Concatenate([]*Node{part(x, []int{by}, []int{n - by}), f.fill(0, by)}, 0)
	}
	return Concatenate([]*Node{f.fill(0, -by), part(x, []int{0}, []int{n + by})}, 0)
}
