package flat

import (
	"fmt"
	"slices"

	"github.com/gomlx/compute"
	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
)

// ReLU implements nets.Ops. It is put off until another layer than max-pooling
// reads the maps: the maximum of rectified values is the rectified maximum, and
// there are fewer of those.
func (f *flat) ReLU(in nets.Maps) nets.Maps {
	x := in.(*maps)
	y := *x
	y.rectify = func() *maps { return f.relu(x) }
	return &y
}

// settled returns maps with nothing put off.
func settled(in nets.Maps) *maps {
	x := in.(*maps)
	if x.rectify == nil {
		return x
	}
	if x.rectified == nil {
		x.rectified = x.rectify()
	}
	return x.rectified
}

func (f *flat) relu(x *maps) *maps {
	y := x.like(x.c, x.h, x.w, x.p)
	for i := range x.at {
		for q, node := range x.at[i] {
			y.at[i][q] = Max(node, f.fill(0))
		}
	}
	f.backward(func(i int) {
		for q, node := range y.at[i] {
			f.addAdjoint(x.at[i][q], wherePositive(node, f.adjointOf(node)))
		}
	})
	return y
}

// ReLU6 implements nets.Ops. It has the gradient of two ReLUs: 6 - ReLU(6 - ReLU(x)).
func (f *flat) ReLU6(in nets.Maps) nets.Maps {
	x := settled(in)
	y := x.like(x.c, x.h, x.w, x.p)
	for i := range x.at {
		for q, node := range x.at[i] {
			y.at[i][q] = Min(Max(node, f.fill(0)), f.fill(6))
		}
	}
	f.backward(func(i int) {
		for q, node := range y.at[i] {
			d := wherePositive(Sub(f.fill(6), node), f.adjointOf(node))
			f.addAdjoint(x.at[i][q], wherePositive(node, d))
		}
	})
	return y
}

// wherePositive is d where x is positive, and else zero.
func wherePositive(x, d *Node) *Node {
	if x.Graph().Backend().Name() == "xla" {
		return Where(GreaterThan(x, ZerosLike(x)), d, ZerosLike(d))
	}
	return BackendFusedActivationVJP(x, nil, d, compute.ActivationConfig{Type: compute.ActivationRelu})
}

func (f *flat) Add(a, b nets.Maps) nets.Maps {
	x, z := settled(a), settled(b)
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

// features returns for every pass its features [images, dim] or its last maps
// [images, h, w, c], and the backward step, which takes their gradients.
func (f *flat) features(x *maps, pooling config.Pooling) (feats []*Node, pull func([]*Node)) {
	pool, unpool := f.mean, f.unmean
	if pooling == config.FlattenPool {
		pool, unpool = f.flatten, f.unflatten
	}
	// A shard has passes of either kind: its images all take both ways if they must.
	asMaps := func(j int) bool { return f.passes[j].Maps || pooling == nets.NoPool }
	feats = make([]*Node, len(f.passes))
	for i, s := range f.shards {
		var pooled, whole *Node
		row := 0
		for _, j := range s.passes {
			n := f.passes[j].Images.Shape().Dimensions[0]
			if asMaps(j) {
				if whole == nil {
					whole = f.toImages(i, x, x.at[i])
				}
				feats[j] = SliceAxis(whole, 0, AxisRange(row, row+n))
			} else {
				if pooled == nil {
					pooled = pool(i, x)
				}
				feats[j] = Slice(pooled, AxisRange(row, row+n))
			}
			row += n
		}
	}
	// rows lays out the gradients of the passes of one kind, zeros for the others.
	rows := func(shard int, adjoints []*Node, whole bool) *Node {
		var like *Node
		for _, j := range f.shards[shard].passes {
			if asMaps(j) == whole {
				like = feats[j]
			}
		}
		if like == nil {
			return nil
		}
		var list []*Node
		for _, j := range f.shards[shard].passes {
			d := adjoints[j]
			if d == nil || asMaps(j) != whole {
				dims := slices.Clone(like.Shape().Dimensions)
				dims[0] = f.passes[j].Images.Shape().Dimensions[0]
				d = Zeros(f.g, shapes.Make(dtypes.Float32, dims...))
			}
			list = append(list, d)
		}
		return Concatenate(list, 0)
	}
	return feats, func(adjoints []*Node) {
		f.eachGrad(func(i int) {
			if d := rows(i, adjoints, false); d != nil {
				unpool(i, x, d)
			}
			if d := rows(i, adjoints, true); d != nil {
				f.addAdjoints(i, x, f.toPhases(i, x, d))
			}
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
	phases := make([]*Node, len(x.at[shard]))
	for q, node := range x.at[shard] {
		phases[q] = Reshape(node, 1, x.c, g.images, g.h, g.w)
	}
	// [py, px, c, images, h, w] to [images, c, h, py, w, px]
	v := Reshape(Concatenate(phases, 0), x.p, x.p, x.c, g.images, g.h, g.w)
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
