package model

import (
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// LearnerOptions returns the learner's part of a config, for a number of
// classes and of source domains, and feature vectors of a length, or 0 for images.
func LearnerOptions(c config.Config, classes, domains, vector int) (learner.Options, error) {
	b, err := nets.New(c.Network, vector)
	if err != nil {
		return learner.Options{}, err
	}
	return LearnerOptionsWith(b, c, classes, domains), nil
}

// LearnerOptionsWith is LearnerOptions with a backbone that is there.
func LearnerOptionsWith(b nets.Backbone, c config.Config, classes, domains int) learner.Options {
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
		Devices:     c.Network.Devices,
	}
}

// Work is what training the network on images of that many pixels a side is to an engine:
// heavy, too, on several devices, which the Go backend has not.
func Work(n config.Network, size int) engine.Work {
	known, _ := config.LookupNetwork(n.Name)
	return engine.Work{Heavy: n.Devices > 1 || known.HeavyFrom > 0 && size >= known.HeavyFrom}
}
