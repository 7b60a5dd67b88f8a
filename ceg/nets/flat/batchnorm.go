package flat

import (
	"fmt"
	"math"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// BatchNorm implements nets.Ops.
//
// In training the statistics are of groups of passes, while a row of a shard's
// map holds several passes one after another. The row is therefore seen as
// segments of f.segment images, which all passes are multiples of: sums of
// segments are added up for each group by a matrix product, and another one
// deals the groups' values out to the segments.
func (f *flat) BatchNorm(in nets.Maps, name string) nets.Maps {
	x := settled(in)
	if !f.train {
		return f.evalNorm(x, name)
	}
	y := x.like(x.c, x.h, x.w, x.p)
	column := func(s string) *Node { return Reshape(f.param(name+s, x.c), x.c, 1) }
	gamma, beta := column(".weight"), column(".bias")

	groups := nets.Groups(f.passes)
	counts := make([]float64, len(groups)) // values per channel
	for g, group := range groups {
		for _, i := range group {
			counts[g] += float64(f.passes[i].Images.Shape().Dimensions[0] * x.h * x.w)
		}
	}
	n := Const(f.g, [][]float32{float32s(counts)})

	// Passes with and without gradients share no group and need not wait for
	// each other.
	var mean, variance *Node // [c, groups]
	for _, grad := range []bool{false, true} {
		shards := f.which(grad)
		if len(shards) == 0 {
			continue
		}
		// The mean first, then the variance of the centred maps, for accuracy.
		mu := Div(f.groupSums(shards, x, func(i, q int) *Node { return f.segmentSums(i, x.c, x.at[i][q]) }), n)
		centred := x.like(x.c, x.h, x.w, x.p)
		for _, i := range shards {
			m := f.deal(i, mu)
			for q, node := range x.at[i] {
				centred.at[i][q] = Sub(f.bySegment(i, x.c, node), m)
			}
		}
		v := Div(f.groupSums(shards, x, func(i, q int) *Node { return f.segmentSums(i, x.c, Square(centred.at[i][q])) }), n)
		inv := Inverse(Sqrt(AddScalar(v, f.norm.Eps)))
		scale := Mul(inv, gamma)
		for _, i := range shards {
			a, b := f.deal(i, scale), f.deal(i, dot(beta, f.fill(1, 1, len(groups))))
			for q, c := range centred.at[i] {
				y.at[i][q] = line(Add(Mul(c, a), b))
			}
		}
		mean, variance = plus(mean, mu), plus(variance, v)
		if grad {
			f.back = append(f.back, func() { f.backNorm(name, x, y, centred, scale, inv, n) })
		}
	}
	f.updateRunning(name, x.c, groups, mean, variance, counts)
	return y
}

// backNorm is BatchNorm's backward step. Of the forward step it takes the centred
// maps, the factors scale and inv = 1/sqrt(variance) [c, groups], and the number
// n of values per group [1, groups].
func (f *flat) backNorm(name string, x, y, centred *maps, scale, inv, n *Node) {
	shards := f.which(true)
	sum := f.groupSums(shards, x, func(i, q int) *Node { return f.segmentSums(i, x.c, f.adjointOf(y.at[i][q])) })
	product := f.groupSums(shards, x, func(i, q int) *Node {
		return f.segmentSums(i, x.c, Mul(f.bySegment(i, x.c, f.adjointOf(y.at[i][q])), centred.at[i][q]))
	})
	dGamma := Mul(product, inv)
	f.addGrad(name+".weight", ReduceSum(dGamma, 1))
	f.addGrad(name+".bias", ReduceSum(sum, 1))
	// dx = scale*(dy - sum/n - xhat*dGamma/n)
	slope := Neg(Div(Mul(Mul(scale, inv), dGamma), n))
	offset := Neg(Div(Mul(scale, sum), n))
	for _, i := range shards {
		a, b, o := f.deal(i, scale), f.deal(i, slope), f.deal(i, offset)
		for q, c := range centred.at[i] {
			d := Mul(f.bySegment(i, x.c, f.adjointOf(y.at[i][q])), a)
			f.addAdjoint(x.at[i][q], line(Add(Add(Mul(c, b), d), o)))
		}
	}
}

// evalNorm is BatchNorm with the running statistics.
func (f *flat) evalNorm(x *maps, name string) *maps {
	y := x.like(x.c, x.h, x.w, x.p)
	column := func(s string) *Node { return Reshape(f.param(name+s, x.c), x.c, 1) }
	mean := column(".running_mean")
	inv := Inverse(Sqrt(AddScalar(column(".running_var"), f.norm.Eps)))
	scale := Mul(column(".weight"), inv)
	shift := Sub(column(".bias"), Mul(mean, scale))
	for i := range x.at {
		for q, node := range x.at[i] {
			y.at[i][q] = line(Add(Mul(byChannel(x.c, node), scale), shift))
		}
	}
	f.backward(func(i int) {
		for q, node := range y.at[i] {
			d, v := byChannel(x.c, f.adjointOf(node)), byChannel(x.c, x.at[i][q])
			f.addAdjoint(x.at[i][q], line(Mul(d, scale)))
			sum, sumX := ReduceSum(d, 1), ReduceSum(Mul(d, v), 1)
			f.addGrad(name+".weight", Mul(Sub(sumX, Mul(line(mean), sum)), line(inv)))
			f.addGrad(name+".bias", sum)
		}
	})
	return y
}

// byChannel reads a phase of c channels as a matrix with a row for each.
func byChannel(c int, x *Node) *Node { return Reshape(x, c, x.Shape().Size()/c) }

// updateRunning updates the running statistics with every group that updates them, in order, each
// by the momentum.
func (f *flat) updateRunning(name string, c int, groups [][]int, mu, v *Node, counts []float64) {
	momentum := f.norm.Momentum
	keep := 1.0
	mean, variance := make([]float64, len(groups)), make([]float64, len(groups))
	for g := len(groups) - 1; g >= 0; g-- {
		if f.passes[groups[g][0]].UpdateStats {
			mean[g] = keep * momentum
			variance[g] = keep * momentum * counts[g] / math.Max(counts[g]-1, 1)
			keep *= 1 - momentum
		}
	}
	for _, s := range []struct {
		name    string
		batch   *Node // [c, groups]
		weights []float64
	}{{".running_mean", mu, mean}, {".running_var", v, variance}} {
		w := Reshape(Const(f.g, float32s(s.weights)), len(groups), 1)
		old := f.param(name+s.name, c)
		f.running[name+s.name] = Add(MulScalar(old, keep), Reshape(dot(s.batch, w), c))
	}
}

// segments returns the number of segments of a shard.
func (f *flat) segments(shard int) int { return f.images(shard) / f.segment }

// bySegment reads a phase of c channels as a matrix with a row for each segment
// of each channel.
func (f *flat) bySegment(shard, c int, x *Node) *Node { return byChannel(c*f.segments(shard), x) }

// segmentSums returns the sums [c, segments] of a phase of c channels.
func (f *flat) segmentSums(shard, c int, x *Node) *Node {
	return Reshape(ReduceSum(f.bySegment(shard, c, x), 1), c, f.segments(shard))
}

// groupSums adds the segments' sums [c, segments] of all phases of shards, which
// sums returns, into [c, groups].
func (f *flat) groupSums(shards []int, m *maps, sums func(shard, phase int) *Node) *Node {
	var all *Node
	for _, i := range shards {
		var total *Node
		for q := range m.at[i] {
			total = plus(total, sums(i, q))
		}
		all = plus(all, dot(total, f.member(i)))
	}
	return all
}

// deal returns a column with the value of its group for every row that bySegment
// makes of a shard's phases; values are [c, groups].
func (f *flat) deal(shard int, values *Node) *Node {
	column := dotRows(values, f.member(shard))
	return Reshape(column, column.Shape().Size(), 1)
}

// member is the 0/1 matrix [segments, groups] of the groups that a shard's
// segments belong to.
func (f *flat) member(shard int) *Node {
	return f.once(fmt.Sprint("member", shard), func() *Node {
		groups := nets.Groups(f.passes)
		of := make([]int, len(f.passes))
		for g, group := range groups {
			for _, i := range group {
				of[i] = g
			}
		}
		var rows [][]float32
		for _, i := range f.shards[shard].passes {
			for range f.passes[i].Images.Shape().Dimensions[0] / f.segment {
				row := make([]float32, len(groups))
				row[of[i]] = 1
				rows = append(rows, row)
			}
		}
		return Const(f.g, rows)
	})
}

func float32s(v []float64) []float32 {
	out := make([]float32, len(v))
	for i := range v {
		out[i] = float32(v[i])
	}
	return out
}
