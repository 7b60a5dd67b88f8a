package learner

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
)

// authors is the published form of CEG.
var authors = objective.CEG{
	Consistency: config.Both, Tau: 0.95, Delta: 0.3, IntraWeight: 0.5, InterWeight: 0.5, DomainLoss: true,
	Reduction: config.SumOverDomains, BatchNorm: config.PerDomain, TargetPass: config.UpdateStats, DomainFeatures: config.PostUpdate,
}

func authorsOptions(net nets.Backbone, size int) Options {
	return Options{
		Backbone: net, DomainHead: nets.DomainHead{Hidden: []int{128, 64}}, Objective: authors.Objective(),
		ImageSize: size, Classes: 7, Domains: 3, PerDomain: 16,
		Momentum: 0.9, WeightDecay: 5e-4,
	}
}

// mixing is the stage with reliable images.
var mixing = Stage{Reliable: true}

// published are the published learning rates.
var published = Now{Rates: Rates{Backbone: 0.003, ClassHead: 0.01, DomainHead: 0.01}}

func BenchmarkStep(b *testing.B) {
	backend, err := engine.Open("go")
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	o := authorsOptions(nets.SmallCNN(64, config.MeanPool), 32)
	l, err := New(backend, o, 1)
	if err != nil {
		b.Fatal(err)
	}
	batch := l.RandomBatch()
	for b.Loop() {
		out, err := l.Step(batch, published, mixing)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := out.Terms(); err != nil {
			b.Fatal(err)
		}
	}
}
