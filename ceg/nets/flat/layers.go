package flat

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// ReLU implements nets.Ops.
func (f *flat) ReLU(in nets.Maps) nets.Maps {
	x := in.(*maps)
	y := x.like(x.c, x.h, x.w, x.p)
	for i := range x.at {
		for q, node := range x.at[i] {
			y.at[i][q] = Max(node, f.fill(0))
		}
	}
	f.backward(func(i int) {
		for q, node := range y.at[i] {
			positive := ones01(GreaterThan(node, f.fill(0)))
			f.addAdjoint(x.at[i][q], Mul(f.adjointOf(node), positive))
		}
	})
	return y
}

// Add implements nets.Ops.
func (f *flat) Add(a, b nets.Maps) nets.Maps {
	x, z := a.(*maps), b.(*maps)
	if x.c != z.c || x.h != z.h || x.w != z.w {
		panic(fmt.Sprintf("cannot add maps [%d, %d, %d] and [%d, %d, %d]", x.c, x.h, x.w, z.c, z.h, z.w))
	}
	for x.p < z.p {
		x = f.split(x)
	}
	for z.p < x.p {
		z = f.split(z)
	}
	y := x.like(x.c, x.h, x.w, x.p)
	for i := range x.at {
		for q := range x.at[i] {
			y.at[i][q] = Add(x.at[i][q], z.at[i][q])
		}
	}
	f.backward(func(i int) {
		for q, node := range y.at[i] {
			f.addAdjoint(x.at[i][q], f.adjointOf(node))
			f.addAdjoint(z.at[i][q], f.adjointOf(node))
		}
	})
	return y
}

// features pools the last maps into [images, dim] for every pass, and returns
// the backward step, which takes the gradients of the features.
func (f *flat) features(x *maps, pooling nets.Pooling) (feats []*Node, pull func([]*Node)) {
	pool, unpool := f.mean, f.unmean
	if pooling == nets.FlattenPool {
		pool, unpool = f.flatten, f.unflatten
	}
	feats = make([]*Node, len(f.passes))
	for i, s := range f.shards {
		all := pool(i, x)
		row := 0
		for _, j := range s.passes {
			n := f.passes[j].Images.Shape().Dimensions[0]
			feats[j] = Slice(all, AxisRange(row, row+n))
			row += n
		}
	}
	return feats, func(adjoints []*Node) {
		f.eachGrad(func(i int) {
			var rows []*Node
			for _, j := range f.shards[i].passes {
				d := adjoints[j]
				if d == nil {
					d = ZerosLike(feats[j])
				}
				rows = append(rows, d)
			}
			unpool(i, x, Concatenate(rows, 0))
		})
	}
}

// mean averages the last maps of a shard, [images, c].
func (f *flat) mean(shard int, x *maps) *Node {
	var total *Node
	for _, node := range x.at[shard] {
		total = plus(total, node)
	}
	g := f.grid(shard, x)
	v := ReduceSum(Reshape(total, x.c, g.images, g.h*g.w), 2)
	return TransposeAllAxes(DivScalar(v, float64(x.h*x.w)), 1, 0)
}

// unmean is mean's backward step.
func (f *flat) unmean(shard int, x *maps, d *Node) {
	g := f.grid(shard, x)
	v := Reshape(DivScalar(TransposeAllAxes(d, 1, 0), float64(x.h*x.w)), x.c*g.images, 1)
	v = f.spread(v, g.h*g.w)
	for _, node := range x.at[shard] {
		f.addAdjoint(node, v)
	}
}

// flatten lays out the last maps of a shard as [images, c*h*w], channel by
// channel.
func (f *flat) flatten(shard int, x *maps) *Node {
	g := f.grid(shard, x)
	parts := make([]*Node, len(x.at[shard]))
	for q, node := range x.at[shard] {
		parts[q] = Reshape(node, 1, x.c, g.images, g.h, g.w)
	}
	// [py, px, c, images, h, w] to [images, c, h, py, w, px]
	v := Reshape(Concatenate(parts, 0), x.p, x.p, x.c, g.images, g.h, g.w)
	return Reshape(TransposeAllAxes(v, 3, 2, 4, 0, 5, 1), g.images, x.c*x.h*x.w)
}

// unflatten is flatten's backward step.
func (f *flat) unflatten(shard int, x *maps, d *Node) {
	g := f.grid(shard, x)
	v := Reshape(d, g.images, x.c, g.h, x.p, g.w, x.p)
	v = Reshape(TransposeAllAxes(v, 3, 5, 1, 0, 2, 4), x.p*x.p, x.c, g.columns())
	for q, node := range x.at[shard] {
		f.addAdjoint(node, line(Slice(v, AxisElem(q))))
	}
}
