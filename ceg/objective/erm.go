package objective

import (
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// ERM is empirical risk minimisation: cross-entropy on the labelled images of all source
// domains, the baseline "DeepAll" (Dassl's engine/dg/vanilla.py).
//
//	L_total = mean over images of CE(z(x), y)
//
// Dassl uses one joint batch and a mean loss, the zero value of Passes.
func ERM(p Passes) Objective {
	return Objective{
		Name:   "erm",
		Inputs: []Input{Images("x", Labelled, augment.WeakView), Labels("y", Labelled)},
		Step: func(s Step) {
			k := s.Dims().Domains
			x := s.Forward(Backbone, View{Name: "x", Images: s.In("x"), Parts: p.Parts(k)})[0]
			ce := p.Reduce(CrossEntropy(s.Head(ClassHead, x), s.In("y")), k)
			s.Minimise("total", ce, Backbone, ClassHead)
		},
	}
}
