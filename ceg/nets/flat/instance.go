package flat

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Operations on each channel of each image see a phase as a matrix with one row per channel and
// image.

// byImage reads a phase of a shard of m as a matrix with a row for each image of each
// channel.
func (f *flat) byImage(shard int, m *maps, x *Node) *Node { return byChannel(m.c*f.images(shard), x) }

// placeSums applies of to every phase and returns the sums over all positions of an image,
// [c*images, 1].
func (f *flat) placeSums(shard int, m *maps, of func(q int) *Node) *Node {
	var total *Node
	for q := range m.at[shard] {
		total = plus(total, of(q))
	}
	return Reshape(ReduceSum(f.byImage(shard, m, total), 1), m.c*f.images(shard), 1)
}

// InstanceNorm is nets.InstanceNorm.
func (f *flat) InstanceNorm(in nets.Maps, eps float64) nets.Maps {
	x := settled(in)
	y := x.like(x.c, x.h, x.w, x.p)
	inverse := make([]*Node, len(x.at)) // of the standard deviations
	places := float64(x.h * x.w)
	for i := range x.at {
		mean := DivScalar(f.placeSums(i, x, func(q int) *Node { return x.at[i][q] }), places)
		centred := make([]*Node, len(x.at[i]))
		for q, node := range x.at[i] {
			centred[q] = Sub(f.byImage(i, x, node), mean)
		}
		variance := DivScalar(f.placeSums(i, x, func(q int) *Node { return Square(centred[q]) }), places)
		inverse[i] = Inverse(Sqrt(AddScalar(variance, eps)))
		for q, c := range centred {
			y.at[i][q] = line(Mul(c, inverse[i]))
		}
	}
	f.backward(func(i int) {
		// dx = (dy - mean(dy) - y*mean(dy*y)) / deviation
		dy := f.adjoints(i, y)
		mean := DivScalar(f.placeSums(i, y, func(q int) *Node { return dy[q] }), places)
		slope := DivScalar(f.placeSums(i, y, func(q int) *Node { return Mul(dy[q], y.at[i][q]) }), places)
		slope, offset := Mul(slope, inverse[i]), Mul(mean, inverse[i])
		for q, node := range y.at[i] {
			d := Sub(Mul(f.byImage(i, y, dy[q]), inverse[i]), Mul(f.byImage(i, y, node), slope))
			f.addAdjoint(x.at[i][q], line(Sub(d, offset)))
		}
	})
	return y
}

// WithMeans is nets.WithMeans.
func (f *flat) WithMeans(in nets.Maps) nets.Maps {
	x := settled(in)
	y := x.like(2*x.c, x.h, x.w, x.p)
	places := float64(x.h * x.w)
	for i := range x.at {
		n := f.grid(i, x).h * f.grid(i, x).w
		mean := f.spread(DivScalar(f.placeSums(i, x, func(q int) *Node { return x.at[i][q] }), places), n)
		for q, node := range x.at[i] {
			y.at[i][q] = Concatenate([]*Node{node, mean}, 0)
		}
	}
	f.backward(func(i int) {
		dy := f.adjoints(i, y)
		size := x.at[i][0].Shape().Size()
		half := func(q, which int) *Node { return gatherSlice(dy[q], []int{which * size}, []int{size}) }
		n := f.grid(i, x).h * f.grid(i, x).w
		mean := f.spread(DivScalar(f.placeSums(i, x, func(q int) *Node { return half(q, 1) }), places), n)
		for q, node := range x.at[i] {
			f.addAdjoint(node, Add(half(q, 0), mean))
		}
	})
	return y
}
