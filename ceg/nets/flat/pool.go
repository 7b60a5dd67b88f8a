package flat

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// MaxPool implements nets.Ops for the two poolings in use: 2x2 with stride 2 on
// maps of any side (an odd last row or column is left out, as in PyTorch), and
// 3x3 with stride 2 and padding 1.
func (f *flat) MaxPool(in nets.Maps, kernel, stride, padding int) nets.Maps {
	x := in.(*maps)
	if x.rectify != nil {
		plain := *x
		plain.rectify = nil
		return f.ReLU(f.MaxPool(&plain, kernel, stride, padding))
	}
	if kernel == 3 && stride == 2 && padding == 1 {
		return f.maxPool3(x)
	}
	if kernel != 2 || stride != 2 || padding != 0 {
		panic(fmt.Sprintf("only max-pooling 2x2/2 and 3x3/2 with padding 1 is built, got %dx%d/%d with padding %d", kernel, kernel, stride, padding))
	}
	if x.h%2 != 0 || x.w%2 != 0 {
		x = f.crop(x)
	}
	if x.p%2 != 0 {
		x = f.split(x)
	}
	y := x.like(x.c, x.h/2, x.w/2, x.p/2)
	for i := range x.at {
		for q := range y.at[i] {
			a, b := q/y.p, q%y.p
			at := func(s, t int) *Node { return x.at[i][(2*a+s)*x.p+2*b+t] }
			y.at[i][q] = f.max(f.max(at(0, 0), at(0, 1)), f.max(at(1, 0), at(1, 1)))
		}
	}
	return y
}

// max is the maximum of two nodes with its backward step, in which the first one
// receives the gradient where they are equal. The first one may be nil.
func (f *flat) max(a, b *Node) *Node {
	if a == nil {
		return b
	}
	m := Max(a, b)
	f.back = append(f.back, func() {
		d := f.adjoint[m]
		if d == nil {
			return // a shard without gradient
		}
		db := wherePositive(Sub(b, a), d)
		f.addAdjoint(a, Sub(d, db))
		f.addAdjoint(b, db)
	})
	return m
}

// crop leaves out the last row or column of maps with an odd side; such maps
// have one phase.
func (f *flat) crop(x *maps) *maps {
	y := x.like(x.c, x.h/2*2, x.w/2*2, 1)
	for i := range x.at {
		b := f.images(i)
		v := Reshape(x.at[i][0], x.c, b, x.h, x.w)
		v = Slice(v, AxisRange(), AxisRange(), AxisRange(0, y.h), AxisRange(0, y.w))
		y.at[i][0] = line(v)
	}
	f.backward(func(i int) {
		b := f.images(i)
		d := Reshape(f.adjointOf(y.at[i][0]), x.c, b, y.h, y.w)
		f.addAdjoint(x.at[i][0], line(f.extend(d, x.h, x.w, 0)))
	})
	return y
}

// even gives maps with an odd side another row or column of one value.
func (f *flat) even(x *maps, value float64) *maps {
	if x.h%2 == 0 && x.w%2 == 0 {
		return x
	}
	y := x.like(x.c, (x.h+1)/2*2, (x.w+1)/2*2, 1)
	for i := range x.at {
		b := f.images(i)
		v := f.extend(Reshape(x.at[i][0], x.c, b, x.h, x.w), y.h, y.w, value)
		y.at[i][0] = line(v)
	}
	y.leaf = x.leaf
	if !y.leaf {
		f.backward(func(i int) {
			b := f.images(i)
			d := Reshape(f.adjointOf(y.at[i][0]), x.c, b, y.h, y.w)
			d = Slice(d, AxisRange(), AxisRange(), AxisRange(0, x.h), AxisRange(0, x.w))
			f.addAdjoint(x.at[i][0], line(d))
		})
	}
	return y
}

// extend appends at most one row and one column of a value to [c, images, h, w].
func (f *flat) extend(v *Node, h, w int, value float64) *Node {
	d := v.Shape().Dimensions
	if w > d[3] {
		v = Concatenate([]*Node{v, f.fill(value, d[0], d[1], d[2], 1)}, 3)
	}
	if h > d[2] {
		v = Concatenate([]*Node{v, f.fill(value, d[0], d[1], 1, w)}, 2)
	}
	return v
}

// low is below every activation.
const low = -1e38

// maxPool3 is 3x3 max-pooling with stride 2 and padding 1.
func (f *flat) maxPool3(x *maps) *maps {
	x = f.even(x, low)
	if x.p%2 != 0 {
		x = f.split(x)
	}
	y := x.like(x.c, x.h/2, x.w/2, x.p/2)
	win := window{k: 3, stride: 2, pad: 1, p: x.p, q: y.p}
	for i := range x.at {
		g := f.grid(i, x)
		// along rows, then along columns
		rows := make([]*Node, x.p*y.p)
		for r := range rows {
			for k := range win.k {
				px, dx := win.axis(r%y.p, k)
				v := f.displaced(i, x.c, g, x.at[i][r/y.p*x.p+px], 0, dx)
				rows[r] = f.max(rows[r], v)
			}
		}
		for q := range y.at[i] {
			for k := range win.k {
				py, dy := win.axis(q/y.p, k)
				v := f.displaced(i, x.c, g, rows[py*y.p+q%y.p], dy, 0)
				y.at[i][q] = f.max(y.at[i][q], v)
			}
		}
	}
	return y
}

// displaced returns a phase read at a displacement: pixel (y, x) of the result
// is pixel (y+dy, x+dx), and so low outside the image that no maximum takes it.
func (f *flat) displaced(shard, c int, g grid, x *Node, dy, dx int) *Node {
	if dy == 0 && dx == 0 {
		return x
	}
	by := dy*g.w + dx
	inside := f.mask(c, g, -dy, -dx)
	outside := f.once(fmt.Sprint("outside", c, g, dy, dx), func() *Node {
		return MulScalar(OneMinus(inside), low)
	})
	y := Add(f.shift(x, by), outside)
	f.back = append(f.back, func() {
		if f.shards[shard].grad {
			f.addAdjoint(x, f.shift(Mul(f.adjointOf(y), inside), -by))
		}
	})
	return y
}
