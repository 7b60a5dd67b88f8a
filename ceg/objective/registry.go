package objective

import (
	"cmp"
	"fmt"
	"slices"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/objective/augment"
	"github.com/ledg-go/ledg/datasets"
)

// builders make the objectives of [config.Objectives] by their names. ceg, erm and fixmatch are
// configured by settings; see New.
var builders = map[string]func(c config.Config) Objective{
	"meanteacher":          func(config.Config) Objective { return MeanTeacher() },
	"mixmatch":             func(config.Config) Objective { return MixMatch() },
	"stylematch":           func(config.Config) Objective { return StyleMatch() },
	"stylematch-amplitude": func(config.Config) Objective { return StyleMatchAmplitude() },
	"stylematch-rgb":       func(config.Config) Objective { return StyleMatchRGB() },
	"jigen":                func(config.Config) Objective { return JiGen(TileOrders()) },
	"crossgrad":            func(config.Config) Objective { return CrossGrad() },
	// As many channels as Dassl's generator has beside a resnet of full width.
	"ddaig": func(c config.Config) Objective { return DDAIG(min(64, c.Network.Width)) },
	"dael":  func(config.Config) Objective { return DAEL() },
	"rsc":   func(config.Config) Objective { return RSC() },
	config.RSCDomainBed: func(c config.Config) Objective {
		return RSCDomainBed(cmp.Or(c.Generalization.RSCShare, 1./3))
	},
	"fact": func(c config.Config) Objective {
		if info, _ := datasets.Lookup(c.Data.Dataset); info.Recipe.ManyClasses {
			return FACT(200, 0.2)
		}
		return FACT(2, 1)
	},
	"logistic":    func(config.Config) Objective { return LogisticRegression() },
	"propagation": func(config.Config) Objective { return Propagation() },
	"gda":         func(config.Config) Objective { return GDA() },
	config.CLAP:   func(config.Config) Objective { return CLAP() },
}

// New returns the training objective of a valid config: the objective with its settings, domain
// head training, threshold and weight averaging. It panics if the objective is unknown.
func New(c config.Config) Objective {
	g := c.Generalization
	passes := Passes{Reduction: g.Reduction, BatchNorm: g.BatchNorm, TargetPass: g.TargetPass}
	var o Objective
	switch build, ok := builder(g.Objective); {
	case ok:
		o = build(c)
	case g.Objective == config.FixMatch:
		o = FixMatch(g.Tau, g.Consistency, passes)
	case g.Objective == config.ERM:
		o = ERM(passes)
	case g.Objective != config.CEG:
		panic(fmt.Sprintf("objective %q is neither built in nor registered", g.Objective))
	default:
		o = CEG{Consistency: g.Consistency, Tau: g.Tau, Delta: g.Delta, IntraWeight: g.IntraWeight, InterWeight: g.InterWeight,
			DomainLoss: g.DomainLoss, Reduction: g.Reduction, BatchNorm: g.BatchNorm, TargetPass: g.TargetPass, DomainFeatures: g.DomainFeatures}.Objective()
	}
	if g.LogitAdjustment > 0 {
		o = WithLogitAdjustment(o, g.LogitAdjustment)
	}
	if g.DomainLoss && g.Objective != config.CEG {
		o = WithDomainHead(o, passes, g.DomainFeatures)
	}
	if g.Threshold == config.FreeMatch {
		o = WithSelfAdaptive(o)
	}
	switch averaged := o.Test == nil && o.Fit == nil; {
	case averaged && g.Average == config.EMA:
		return WithAverage(o)
	case averaged && g.Average == config.Three:
		return WithThree(o)
	}
	return o
}

// WithDomainHead adds training of the domain head to an objective (L_dd, Eq. 2), for query
// strategies that need domain probabilities: cross-entropy with the source domains of unlabelled
// images. Its features are computed in a separate pass, before the step (Reuse) or after it.
// The map of package ceg: (14).
func WithDomainHead(o Objective, p Passes, when config.DomainFeatures) Objective {
	const images, domains = "domain head images", "domain head domains"
	step := o.Step
	o.Inputs = append(slices.Clone(o.Inputs), Images(images, Unlabelled, augment.WeakView), Domains(domains, Unlabelled))
	o.Step = func(s Step) {
		k := s.Dims().Domains
		features := func() *Node {
			return s.Forward(Backbone, p.Target("", s.In(images), k))[0]
		}
		var f *Node
		if when == config.Reuse {
			f = features()
		}
		step(s)
		if f == nil {
			f = features()
		}
		s.Minimise("dd", p.Reduce(CrossEntropy(s.Head(DomainHead, f), s.In(domains)), k), DomainHead)
	}
	return o
}
