package flat

import (
	. "github.com/gomlx/gomlx/core/graph"
)

// A 3x3 convolution with stride 1 computes tiles of 2x2 outputs by the minimal filtering F(2x2,
// 3x3) of Lavin and Gray (2016, section 4.1): 16 products for 4 outputs instead of 36, of
// transformed inputs and weights. Phases make the transforms sums of whole nodes: the inputs of a
// tile are 4x4 neighbouring phases; only phases beyond the last one are displaced. There is no
// column matrix.
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

// tile transforms the values of tile t along one axis of phases. before and after are
// the phases beyond the first and the last.
func tile(d []*Node, t int, before, after *Node) four {
	first, fourth := before, after
	if t > 0 {
		first = d[2*t-1]
	}
	if 2*t+2 < len(d) {
		fourth = d[2*t+2]
	}
	d1, d2 := d[2*t], d[2*t+1]
	return four{Sub(first, d2), Add(d1, d2), Sub(d2, d1), Sub(fourth, d1)}
}

// untile is the adjoint of tile: it returns phase q, of those of v's tiles, along rows
// or across them.
func (f *flat) untile(c int, g grid, v []four, q int, across, mirror bool) *Node {
	t, last := q/2, len(v)-1
	dy, dx := along(1, across)
	var d *Node
	if q%2 == 0 {
		var fourth *Node // of the tile before
		if t > 0 {
			fourth = v[t-1][3]
		} else {
			fourth = f.unshifted(c, g, v[last][3], dy, dx)
		}
		d = Add(Sub(Sub(v[t][1], v[t][2]), v[t][3]), fourth)
	} else {
		var first *Node // of the next one
		if t < last {
			first = v[t+1][0]
		} else {
			first = f.unshifted(c, g, v[0][0], -dy, -dx)
		}
		d = Add(Sub(Add(v[t][1], v[t][2]), v[t][0]), first)
	}
	if mirror && q == 1 {
		d = Add(d, Mul(v[0][0], f.edge(c, g, -dy, -dx)))
	}
	if mirror && q == 2*last {
		d = Add(d, Mul(v[last][3], f.edge(c, g, dy, dx)))
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

// winograd is a 3x3 convolution with stride 1 of maps whose phases are even in number, with zeros
// or mirrored values beyond the edges; b may be nil.
func (f *flat) winograd(name string, w, b *Node, x *maps, mirror bool) *maps {
	out := w.Shape().Dimensions[0]
	y := x.like(out, x.h, x.w, x.p)
	weights := f.filters(w)
	p, half := x.p, x.p/2
	inputs := make([]map[[4]int]*Node, len(x.at)) // by shard: tile row and column, u, v
	for i := range x.at {
		g := f.grid(i, x)
		inputs[i] = map[[4]int]*Node{}
		beyond := func(d []*Node, across bool) (before, after *Node) {
			return f.beyond(x.c, g, d, -1, across, mirror), f.beyond(x.c, g, d, 1, across, mirror)
		}
		columns := make([][]*Node, p)
		above, below := make([]*Node, p), make([]*Node, p)
		for c := range p {
			for r := range p {
				columns[c] = append(columns[c], x.at[i][r*p+c])
			}
			above[c], below[c] = beyond(columns[c], false)
		}
		// One row of tiles after the other, transformed along columns, then along rows, so
		// that what a tile is made of is still in the core's cache.
		for r := range half {
			var rows [4][]*Node // by u, of all phase columns
			for c := range p {
				for u, node := range tile(columns[c], r, above[c], below[c]) {
					rows[u] = append(rows[u], node)
				}
			}
			var left, right [4]*Node
			for u := range 4 {
				left[u], right[u] = beyond(rows[u], true)
			}
			for c := range half {
				var in [4]four // by u
				for u := range 4 {
					in[u] = tile(rows[u], c, left[u], right[u])
				}
				var sums [4][2]*Node
				for v := range 4 {
					var products four
					for u := range 4 {
						d := byChannel(x.c, in[u][v])
						inputs[i][[4]int{r, c, u, v}] = d
						m := dot(weights[u*4+v], d)
						if b != nil && u == 1 && v == 1 { // which all outputs add
							m = Add(m, Reshape(b, out, 1))
						}
						products[u] = line(m)
					}
					sums[v] = outputs(products)
				}
				for s := range 2 {
					o := outputs(four{sums[0][s], sums[1][s], sums[2][s], sums[3][s]})
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
		pull := func(r int) { // to the phases of row r
			for c := range p {
				f.addAdjoint(x.at[i][r*p+c], f.untile(x.c, g, dRows[c], r, false, mirror))
			}
		}
		for r := range half {
			left, right := make([]four, half), make([]four, half) // by tile column
			for c := range half {
				dy := func(s, t int) *Node { return f.adjointOf(y.at[i][(2*r+s)*p+2*c+t]) }
				left[c], right[c] = unoutputs([2]*Node{dy(0, 0), dy(1, 0)}), unoutputs([2]*Node{dy(0, 1), dy(1, 1)})
			}
			for u := range 4 {
				dIn := make([]four, half)
				for c := range half {
					dm := unoutputs([2]*Node{left[c][u], right[c][u]})
					for v := range 4 {
						k := u*4 + v
						d := byChannel(y.c, dm[v])
						if bias && k == 5 {
							f.addGrad(name+".bias", ReduceSum(d, 1))
						}
						grads[k] = plus(grads[k], dotRows(d, inputs[i][[4]int{r, c, u, v}]))
						dIn[c][v] = line(dot(transposed[k], d))
					}
				}
				for c := range p {
					dRows[c][r][u] = f.untile(x.c, g, dIn, c, true, mirror)
				}
			}
			// A row of phases is complete with the tiles on both of its sides. Beyond the edges
			// the first and the last one are beside each other.
			for q := max(2*r-2, 1); q < 2*r; q++ {
				pull(q)
			}
		}
		for q := max(p-2, 1); q < p; q++ {
			pull(q)
		}
		pull(0)
	})
	for k, d := range grads {
		grads[k] = Reshape(d, 1, y.c*x.c)
	}
	t := TransposeAllAxes(Const(f.g, filterTransform), 1, 0)
	f.addGrad(name+".weight", Reshape(transpose(dot(t, Concatenate(grads, 0)), 9), y.c, x.c, 3, 3))
}

// filters returns the 16 transformed weights of each tile position, [out, in].
func (f *flat) filters(w *Node) []*Node {
	d := w.Shape().Dimensions
	all := dot(Const(f.g, filterTransform), transpose(w, d[0]*d[1]))
	list := make([]*Node, 16)
	for k := range list {
		list[k] = Reshape(gatherSlice(all, []int{k}, []int{1}), d[0], d[1])
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

// shift returns a line whose value at i is x's value at i+by, 0 outside.
func (f *flat) shift(x *Node, by int) *Node {
	n := x.Shape().Size()
	if by > 0 {
		return Concatenate([]*Node{gatherSlice(x, []int{by}, []int{n - by}), f.fill(0, by)}, 0)
	}
	return Concatenate([]*Node{f.fill(0, -by), gatherSlice(x, []int{0}, []int{n + by})}, 0)
}
