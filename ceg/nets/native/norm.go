package native

import (
	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"
)

// normaliseCPU normalises x [images, h, w, c] with the statistics of every group,
// and returns the means and variances, [groups, c]. The lane is seen as segments
// of images that all groups are multiples of; a product with a 0/1 matrix adds
// their sums up for the groups, and another one deals the groups' values out. So
// every large operation is one reduction, or one loop, over the whole lane.
func (l lane) normaliseCPU(x, gamma, beta *Node, eps float64) (y, mean, variance *Node) {
	g, d := x.Graph(), x.Shape().Dimensions
	c := d[3]
	segment := 0
	for _, group := range l.Groups {
		for a, b := group.Images, segment; ; a, b = b, a%b {
			if b == 0 {
				segment = a
				break
			}
		}
	}
	var member, counts [][]float32 // [segments, groups], [groups, 1]
	for i, group := range l.Groups {
		for range group.Images / segment {
			row := make([]float32, len(l.Groups))
			row[i] = 1
			member = append(member, row)
		}
		counts = append(counts, []float32{float32(group.Images * d[1] * d[2])})
	}
	segments := len(member)
	of, n := Const(g, member), Const(g, counts)
	lines := func(v *Node) *Node { return Reshape(cast(v, dtypes.Float32), segments, -1, c) }
	sum := func(v *Node) *Node { return DotGeneral(of, []int{0}, nil, ReduceSum(v, 1), []int{0}, nil) }
	deal := func(v *Node) *Node { return Reshape(Dot(of, v).Product(), segments, 1, c) }

	v := lines(StopGradient(x))
	mean = Div(sum(v), n)
	centred := Sub(v, deal(mean))
	variance = Div(sum(Square(centred)), n)
	inverse := Inverse(Sqrt(AddScalar(variance, eps)))
	scale := Mul(inverse, Reshape(StopGradient(gamma), 1, c))
	y = withGradients(func(in ...*Node) *Node {
		// The inputs enter in a way that leaves the values alone.
		y := Add(Mul(Sub(lines(in[0]), deal(mean)), deal(Mul(inverse, Reshape(in[1], 1, c)))), Reshape(in[2], 1, 1, c))
		return cast(Reshape(y, d...), x.DType())
	}, []*Node{x, gamma, beta},
		func(_, dy *Node) *Node {
			// scale*(dy - sum(dy)/n - centred*sum(dy*centred)/(n*(variance + eps)))
			dy = lines(dy)
			slope := Mul(scale, Mul(Square(inverse), Div(sum(Mul(dy, centred)), n)))
			offset := Sub(Mul(slope, mean), Mul(scale, Div(sum(dy), n)))
			dx := Add(Sub(Mul(dy, deal(scale)), Mul(v, deal(slope))), deal(offset))
			return cast(Reshape(dx, d...), x.DType())
		},
		func(_, dy *Node) *Node { return ReduceSum(Mul(sum(Mul(lines(dy), centred)), inverse), 0) },
		func(_, dy *Node) *Node { return ReduceSum(sum(lines(dy)), 0) })
	return y, mean, variance
}
