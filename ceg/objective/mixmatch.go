package objective

import (
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// MixMatch averages and sharpens predictions on two views of unlabelled images into soft labels,
// and applies MixUp to all images and labels (Berthelot et al., "MixMatch", NeurIPS 2019;
// Dassl's engine/ssl/mixmatch.py). Image i of the batch [x; u1; u2] is mixed with image perm[i]:
//
//	p       = (softmax z(u1) + softmax z(u2)) / 2
//	q       = p^2 / sum over classes of p^2           of both views, no gradient
//	l       = max(b, 1-b),  b ~ Beta(0.75, 0.75)      an image
//	mixed   = l * own + (1-l) * partner's             images, one-hot labels and q
//	L_x     = mean over images of the labelled part of -sum label * ln(softmax z + 1e-5)
//	L_u     = mean over images and classes of the other of (softmax z - label)^2
//	L_total = L_x + w * L_u,  w = 100 * min(steps/20000, 1)
func MixMatch() Objective {
	const alpha, weight, ramp = 0.75, 100, 20000
	all := func(d Dims) []int { return []int{3 * d.Batch()} }
	return Objective{
		Name: "mixmatch",
		Inputs: []Input{Images("x", Labelled, augment.WeakView), Labels("y", Labelled),
			Images("u1", Unlabelled, augment.WeakView), Images("u2", Unlabelled, augment.WeakView.Again("weak 2"))},
		Draws: []Draw{
			Ints("perm", all, func(r *rand.Rand, _ Dims, v []int32) {
				for i, j := range r.Perm(len(v)) {
					v[i] = int32(j)
				}
			}),
			Floats("lambda", all, func(r *rand.Rand, _ Dims, v []float32) {
				beta := distuv.Beta{Alpha: alpha, Beta: alpha, Src: r}
				for i := range v {
					b := beta.Rand()
					v[i] = float32(max(b, 1-b))
				}
			}),
		},
		Step: func(s Step) {
			n, classes := s.Dims().Batch(), s.Dims().Classes
			x, u1, u2 := s.In("x"), s.In("u1"), s.In("u2")
			prob := func(features *Node) *Node { return Softmax(s.Head(ClassHead, features), -1) }

			f := s.Forward(Backbone, View{Name: "u1", Images: u1, NoGrad: true}, View{Name: "u2", Images: u2, NoGrad: true})
			p := DivScalar(Add(prob(f[0]), prob(f[1])), 2)
			q := StopGradient(Div(Square(p), ReduceAndKeep(Square(p), ReduceSum, -1)))
			s.Note("prob_u", p)
			s.Note("sharp_u", q)

			images := Concatenate([]*Node{x, u1, u2}, 0)
			labels := Concatenate([]*Node{OneHot(s.In("y"), classes, q.DType()), q, q}, 0)
			partner, l := InsertAxes(s.In("perm"), 1), s.In("lambda")
			images = MixUp(images, Gather(images, partner), l)
			own := Reshape(l, 3*n, 1)
			labels = Add(Mul(labels, own), Mul(Gather(labels, partner), OneMinus(own)))
			s.Note("mix_label", labels)

			mixed := func(v *Node, from, to int) *Node { return SliceAxis(v, 0, AxisRange(from*n, to*n)) }
			f = s.Forward(Backbone, View{Name: "mix_x", Images: mixed(images, 0, 1)}, View{Name: "mix_u", Images: mixed(images, 1, 3)})
			lx := Neg(ReduceAllMean(ReduceSum(Mul(mixed(labels, 0, 1), Log(AddScalar(prob(f[0]), 1e-5))), -1)))
			lu := ReduceAllMean(Square(Sub(prob(f[1]), mixed(labels, 1, 3))))
			s.Term("x", lx)
			s.Term("u", lu)
			w := MulScalar(MinScalar(DivScalar(s.Scalar(Steps), ramp), 1), weight)
			s.Minimise("total", Add(lx, Mul(lu, w)), Backbone, ClassHead)
		},
	}
}
