package ceg

import (
	"math"

	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/datasets"
)

// LearnerOptions returns the learner's part of the config, for a number of
// classes and of source domains, and feature vectors of a length, or 0 for images.
func (c Config) LearnerOptions(classes, domains, vector int) (learner.Options, error) {
	b, err := c.Network.backbone(vector)
	if err != nil {
		return learner.Options{}, err
	}
	return learner.Options{
		Backbone:    b,
		DomainHead:  nets.DomainHead{Hidden: c.Network.DomainHidden, ReLU: c.Network.DomainReLU},
		Objective:   c.Objective(),
		Precision:   c.Network.Precision,
		ImageSize:   c.Data.ImageSize,
		Classes:     classes,
		Domains:     domains,
		PerDomain:   c.Schedule.PerDomain,
		Momentum:    c.Optimizer.Momentum,
		WeightDecay: c.Optimizer.WeightDecay,
		Nesterov:    c.Optimizer.Nesterov,
	}, nil
}

// Objective returns what the networks are trained for.
func (c Config) Objective() objective.Objective {
	g := c.Generalization
	passes := objective.Passes{Reduction: g.Reduction, BatchNorm: g.BatchNorm, TargetPass: g.TargetPass}
	var o objective.Objective
	switch m, _ := objective.ByName(g.Objective); {
	case m.New != nil:
		info, _ := datasets.Lookup(c.Data.Dataset)
		o = m.New(objective.Run{ManyClasses: info.Recipe.ManyClasses, Width: c.Network.Width, RSCShare: g.RSCShare})
	case m.Name == FixMatch:
		o = objective.FixMatch(g.Tau, g.Consistency, passes)
	case m.Name == ermObjective:
		o = objective.ERM(passes)
	default:
		return g.switched(g.settings().Objective())
	}
	if g.DomainLoss {
		o = objective.WithDomainHead(o, passes, g.DomainFeatures)
	}
	return g.switched(o)
}

// switched adds the thresholds and the average that the settings ask for.
func (g Generalization) switched(o objective.Objective) objective.Objective {
	if g.Threshold == FreeMatch {
		o = objective.WithSelfAdaptive(o)
	}
	switch averaged := o.Test == nil && o.Fit == nil; {
	case averaged && g.Average == EMA:
		return objective.WithAverage(o)
	case averaged && g.Average == Three:
		return objective.WithThree(o)
	}
	return o
}

// settings returns those of CEG's losses.
func (g Generalization) settings() objective.CEG {
	return objective.CEG{
		Consistency:    g.Consistency,
		Tau:            g.Tau,
		Delta:          g.Delta,
		IntraWeight:    g.IntraWeight,
		InterWeight:    g.InterWeight,
		DomainLoss:     g.DomainLoss,
		Reduction:      g.Reduction,
		BatchNorm:      g.BatchNorm,
		TargetPass:     g.TargetPass,
		DomainFeatures: g.DomainFeatures,
	}
}

// rates returns the learning rates of an epoch.
func (c Config) rates(epoch int) learner.Rates {
	f := c.rateFactor(epoch)
	o := c.Optimizer
	return learner.Rates{Backbone: o.BackboneRate * f, ClassHead: o.ClassHeadRate * f, DomainHead: o.DomainHeadRate * f}
}

// CosineFactor is the cosine schedule's factor on the learning rate in an epoch
// of 0..epochs-1: (1 + cos(pi*epoch/epochs)) / 2.
func CosineFactor(epoch, epochs int) float64 {
	return (1 + math.Cos(math.Pi*float64(epoch)/float64(epochs))) / 2
}
