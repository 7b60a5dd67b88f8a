package objective

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// MeanTeacher trains a student to match its moving-average teacher on unlabelled images
// (Tarvainen and Valpola, "Mean teachers are better role models", NeurIPS 2017; Dassl's
// engine/ssl/mean_teacher.py). Student and teacher see the same view, and both are in train
// mode.
//
//	s, t    = softmax z(u), softmax z_teacher(u)
//	L_x     = mean CE(z(x), y)
//	L_u     = mean over images of the sum over classes of (s - t)^2
//	L_total = L_x + w * L_u,  w = exp(-5 * (1 - min(epoch, 5)/5)^2)
//	teacher = a * teacher + (1-a) * student,  a = min(1 - 1/(steps+1), 0.999)
func MeanTeacher() Objective {
	const ramp, keep = 5, 0.999
	return Objective{
		Name: "meanteacher",
		Inputs: []Input{Images("x", Labelled, augment.WeakView), Labels("y", Labelled),
			Images("u", Unlabelled, augment.WeakView)},
		Nets: func(d Dims) []Net { return Teacher("teacher", d) },
		Step: func(s Step) {
			f := s.Forward(Backbone, View{Name: "x", Images: s.In("x")}, View{Name: "u", Images: s.In("u")})
			taught := s.Forward("teacher", View{Name: "teacher.u", Images: s.In("u"), NoGrad: true})[0]

			lx := ReduceAllMean(CrossEntropy(s.Head(ClassHead, f[0]), s.In("y")))
			student := Softmax(s.Head(ClassHead, f[1]), -1)
			target := StopGradient(Softmax(s.Head("teacher.fc", taught), -1))
			s.Note("prob_u", student)
			s.Note("target_u", target)
			lu := ReduceAllMean(ReduceSum(Square(Sub(student, target)), -1))
			s.Term("x", lx)
			s.Term("u", lu)
			s.Minimise("total", Add(lx, Mul(lu, RampUp(s.Scalar(Epoch), ramp))), Backbone, ClassHead)

			a := MinScalar(OneMinus(Inverse(AddScalar(s.Scalar(Steps), 1))), keep)
			EMA(s, "teacher", Backbone, a)
			EMA(s, "teacher.fc", ClassHead, a)
		},
	}
}

// RampUp returns exp(-5 * (1 - min(x, end)/end)^2) of a scalar x: it rises from exp(-5) at 0 to
// 1 at end and stays there.
func RampUp(x *Node, end float64) *Node {
	short := OneMinus(DivScalar(MinScalar(x, end), end))
	return Exp(MulScalar(Square(short), -5))
}
