package objective

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// FixMatch trains strongly augmented views on confident pseudo-labels of weakly augmented ones
// (Sohn et al., "FixMatch", NeurIPS 2020). This is its multi-domain form (ssdg-benchmark's
// trainers/stylematch.py): domains pass separately, labelled images are pseudo-labelled too, and
// losses are sums over domains.
//
//	q, m    = argmax p(x_weak), [max p(x_weak) >= tau]      of labelled and unlabelled
//	L_x     = sum over domains of mean CE(z(x_weak), y)     of labelled
//	L_ac    = sum over domains of mean m * CE(z(x_strong), q)
//	L_total = L_x + L_ac
//
// The equations are for config.Both and [DomainByDomain]. L_ac on unlabelled images only and
// other passes are settings.
func FixMatch(tau float64, on config.ConsistencyOn, p Passes) Objective {
	o := Objective{
		Name: "fixmatch",
		Inputs: []Input{Images("x_weak", Labelled, augment.WeakView), Labels("y", Labelled),
			Images("u_weak", Unlabelled, augment.WeakView), Images("u_strong", Unlabelled, augment.StrongView)},
		Step: func(s Step) {
			k := s.Dims().Domains
			parts := p.Parts(k)
			// Labelled and unlabelled images of a domain share batch statistics.
			target := p.Target("", nil, k)
			target.Group = "pseudo"
			strong := View{Parts: parts, Group: "strong"}
			x, targetX, strongX := View{Name: "x", Images: s.In("x_weak"), Parts: parts}, View{}, View{}
			if on == config.Both {
				targetX, strongX = target.Of(x.Images), strong.Of(s.In("x_strong"))
			}
			f := s.Forward(Backbone, targetX, target.Of(s.In("u_weak")), x, strongX, strong.Of(s.In("u_strong")))
			z := func(v int) *Node { return s.Head(ClassHead, f[v]) }

			ce := p.Reduce(CrossEntropy(z(2), s.In("y")), k)
			s.Term("x", ce)
			label, sure := Confident(s, z(1), tau)
			s.PseudoLabels(label, sure)
			perImage := Consistency(z(4), label, sure)
			if on == config.Both {
				label, sure := Confident(s, z(0), tau)
				perImage = Concatenate([]*Node{Consistency(z(3), label, sure), perImage}, 0)
			}
			ac := p.Reduce(perImage, k)
			s.Term("ac", ac)
			s.Minimise("total", Add(ce, ac), Backbone, ClassHead)
		},
	}
	if on == config.Both {
		o.Inputs = append(o.Inputs, Images("x_strong", Labelled, augment.StrongView))
	}
	return o
}
