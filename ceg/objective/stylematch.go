package objective

import (
	"fmt"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// StyleMatch is FixMatch with a stochastic classifier and an additional view of every image in
// the style of another domain (Zhou, Loy and Liu, "Semi-Supervised Domain Generalization with
// Stochastic StyleMatch", IJCV 2023; ssdg-benchmark's trainers/stylematch.py). Domains pass
// separately, losses are sums over domains, and labelled images are pseudo-labelled too:
//
//	W       = mu + softplus(sigma - 4) * noise              a draw a call; mu in targets and tests
//	z(f)    = cos(f, W) / 0.05
//	q, m    = argmax p(x_weak), [max p(x_weak) >= 0.95]
//	L_x     = sum over domains of mean CE(z(x_weak), y)     of labelled
//	L_ac    = sum over domains of mean m * CE(z(x_strong), q)
//	L_sty   = sum over domains of mean m * CE(z(x_style), q)
//	L_total = L_x + L_ac + L_sty
//
// For each step and domain, another source domain is drawn; its images at the same batch
// positions provide the style, by half-way AdaIN at VGG's relu4_1 ([AdaIN]), whose weights are
// required. StyleMatchAmplitude and StyleMatchRGB need no weights but are not the paper's
// method. It needs at least two source domains.
func StyleMatch() Objective { return StyleMatchOf("stylematch", AdaIN(VGG19)) }

// StyleMatchAmplitude is StyleMatch with FACT's amplitude mix in place of AdaIN: half of the
// amplitude comes from the style image's spectrum.
func StyleMatchAmplitude() Objective {
	return StyleMatchOf("stylematch-amplitude", Style{Move: func(_ Step, images, partner *Node) *Node {
		half := BroadcastToDims(Scalar(images.Graph(), images.DType(), 0.5), images.Shape().Dimensions[0])
		moved, _ := mixAmplitudes(images, InsertAxes(partner, 1), half)
		return moved
	}})
}

// StyleMatchRGB is StyleMatch with statistics of colours in place of AdaIN: half-way to the
// style image's mean and standard deviation of each channel.
func StyleMatchRGB() Objective {
	return StyleMatchOf("stylematch-rgb", Style{Move: func(_ Step, images, partner *Node) *Node {
		return ClipScalar(towardsStyle(images, partner, 0.5), 0, 255)
	}})
}

// Style is a style transfer between images of a batch.
type Style struct {
	// Nets lists its networks, which are fixed and read from files.
	Nets func(d Dims) []Net
	// Move returns images [n, h, w, 3] in 0..255 in the style of the images at partner, int32
	// [n].
	Move func(s Step, images, partner *Node) *Node
}

// StyleMatchOf is StyleMatch with another style transfer, under another name.
func StyleMatchOf(name string, style Style) Objective {
	const tau, spread = 0.95, 4
	class := Cosine{Param: "C.mu", Temperature: 0.05}
	return Objective{
		Name:   name,
		Images: true,
		Inputs: []Input{
			Images("x_weak", Labelled, augment.WeakView), Images("x_strong", Labelled, augment.StrongView),
			Images("x0", Labelled, augment.PlainView), Labels("y", Labelled),
			Images("u_weak", Unlabelled, augment.WeakView), Images("u_strong", Unlabelled, augment.StrongView),
			Images("u0", Unlabelled, augment.PlainView),
		},
		Draws: []Draw{
			Floats("noise", func(d Dims) []int { return []int{3 * d.Domains, d.Classes, d.Features} }, func(r *rand.Rand, _ Dims, v []float32) {
				for i := range v {
					v[i] = float32(r.NormFloat64())
				}
			}),
			Ints("style_source", func(d Dims) []int { return []int{d.Domains} }, func(r *rand.Rand, d Dims, v []int32) {
				for k := range v {
					v[k] = int32((k + 1 + r.IntN(max(d.Domains-1, 1))) % d.Domains)
				}
			}),
		},
		Nets: func(d Dims) []Net {
			shape := []int{d.Classes, d.Features}
			list := []Net{{Name: "C", Rate: ClassHeadRate, Params: []nets.Param{
				{Name: "C.mu", Shape: shape, Kind: nets.Normal, SD: 0.01}, {Name: "C.sigma", Shape: shape, Kind: nets.Normal},
			}}}
			if style.Nets != nil {
				list = append(list, style.Nets(d)...)
			}
			return list
		},
		Test: class,
		Step: func(s Step) {
			k := s.Dims().Domains
			if k < 2 {
				panic(fmt.Sprintf("%s: %d source domain, want two or more", name, k))
			}
			calls := 0
			z := func(features *Node) *Node {
				noise := Squeeze(SliceAxis(s.In("noise"), 0, AxisElem(calls)), 0)
				calls++
				w := Add(s.Param("C.mu"), Mul(softplus(SubScalar(s.Param("C.sigma"), spread)), noise))
				return class.of(features, w)
			}
			// Of every domain its labelled images and then the others.
			both := func(x, u *Node) *Node {
				var parts []*Node
				for j := range k {
					parts = append(parts, OfDomain(s, x, j), OfDomain(s, u, j))
				}
				return Concatenate(parts, 0)
			}
			strong := both(s.In("x_strong"), s.In("u_strong"))
			plain := both(s.Bytes("x0"), s.Bytes("u0"))
			n := plain.Shape().Dimensions[0] / k // images of a domain
			styled := s.Normalise(style.Move(s, plain, stylePartners(s.In("style_source"), n)))
			s.Note("style_view", styled)

			views := []View{
				{Name: "pseudo", Images: both(s.In("x_weak"), s.In("u_weak")), NoGrad: true, Parts: k},
				{Name: "x", Images: s.In("x_weak"), Parts: k},
			}
			for j := range k {
				views = append(views, View{Name: fmt.Sprint("strong_", j), Images: OfDomain(s, strong, j)},
					View{Name: fmt.Sprint("style_", j), Images: OfDomain(s, styled, j)})
			}
			f := s.Forward(Backbone, views...)

			target := class.Logits(s, f[0])
			label, sure := Confident(s, target, tau)
			s.Note("maxprob", ReduceMax(Softmax(target, -1), -1))
			s.Note("pseudo_label", label)
			s.Note("mask", sure)
			unlabelled := func(v *Node) *Node { // the second half of every domain's
				return Reshape(SliceAxis(Reshape(v, k, 2, n/2), 1, AxisElem(1)), k*n/2)
			}
			s.PseudoLabels(unlabelled(label), unlabelled(sure))

			var lx, lac, lsty *Node
			for j := range k {
				lx = plus(lx, ReduceAllMean(CrossEntropy(z(OfDomain(s, f[1], j)), OfDomain(s, s.In("y"), j))))
			}
			for j := range k {
				q, m := OfDomain(s, label, j), OfDomain(s, sure, j)
				lac = plus(lac, ReduceAllMean(Consistency(z(f[2+2*j]), q, m)))
				lsty = plus(lsty, ReduceAllMean(Consistency(z(f[3+2*j]), q, m)))
			}
			s.Term("x", lx)
			s.Term("ac", lac)
			s.Term("sty", lsty)
			s.Minimise("total", Add(lx, Add(lac, lsty)), Backbone, "C")
		},
	}
}

// stylePartners lists, for n images of each domain, those at the same places in the
// batch of its style's domain: int32 [domains*n].
func stylePartners(source *Node, n int) *Node {
	k := source.Shape().Dimensions[0]
	first := BroadcastToDims(MulScalar(Reshape(source, k, 1), float64(n)), k, n)
	return Reshape(Add(first, Iota(source.Graph(), first.Shape(), 1)), k*n)
}

// softplus is ln(1 + exp(x)).
func softplus(x *Node) *Node {
	return Add(MaxScalar(x, 0), Log1P(Exp(Neg(Abs(x)))))
}
