package objective

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/augment"
)

// FixMatch trains on what weak views say of themselves with confidence, by strong
// views (Sohn et al., "FixMatch", NeurIPS 2020), in its form for several domains
// (ssdg-benchmark's trainers/stylematch.py): each domain passes by itself, labelled
// images are pseudo-labelled too, and losses are sums over domains.
//
//	q, m    = argmax p(x_weak), [max p(x_weak) >= tau]      of labelled and unlabelled
//	L_x     = sum over domains of mean CE(z(x_weak), y)     of labelled
//	L_ac    = sum over domains of mean m * CE(z(x_strong), q)
//	L_total = L_x + L_ac
func FixMatch(tau float64) Objective {
	return Objective{
		Name: "fixmatch",
		Inputs: []Input{
			Images("x_weak", Labelled, augment.WeakView), Images("x_strong", Labelled, augment.StrongView), Labels("y", Labelled),
			Images("u_weak", Unlabelled, augment.WeakView), Images("u_strong", Unlabelled, augment.StrongView),
		},
		Step: func(s Step) {
			k := s.Dims().Domains
			// Labelled and unlabelled images of a domain share batch statistics.
			target := View{NoGrad: true, Parts: k, Group: "pseudo"}
			strong := View{Parts: k, Group: "strong"}
			f := s.Forward(Backbone, target.Of(s.In("x_weak")), target.Of(s.In("u_weak")),
				View{Name: "x", Images: s.In("x_weak"), Parts: k},
				strong.Of(s.In("x_strong")), strong.Of(s.In("u_strong")))
			z := func(v int) *Node { return s.Head(ClassHead, f[v]) }

			ce := SumOverDomains.over(CrossEntropy(z(2), s.In("y")), k)
			s.Term("x", ce)
			qx, mx := PseudoLabel(z(0), tau)
			qu, mu := PseudoLabel(z(1), tau)
			s.PseudoLabels(qu, mu)
			ac := SumOverDomains.over(Concatenate([]*Node{Consistency(z(3), qx, mx), Consistency(z(4), qu, mu)}, 0), k)
			s.Term("ac", ac)
			s.Minimise("total", Add(ce, ac), Backbone, ClassHead)
		},
	}
}
