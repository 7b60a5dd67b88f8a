package model

import (
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// LearnerOptions returns the learner's options of a config with its network, for a number of classes
// and source domains.
func LearnerOptions(b nets.Backbone, c config.Config, classes, domains int) learner.Options {
	return learner.Options{
		Backbone:    b,
		DomainHead:  nets.DomainHead{Hidden: c.Network.DomainHidden, ReLU: c.Network.DomainReLU},
		Objective:   objective.New(c),
		Precision:   c.Network.Precision,
		ImageSize:   c.Data.ImageSize,
		Classes:     classes,
		Domains:     domains,
		PerDomain:   c.Schedule.PerDomain,
		Momentum:    c.Optimizer.Momentum,
		WeightDecay: c.Optimizer.WeightDecay,
		Nesterov:    c.Optimizer.Nesterov,
	}
}

// Work describes training the network to an engine. It is heavy if it is one graph on images.
func Work(n config.Network) engine.Work {
	info, _ := config.LookupNetwork(n.Name)
	return engine.Work{Heavy: info.Whole && !info.Vectors}
}
