package learner

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
)

func authorsOptions(net nets.Backbone, size int) Options {
	return Options{
		Backbone: net, DomainHead: nets.DomainHead{Hidden: []int{128, 64}},
		ImageSize: size, Classes: 7, Domains: 3, PerDomain: 16,
		Consistency: Both, Tau: 0.95, Delta: 0.3, IntraWeight: 0.5, InterWeight: 0.5, DomainLoss: true,
		Reduction: SumOverDomains, BatchNorm: PerDomain, TargetPass: UpdateStats, DomainFeatures: PostUpdate,
		Momentum: 0.9, WeightDecay: 5e-4,
	}
}

func BenchmarkStep(b *testing.B) {
	backend, err := engine.Open("go")
	if err != nil {
		b.Fatal(err)
	}
	defer backend.Close()
	o := authorsOptions(nets.SmallCNN(64, nets.MeanPool), 32)
	l, err := New(backend, o, 1)
	if err != nil {
		b.Fatal(err)
	}
	batch := randomBatch(o)
	for b.Loop() {
		out, err := l.Step(batch, BenchRates, true)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := out.Losses(); err != nil {
			b.Fatal(err)
		}
	}
}
