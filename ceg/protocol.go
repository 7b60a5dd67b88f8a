package ceg

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/datasets"
)

// Protocol names whose optimisation an objective is trained with. Its losses, views
// and networks are its own in either case.
type Protocol string

const (
	// PaperProtocol shares CEG's among all objectives, as Yuan et al. 2022 say that they
	// did: SGD, cosine, the data set's number of epochs, 16 images of a domain in a
	// batch, an epoch as long as the unlabelled images last, and with weights 0.003 for
	// backbones and 0.01 for heads.
	PaperProtocol Protocol = "paper"
	// OriginalProtocol takes them from the objective's published code
	// (objective.Method.Original): epochs, batch, momentum, weight decay, the schedule
	// of the rates and, with weights, the rates. For methods that train with labels
	// alone an epoch is one pass over the labelled images. Without weights the rates are
	// the data set's for a small network.
	OriginalProtocol Protocol = "original"
)

// Protocols lists the protocols.
func Protocols() []Protocol { return []Protocol{PaperProtocol, OriginalProtocol} }

// EpochOf says which images an epoch is one pass over.
type EpochOf string

const (
	// OverUnlabelled is the published code of CEG's.
	OverUnlabelled EpochOf = "unlabelled"
	// OverLabelled makes epochs of a few steps where few images have labels.
	OverLabelled EpochOf = "labelled"
)

// usualPerDomain is the number of images of a domain in CEG's batches, and fewPerDomain
// that of the preset Ledg where networks begin from random weights.
const usualPerDomain, fewPerDomain = 16, 8

// perDomain returns the number of images of a domain in a batch of the protocol paper.
func (c *Config) perDomain() int {
	if c.Preset == Ledg && !c.Data.vectors() && c.Network.Weights == nil {
		return fewPerDomain
	}
	return usualPerDomain
}

// SetProtocol sets what the protocol says of training with the config's objective:
// the optimizer's settings, the number of epochs and with it the query epochs, and
// the size of a batch. It is an error if nothing original is published for the
// objective, and then nothing is changed.
func (c *Config) SetProtocol(p Protocol) error {
	m, _ := objective.ByName(c.Generalization.Objective)
	info, _ := datasets.Lookup(c.Data.Dataset)
	var r *objective.Recipe
	switch {
	case p == PaperProtocol:
	case p != OriginalProtocol:
		return fmt.Errorf("protocol %q, want %q or %q", p, PaperProtocol, OriginalProtocol)
	case m.Name == cegObjective:
		return fmt.Errorf("protocol %s: what the published code of ceg does is the preset %s", p, Authors)
	case m.Original == nil:
		return fmt.Errorf("protocol %s: no settings are published for %s on these data sets; use %s", p, m.Name, PaperProtocol)
	default:
		r = m.Original(info.Recipe.ManyClasses)
	}
	c.Protocol = p
	o, s := &c.Optimizer, &c.Schedule
	epochs := info.Recipe.Epochs
	o.Momentum, o.WeightDecay, o.Nesterov, o.DropAt = 0.9, 5e-4, false, 0
	s.PerDomain, s.EpochOf = c.perDomain(), OverUnlabelled
	if r != nil {
		epochs = r.Epochs
		o.WeightDecay, o.Nesterov, o.DropAt = r.WeightDecay, r.Nesterov, float64(r.Drop)/float64(r.Epochs)
		s.PerDomain = max(2, int(math.Round(float64(r.Batch)/float64(sourcesOf(info)))))
		if !c.Objective().Uses(objective.Unlabelled) {
			s.EpochOf = OverLabelled
		}
	}
	c.SetEpochs(epochs)
	c.setRates()
	return nil
}

// sourcesOf returns the number of source domains, three where the images decide.
func sourcesOf(info datasets.Info) int {
	if info.Domains == nil {
		return 3
	}
	return len(info.Domains) - 1
}

// setRates sets the learning rates that the protocol, the preset, the objective and
// the weights call for.
func (c *Config) setRates() {
	o := &c.Optimizer
	m, _ := objective.ByName(c.Generalization.Objective)
	info, _ := datasets.Lookup(c.Data.Dataset)
	if c.Network.Weights != nil {
		o.BackboneRate, o.ClassHeadRate = 0.003, 0.01
		if c.Protocol == OriginalProtocol {
			r := m.Original(info.Recipe.ManyClasses)
			o.BackboneRate, o.ClassHeadRate = r.Backbone, r.Head
		}
		o.DomainHeadRate = 0.01
		return
	}
	rate := info.Recipe.Rate
	if m.Sums || m.New == nil && c.Generalization.Reduction == objective.SumOverDomains {
		rate /= 3 // sums over three domains are three times the means
	}
	o.BackboneRate, o.ClassHeadRate, o.DomainHeadRate = rate, rate, rate
	if m.BackboneShare != 0 {
		o.BackboneRate *= m.BackboneShare
	}
}

// rateFactor is what the learning rates of an epoch are of their first values.
func (c Config) rateFactor(epoch int) float64 {
	at := c.Optimizer.DropAt
	if at == 0 {
		return CosineFactor(epoch, c.Schedule.Epochs)
	}
	if epoch < int(at*float64(c.Schedule.Epochs)+1e-9) {
		return 1
	}
	return 0.1
}
