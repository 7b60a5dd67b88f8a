package objective

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// DDAIG trains a generator to perturb images such that the label network still recognises them
// and the domain network does not. The label network is trained on the generated images, too.
// (Zhou et al., "Deep Domain-Adversarial Image Generation for Domain Generalisation", AAAI 2020;
// Dassl's engine/dg/ddaig.py.) Pixels are in [0, 1].
//
//	x'  = x + 0.3 * G(x)
//	L_g = CE(z(x'), y) - CE(D(x'), d)              moves G; then x' is made again
//	L_f = 0.5 * CE(z(x), y) + 0.5 * CE(z(x'), y)   moves the label network; in the
//	                                               first 3 epochs CE(z(x), y)
//	L_d = CE(D(x), d)                              moves the domain network
//
// channels is the width of the generator, 64 in Dassl.
func DDAIG(channels int) Objective {
	const size, share, warmUp = 0.3, 0.5, 3
	return Objective{
		Name:   "ddaig",
		Images: true,
		Inputs: []Input{Images("x", Labelled, augment.WeakView), Labels("y", Labelled), Domains("domain", Labelled)},
		Nets: func(d Dims) []Net {
			return []Net{{Name: "D", Backbone: d.Backbone}, Linear("D.fc", d.Features, d.Domains), {Name: "G", Backbone: generator(channels), SD: 0.02}}
		},
		Phase:      func(epoch int) int { return min(epoch/warmUp, 1) },
		UnitPixels: true,
		Step: func(s Step) {
			x, y, d := s.In("x"), s.In("y"), s.In("domain")
			ce := func(net, head string, label *Node, v View) *Node {
				return ReduceAllMean(CrossEntropy(s.Head(head, s.Forward(net, v)[0]), label))
			}
			moved := func() *Node { return Add(x, MulScalar(s.Forward("G", View{Images: x})[0], size)) }

			x1 := moved()
			byLabel := ce(Backbone, ClassHead, y, View{Name: "x_p_old", Images: x1, ImageGrad: true})
			byDomain := ce("D", "D.fc", d, View{Name: "D.x_p_old", Images: x1, ImageGrad: true})
			s.Term("g_label", byLabel)
			s.Term("g_domain", byDomain)
			s.Minimise("g", Sub(byLabel, byDomain), "G")

			views := []View{{Name: "x", Images: x}}
			if s.Phase() > 0 {
				views = append(views, View{Name: "x_p", Images: StopGradient(moved())})
			}
			f := s.Forward(Backbone, views...)
			lf := ReduceAllMean(CrossEntropy(s.Head(ClassHead, f[0]), y))
			s.Term("f_clean", lf)
			if s.Phase() > 0 {
				perturbed := ReduceAllMean(CrossEntropy(s.Head(ClassHead, f[1]), y))
				s.Term("f_perturbed", perturbed)
				lf = Add(MulScalar(lf, 1-share), MulScalar(perturbed, share))
			}
			s.Minimise("f", lf, Backbone, ClassHead)
			s.Minimise("d", ce("D", "D.fc", d, View{Name: "D.x", Images: x}), "D", "D.fc")
		},
	}
}

// generator is Dassl's fcn_3x64_gctx: a convolution, three residual blocks, the mean
// over all places beside every place, and a map to three channels in (-1, 1).
func generator(channels int) nets.Backbone {
	conv := func(o nets.Ops, x nets.Maps, name string) nets.Maps {
		return nets.InstanceNorm(o, nets.ConvMirrored(o, x, name, channels, false))
	}
	return nets.Backbone{
		Name: fmt.Sprintf("generator-w%d", channels), Pooling: nets.NoPool,
		Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
			x = o.ReLU(conv(o, x, "conv0"))
			for b := 1; b <= 3; b++ {
				h := o.ReLU(conv(o, x, fmt.Sprintf("block%d_conv1", b)))
				x = o.Add(x, conv(o, h, fmt.Sprintf("block%d_conv2", b)))
			}
			x = o.ReLU(nets.InstanceNorm(o, o.Conv(nets.WithMeans(o, x), "gctx", channels, 1, 1, 0, false)))
			_, h, w := x.Dims()
			return o.Apply(o.Conv(x, "regress", 3, 1, 1, 0, true), 3, h, w, Tanh)
		},
	}
}
