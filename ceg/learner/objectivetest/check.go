// Package objectivetest tests that a training objective, or a network, keeps its contract.
package objectivetest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Check tests the contract of every objective, without golden values. The objective has to be
// valid. Its steps compile on a small network with and without BatchNorm, with and without
// reliable images, in the phases of the first epochs. Losses and predictions stay finite on random
// images over three steps, the same steps give the same losses and weights, and they change
// weights. For an objective with Fit, Check tests the fitted head. A new objective is done when it
// passes:
//
//	func TestMine(t *testing.T) { objectivetest.Check(t, Mine()) }
func Check(t *testing.T, o objective.Objective) {
	t.Helper()
	fatal.If(t, o.Validate())
	if o.Fit != nil {
		t.Run("fit", func(t *testing.T) { checkFit(t, o) })
		return
	}
	bodies := map[string]nets.Backbone{
		"cnn": nets.SmallCNN(4, config.FlattenPool),
		"bn": {Name: "bn", Pooling: config.MeanPool, Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
			x = o.ReLU(o.BatchNorm(o.Conv(x, "conv1", 8, 3, 1, 1, false), "bn1"))
			return o.ReLU(o.Conv(x, "conv2", 12, 3, 2, 1, true))
		}},
	}
	for name, body := range bodies {
		for _, reliable := range []bool{false, true} {
			if reliable && !o.Uses(objective.Reliable) {
				continue
			}
			t.Run(fmt.Sprintf("%s, reliable images %v", name, reliable), func(t *testing.T) { checkSteps(t, o, body, 16, reliable) })
		}
	}
}

// CheckNetwork tests the contract of a network ([nets.Register]) on images of a size, or on vectors. The features of
// an example do not depend on the others of a batch, and the objectives train it as [Check] says.
func CheckNetwork(t *testing.T, b nets.Backbone, size int, objectives ...objective.Objective) {
	for _, o := range objectives {
		t.Run(b.Name+" "+o.Name, func(t *testing.T) { checkSteps(t, o, b, size, o.Uses(objective.Reliable)) })
	}
}

// checkSteps takes the same three steps twice, on images of a size or on vectors.
func checkSteps(t *testing.T, o objective.Objective, body nets.Backbone, size int, reliable bool) {
	var first, again [][]learner.Term
	var begin, state, other learner.State
	for range 2 {
		again = nil
		l := fatal.Get(learner.New(enginetest.Open(t), learner.Options{Backbone: body, Objective: o,
			ImageSize: size, Classes: 5, Domains: 2, PerDomain: 3, Momentum: 0.9, WeightDecay: 5e-4}, 1))(t)
		defer l.Close()
		if body.Graph != nil {
			fatal.If(t, l.Independent())
		}
		begin = fatal.Get(l.State())(t)
		for epoch := range 3 {
			stage := learner.Stage{Reliable: reliable}
			if o.Phase != nil {
				stage.Phase = o.Phase(epoch)
			}
			out, err := l.Step(l.RandomBatch(), learner.Now{Rates: learner.Rates{Backbone: 1e-3, ClassHead: 1e-3, DomainHead: 1e-3},
				Epoch: epoch, Steps: epoch, Progress: float64(epoch) / 3}, stage)
			if err != nil {
				t.Fatalf("epoch %d: %v", epoch, err)
			}
			terms, err := out.Terms() // NaN is an error
			if err != nil {
				t.Fatalf("epoch %d: %v", epoch, err)
			}
			again = append(again, terms)
		}
		state = fatal.Get(l.State())(t)
		var blank any = make([]uint8, 4*size*size*3)
		if body.Vector > 0 {
			blank = make([]float32, 4*body.Vector)
		}
		p := fatal.Get(l.Predict(blank))(t)
		if i := slices.IndexFunc(p.ClassLogits, func(z float32) bool { return math.IsNaN(float64(z)) }); i >= 0 {
			t.Errorf("class logit %d of zeros is NaN", i)
		}
		if first == nil {
			first, other = again, state
		}
	}
	if !reflect.DeepEqual(first, again) {
		t.Errorf("terms %v, of the same steps again %v", first, again)
	}
	if !reflect.DeepEqual(state, other) {
		t.Error("the same steps give other weights the second time")
	}
	if reflect.DeepEqual(begin.Weights, state.Weights) {
		t.Error("the steps move no weight: there is no Minimise, or a loss that does not depend on the networks")
	}
}

// checkFit fits a head to random features twice.
func checkFit(t *testing.T, o objective.Objective) {
	const labelled, unlabelled, dim, classes = 24, 10, 6, 3
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(rows int) cluster.Matrix {
		m := cluster.Matrix{Rows: rows, Cols: dim, Stride: dim, Data: make([]float32, rows*dim)}
		for i := range m.Data {
			m.Data[i] = float32(r.NormFloat64())
		}
		return m
	}
	s := objective.Samples{Features: normal(labelled), Classes: classes, Unlabelled: normal(unlabelled)}
	if o.Names {
		s.Names = &objective.Names{Rows: normal(classes), Mean: make([]float32, dim), Scale: 1}
	}
	for i := range labelled {
		s.Labels, s.Domains = append(s.Labels, i%classes), append(s.Domains, i/classes%2)
	}
	before := append(slices.Clone(s.Features.Data), s.Unlabelled.Data...)
	first := fatal.Get(o.Fit(s))(t)
	if len(first.Weight) != classes*dim || len(first.Bias) != classes {
		t.Errorf("%d weights and %d biases, want %d and %d", len(first.Weight), len(first.Bias), classes*dim, classes)
	}
	for _, v := range append(slices.Clone(first.Weight), first.Bias...) {
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			t.Fatalf("a weight is %v", v)
		}
	}
	if !slices.Equal(before, append(slices.Clone(s.Features.Data), s.Unlabelled.Data...)) {
		t.Error("the features have changed")
	}
	if again, err := o.Fit(s); err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("the same samples give another head, error %v", err)
	}
}
