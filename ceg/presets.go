package ceg

import (
	"fmt"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
	"github.com/ledg-go/ledg/datasets"
)

// Preset names a reading of CEG.
type Preset string

const (
	// Paper follows the equations of Yuan et al. 2022 as written.
	Paper Preset = "paper"
	// Authors follows what the published code does (junkunyuan/CEG).
	Authors Preset = "authors"
	// Ledg is Authors with what was better on source validation, on glyphs and on
	// features of PACS; notebooks/results has the comparison. With pretrained weights, as
	// on features, the first labels are chosen, which was not measured there:
	//
	//	timing              once: all labels before training
	//	PerDomain           8, of images without pretrained weights: twice the steps in an epoch
	//	Initial             maxherding, on features and with weights; at random where the
	//	                    network that looks knows nothing
	//	Normalise           root, of features
	//	Average             ema, on features, of ceg, erm and fixmatch
	//	DomainLoss          only for strategies that ask the domain head
	Ledg Preset = "ledg"
)

// Presets lists the presets.
func Presets() []Preset { return []Preset{Paper, Authors, Ledg} }

// FixMatch is the name of the method that spends its labels before training, at
// random, and trains with FixMatch: L_ce and L_ac, which is CEG without
// exploration, MixUp and domain head (Sohn et al. 2020, as the row of that name in
// the paper's Table 3).
const FixMatch = "fixmatch"

// Methods lists the short method names that [NewConfig] knows: a query strategy
// with CEG's training, or, with the suffix -ce, with cross-entropy on the labelled
// images alone; and the objectives that are methods by themselves, which spend all
// labels before training, at random. STRATEGY+OBJECTIVE names any other pair.
func Methods() []string {
	var names []string
	for _, s := range active.Names() {
		names = append(names, s, s+"-ce")
	}
	for _, m := range objective.Methods() {
		if alone(m.Name) {
			names = append(names, m.Name)
		}
	}
	return names
}

// TimingOf returns the timing that NewConfig gives a method.
func TimingOf(method string) Timing {
	if alone(method) {
		return Once
	}
	return Published
}

// alone reports whether an objective's name is a method.
func alone(name string) bool {
	_, ok := objective.ByName(name)
	return ok && name != cegObjective && name != ermObjective
}

const cegObjective, ermObjective, rscDomainBed = "ceg", "erm", "rsc-domainbed"

// Method returns the name of a query strategy with an objective, one of
// objective.Methods.
func Method(strategy, objective string) string {
	switch objective {
	case cegObjective:
		return strategy
	case ermObjective:
		return strategy + "-ce"
	}
	return strategy + "+" + objective
}

// parts returns the query strategy and the objective that a method name stands for.
func parts(method string) (strategy, trains string, err error) {
	strategy, trains, pair := strings.Cut(method, "+")
	if !pair {
		trains = cegObjective
		if s, ok := strings.CutSuffix(method, "-ce"); ok {
			strategy, trains = s, ermObjective
		} else if alone(method) {
			strategy, trains = active.Uniform{}.Name(), method
		}
	}
	if _, ok := objective.ByName(trains); !ok || !isStrategy(strategy) {
		return "", "", fmt.Errorf("method %q: want one of %s, or STRATEGY+OBJECTIVE", method, strings.Join(Methods(), ", "))
	}
	return strategy, trains, nil
}

// NewConfig returns the preset's config of a method for a data set and a target
// domain, with 5% labels and seed 1.
//
// The presets differ in these settings, the paper's reading first:
//
//	query epochs        every epoch after pre-training | every fifth (ADG/pacs.yaml)
//	Rounds              even | published
//	Gamma1, Gamma2      Office-Home 0.5, 0.5 | 1/3, 1/3
//	SoftmaxTwice        off | on (utils/strategy.py)
//	PhiCentroids        off | on (utils/util.py)
//	Consistency         unlabelled | both (trainers/adg.py)
//	Reliable, Base      nearest of unlabelled | quota_random of all
//	Reduction           mean | sum
//	BatchNorm           joint | per_domain
//	TargetPass          frozen_stats | train
//	DomainFeatures      reuse | post_update
//	DomainReLU          on | off
//
// Both label half of the budget uniformly before training, query the rest in the
// second half of it (the timing [Published]), and begin to mix in the second
// epoch, since the first has no reliable set. Objectives that are methods by
// themselves ask [Once].
func NewConfig(dataset, target, method string, preset Preset) (Config, error) {
	info, ok := datasets.Lookup(dataset)
	if !ok {
		return Config{}, fmt.Errorf("no preset for data set %q; there is one for %s", dataset, strings.Join(datasets.Names(), ", "))
	}
	s := info.Recipe
	strategy, trains, err := parts(method)
	if err != nil {
		return Config{}, err
	}
	c := Config{
		Format: result.Format,
		Method: method,
		Preset: preset,
		Seed:   1,
		Data:   Data{Dataset: dataset, Target: target, ImageSize: info.ImageSize},
		Network: Network{Name: "smallcnn", Width: s.Width, Pooling: nets.FlattenPool,
			DomainHidden: []int{128, 64}},
		Exploration: Exploration{Budget: "5%", InitialShare: 0.5, Strategy: strategy, WeightU: 1},
		Generalization: Generalization{
			Tau: 0.95, Delta: s.Delta, IntraWeight: 0.5, InterWeight: 0.5,
			ThresholdStart: s.Threshold / 2, ThresholdEnd: s.Threshold, DomainLoss: true,
		},
	}
	if info.Vectors {
		c.Network.Name, c.Network.Pooling = "linear", nets.MeanPool
	}
	x, g := &c.Exploration, &c.Generalization
	switch preset {
	case Paper:
		x.Gamma1, x.Gamma2 = s.GammaPaper[0], s.GammaPaper[1]
		x.Rounds = EvenRounds
		c.Network.DomainReLU = true
		g.Consistency, g.Reliable, g.Base = objective.OnUnlabelled, NearestImages, OfUnlabelled
		g.Reduction, g.BatchNorm = objective.MeanOverDomains, objective.Joint
		g.TargetPass, g.DomainFeatures = objective.FrozenStats, objective.Reuse
	case Authors, Ledg:
		x.Gamma1, x.Gamma2 = s.GammaCode[0], s.GammaCode[1]
		x.Rounds, x.SoftmaxTwice, x.PhiCentroids = PublishedRounds, true, true
		g.Consistency, g.Reliable, g.Base = objective.Both, QuotaRandom, OfAll
		g.Reduction, g.BatchNorm = objective.SumOverDomains, objective.PerDomain
		g.TargetPass, g.DomainFeatures = objective.UpdateStats, objective.PostUpdate
	default:
		return Config{}, fmt.Errorf("preset %q: want one of %s", preset, list(Presets()))
	}
	if trains != cegObjective {
		g.Delta, g.DomainLoss = 0, asksDomains(strategy)
		if trains != FixMatch {
			g.Consistency = objective.Nothing
		}
	}
	g.Objective = trains
	if err := c.SetProtocol(PaperProtocol); err != nil {
		return Config{}, err
	}
	if preset == Ledg {
		return c, c.improve()
	}
	return c, c.SetTiming(TimingOf(method))
}

// improve makes the preset Ledg of Authors, but for what perDomain and UseWeights do.
func (c *Config) improve() error {
	x, g := &c.Exploration, &c.Generalization
	g.DomainLoss = asksDomains(x.Strategy)
	if c.Data.vectors() {
		x.Initial, c.Data.Normalise = chosenInitial, RootFeatures
		switch g.Objective {
		case cegObjective, ermObjective, FixMatch:
			g.Average = EMA
		}
	}
	return c.SetTiming(Once)
}

// chosenInitial chooses the initial labels of the preset Ledg.
const chosenInitial = "maxherding"

// UseWeights makes the backbone start from weights, nil or pretrained.None for
// random ones. With weights the learning rates become the protocol's: 0.003 for the
// backbone and 0.01 for the heads in the paper's, which are too low for a network from
// scratch.
func (c *Config) UseWeights(w *pretrained.Source) {
	if w == nil || w.Name == pretrained.None {
		c.Network.Weights = nil
		return
	}
	c.Network.Weights = w
	if c.Preset == Ledg {
		if c.Exploration.Initial == "" {
			c.Exploration.Initial = chosenInitial
		}
		if c.Protocol == PaperProtocol {
			c.Schedule.PerDomain = c.perDomain()
		}
	}
	c.setRates()
}
