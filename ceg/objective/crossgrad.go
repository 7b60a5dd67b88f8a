package objective

import (
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// CrossGrad trains a label network on images perturbed towards other domains, and a domain
// network on images perturbed towards other labels (Shankar et al., "Generalizing Across Domains
// via Cross-Gradient Training", ICLR 2018; Dassl's engine/dg/crossgrad.py). Both perturbations
// use the networks before the update and are constants:
//
//	x_d = x + clamp(grad_x CE(D(x), d), -0.1, 0.1)
//	x_y = x + clamp(grad_x CE(z(x), y), -0.1, 0.1)
//	L_f = 0.5 * CE(z(x), y) + 0.5 * CE(z(x_d), y)    moves the label network
//	L_d = 0.5 * CE(D(x), d) + 0.5 * CE(D(x_y), d)    moves the domain network
func CrossGrad() Objective {
	const limit, share = 0.1, 0.5
	return Objective{
		Name:   "crossgrad",
		Inputs: []Input{Images("x", Labelled, augment.WeakView), Labels("y", Labelled), Domains("domain", Labelled)},
		Nets: func(d Dims) []Net {
			return []Net{{Name: "D", Backbone: d.Backbone}, Linear("D.fc", d.Features, d.Domains)}
		},
		Step: func(s Step) {
			x, y, d := s.In("x"), s.In("y"), s.In("domain")
			ce := func(head string, features, label *Node) *Node {
				return ReduceAllMean(CrossEntropy(s.Head(head, features), label))
			}
			moved := func(net, head, pass string, label *Node) *Node {
				f := s.Forward(net, View{Name: pass, Images: x, ImageGrad: true})[0]
				return Add(x, ClipScalar(s.Gradient(ce(head, f, label), x)[0], -limit, limit))
			}
			both := func(net, head string, label *Node, clean, perturbed View) *Node {
				f := s.Forward(net, clean, perturbed)
				return Add(MulScalar(ce(head, f[0], label), 1-share), MulScalar(ce(head, f[1], label), share))
			}
			xDomain := moved("D", "D.fc", "D.perturb", d)
			xLabel := moved(Backbone, ClassHead, "perturb", y)
			s.Note("x_domain", xDomain)
			s.Note("x_label", xLabel)

			lf := both(Backbone, ClassHead, y, View{Name: "x", Images: x}, View{Name: "x_domain", Images: xDomain})
			s.Minimise("f", lf, Backbone, ClassHead)
			ld := both("D", "D.fc", d, View{Name: "D.x", Images: x}, View{Name: "D.x_label", Images: xLabel})
			s.Minimise("d", ld, "D", "D.fc")
		},
	}
}
