package objective

import (
	"cmp"
	"math/rand/v2"

	. "github.com/gomlx/gomlx/core/graph"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/objective/augment"
)

// Passes configures how a batch of several domains passes through the network and how its losses
// are reduced. The zero value is one joint batch, mean losses, and running statistics that
// pseudo-label passes update.
type Passes struct {
	Reduction  config.Reduction
	BatchNorm  config.BatchNorm
	TargetPass config.TargetPass
}

// Reduce returns the scalar loss of a batch from the losses of its images [n]: their mean, or the
// sum of the domains' means. All domains, or pairs of domains, have equally many images.
func (p Passes) Reduce(perImage *Node, domains int) *Node {
	m := ReduceAllMean(perImage)
	if p.Reduction == config.SumOverDomains {
		m = MulScalar(m, float64(domains))
	}
	return m
}

// Parts returns the number of parts of a batch with separate batch statistics, for [View.Parts]: 1,
// or one for each domain.
func (p Passes) Parts(domains int) int {
	if p.BatchNorm == config.PerDomain {
		return domains
	}
	return 1
}

// Target returns a view for pseudo-labels, without gradient. The setting TargetPass decides whether
// it updates running statistics.
func (p Passes) Target(name string, images *Node, domains int) View {
	return View{Name: name, Images: images, NoGrad: true, Frozen: p.TargetPass == config.FrozenStats, Parts: p.Parts(domains)}
}

// DomainByDomain passes each domain separately and sums losses over domains, as published
// multi-domain codes do.
var DomainByDomain = Passes{config.SumOverDomains, config.PerDomain, config.UpdateStats}

// CEG holds the settings of the generalization of Yuan et al. 2022 (Eq. 15),
//
//	L_ss = L_ce + L_ac + delta * L_eg
//
// and of the domain head's loss L_dd (Eq. 2). It has no defaults; package config has presets.
type CEG struct {
	// Consistency selects the images of L_ac; Tau is its confidence threshold, in [0, 1].
	Consistency config.ConsistencyOn
	Tau         float64
	// Delta weighs L_eg in L_ss; IntraWeight and InterWeight weigh the two kinds of MixUp within
	// L_eg. A term of weight zero is not computed. Alpha is the parameter of lambda ~
	// Beta(alpha, alpha); 0 means the paper's 0.2.
	Delta, IntraWeight, InterWeight, Alpha float64
	// DomainLoss trains the domain head (L_dd). Without it, L_ac and L_eg, a step needs only
	// labelled images.
	DomainLoss bool

	Reduction      config.Reduction
	BatchNorm      config.BatchNorm
	TargetPass     config.TargetPass
	DomainFeatures config.DomainFeatures
}

// MixesUp reports whether L_eg has a positive weight.
func (c CEG) MixesUp() bool { return c.Delta > 0 && (c.IntraWeight > 0 || c.InterWeight > 0) }

// Objective returns the training objective L_ss (Eq. 15; trainers/adg.py in the published code).
// The map of package ceg: (13).
func (c CEG) Objective() Objective {
	o := Objective{Name: "ceg", Step: c.step}
	o.Inputs = []Input{Images("x_weak", Labelled, augment.WeakView), Labels("y", Labelled)}
	if c.Consistency == config.Both {
		o.Inputs = append(o.Inputs, Images("x_strong", Labelled, augment.StrongView))
	}
	if c.Consistency != config.Nothing || c.DomainLoss {
		o.Inputs = append(o.Inputs, Images("u_weak", Unlabelled, augment.WeakView))
	}
	if c.DomainLoss {
		o.Inputs = append(o.Inputs, Domains("u_domain", Unlabelled))
	}
	if c.Consistency != config.Nothing {
		o.Inputs = append(o.Inputs, Images("u_strong", Unlabelled, augment.StrongView))
	}
	if c.MixesUp() {
		o.Inputs = append(o.Inputs, Images("r_strong", Reliable, augment.StrongView), Labels("r_label", Reliable))
		o.Draws = []Draw{c.Draws()}
	}
	return o
}

// step is one iteration: one SGD step of backbone and class head on L_ss, then one
// of the domain head on L_dd.
func (c CEG) step(s Step) {
	k := s.Dims().Domains
	p := Passes{c.Reduction, c.BatchNorm, c.TargetPass}
	parts, frozen := p.Parts(k), p.TargetPass == config.FrozenStats
	mixing := c.MixesUp() && s.Has(Reliable)

	// The views in the order in which their statistics enter the running ones.
	var targetX, targetU, x, strongX, strongU, intraView, interView View
	x = View{Name: "x", Images: s.In("x_weak"), Parts: parts}
	if c.Consistency == config.Both {
		targetX = View{Name: "pseudo x", Images: x.Images, NoGrad: true, Frozen: frozen, Parts: parts, Group: "target"}
		strongX = View{Name: "strong x", Images: s.In("x_strong"), Parts: parts, Group: "strong"}
	}
	if c.Consistency != config.Nothing || (c.DomainLoss && c.DomainFeatures == config.Reuse) {
		targetU = View{Name: "pseudo u", Images: s.In("u_weak"), NoGrad: true, Frozen: frozen, Parts: parts, Group: "target"}
	}
	if c.Consistency != config.Nothing {
		strongU = View{Name: "strong u", Images: s.In("u_strong"), Parts: parts, Group: "strong"}
	}
	var intra, inter mixture
	if mixing && c.IntraWeight > 0 {
		intra = mixIntra(s)
		intraView = View{Name: "intra", Images: intra.images, Parts: parts}
	}
	if mixing && c.InterWeight > 0 && k > 1 {
		inter = mixInter(s)
		interView = View{Name: "inter", Images: inter.images, Parts: p.Parts(len(s.Dims().Pairs()))}
	}
	f := s.Forward(Backbone, targetX, targetU, x, strongX, strongU, intraView, interView)
	logits := make([]*Node, len(f))
	for v := range f {
		if f[v] != nil {
			logits[v] = s.Head(ClassHead, f[v])
		}
	}
	zTargetX, zTargetU, zX, zStrongX, zStrongU, zIntra, zInter := logits[0], logits[1], logits[2], logits[3], logits[4], logits[5], logits[6]

	// L_ss = L_ce + L_ac + delta * L_eg
	// Of the terms, those that it leaves out are 0.
	zero := ScalarZero(x.Images.Graph(), x.Images.DType())
	ss := p.Reduce(CrossEntropy(zX, s.In("y")), k)
	s.Term("ce", ss)
	ac, egIntra, egInter, eg, dd := zero, zero, zero, zero, zero
	if c.Consistency != config.Nothing {
		label, sure := Confident(s, zTargetU, c.Tau)
		s.PseudoLabels(label, sure)
		perImage := Consistency(zStrongU, label, sure)
		if c.Consistency == config.Both {
			label, sure := Confident(s, zTargetX, c.Tau)
			perImage = Concatenate([]*Node{Consistency(zStrongX, label, sure), perImage}, 0)
		}
		ac = p.Reduce(perImage, k)
		ss = Add(ss, ac)
	}
	if zIntra != nil {
		egIntra = p.Reduce(intra.loss(zIntra), k)
		eg = Add(eg, MulScalar(egIntra, c.IntraWeight))
	}
	if zInter != nil {
		egInter = p.Reduce(inter.loss(zInter), len(s.Dims().Pairs()))
		eg = Add(eg, MulScalar(egInter, c.InterWeight))
	}
	if mixing {
		ss = Add(ss, MulScalar(eg, c.Delta))
	}
	s.Term("ac", ac)
	s.Term("eg_intra", egIntra)
	s.Term("eg_inter", egInter)
	s.Term("eg", eg)
	s.Minimise("ss", ss, Backbone, ClassHead)

	// L_dd
	if c.DomainLoss {
		features := f[1]
		if c.DomainFeatures == config.PostUpdate {
			features = s.Forward(Backbone, View{Name: "domain", Images: s.In("u_weak"), NoGrad: true, Frozen: frozen, Parts: parts})[0]
		}
		dd = p.Reduce(CrossEntropy(s.Head(DomainHead, features), s.In("u_domain")), k)
		s.Minimise("dd", dd, DomainHead)
	} else {
		s.Term("dd", dd)
	}
}

// mixture is images that MixUp has made, their two labels and the first one's
// share.
type mixture struct {
	images         *Node
	labelA, labelB *Node // int32
	lambda         *Node // float32
}

func (m mixture) loss(logits *Node) *Node {
	return MixCrossEntropy(logits, m.labelA, m.labelB, m.lambda)
}

// mixIntra mixes every reliable image with a partner from its own domain; a
// domain shares one lambda.
func mixIntra(s Step) mixture {
	images, labels, partner := s.In("r_strong"), s.In("r_label"), InsertAxes(s.In("intra_partner"), 1)
	m := mixture{labelA: labels, labelB: Gather(labels, partner), lambda: PerPart(s.In("intra_lambda"), s.Dims().PerDomain)}
	m.images = MixUp(images, Gather(images, partner), m.lambda)
	return m
}

// mixInter mixes, for every pair of domains, image b of the one with image b of
// the other; a pair shares one lambda.
func mixInter(s Step) mixture {
	images, labels := s.In("r_strong"), s.In("r_label")
	perDomain := s.Dims().PerDomain
	var a, b []int32 // rows; gathering is a copy of each, which slicing is not on the Go backend
	for _, p := range s.Dims().Pairs() {
		for i := range perDomain {
			a, b = append(a, int32(p[0]*perDomain+i)), append(b, int32(p[1]*perDomain+i))
		}
	}
	first, second := InsertAxes(Const(images.Graph(), a), 1), InsertAxes(Const(images.Graph(), b), 1)
	m := mixture{
		labelA: Gather(labels, first),
		labelB: Gather(labels, second),
		lambda: PerPart(s.In("inter_lambda"), perDomain),
	}
	m.images = MixUp(Gather(images, first), Gather(images, second), m.lambda)
	return m
}

// Draws samples MixUp partners and coefficients for a batch of reliable images: within each of
// the K domains (M_intra, Eq. 10) and between each pair of domains (M_inter, Eq. 11). There is
// one coefficient a domain or pair and step, not folded to at least 1/2, as in the published
// code (trainers/adg.py). Partners within a domain are a permutation of its rows in the batch,
// so an image can be its own partner. The map of package ceg: (10).
func (c CEG) Draws() Draw {
	alpha := cmp.Or(c.Alpha, 0.2)
	return Draw{
		Stream: "mixup", With: Reliable,
		Arrays: []Array{
			{Name: "intra_lambda", Shape: func(d Dims) []int { return []int{d.Domains} }},
			{Name: "intra_partner", Int: true, Shape: PerImage},
			{Name: "inter_lambda", Shape: func(d Dims) []int { return []int{len(d.Pairs())} }},
		},
		Fill: func(r *rand.Rand, d Dims, values []any) {
			m := drawMixUp(r, d, alpha)
			for i, l := range m.intra {
				values[0].([]float32)[i] = float32(l)
			}
			copy(values[1].([]int32), m.partner)
			for i, l := range m.inter {
				values[2].([]float32)[i] = float32(l)
			}
		},
	}
}

// mixUp is a draw of Draws in float64: in float32 many of Beta(0.2, 0.2) are 1.
type mixUp struct {
	intra, inter []float64
	partner      []int32
}

func drawMixUp(r *rand.Rand, d Dims, alpha float64) (m mixUp) {
	beta := distuv.Beta{Alpha: alpha, Beta: alpha, Src: r}
	for k := range d.Domains {
		m.intra = append(m.intra, beta.Rand())
		for _, i := range r.Perm(d.PerDomain) {
			m.partner = append(m.partner, int32(k*d.PerDomain+i))
		}
	}
	for range d.Pairs() {
		m.inter = append(m.inter, beta.Rand())
	}
	return m
}
