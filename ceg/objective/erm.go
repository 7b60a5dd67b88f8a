package objective

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/augment"
)

// ERM is cross-entropy on the labelled images of all source domains together,
// empirical risk minimisation: the baseline "DeepAll" (Dassl's
// engine/dg/vanilla.py).
//
//	L_total = mean over images of CE(z(x), y)
func ERM() Objective {
	return Objective{
		Name:   "erm",
		Inputs: []Input{Images("x", Labelled, augment.WeakView), Labels("y", Labelled)},
		Step: func(s Step) {
			x := s.Forward(Backbone, View{Name: "x", Images: s.In("x")})[0]
			ce := ReduceAllMean(CrossEntropy(s.Head(ClassHead, x), s.In("y")))
			s.Minimise("total", ce, Backbone, ClassHead)
		},
	}
}
