package learner

import (
	"fmt"
	"math"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/objective"
)

// blocks is a network that package direct trains: an EfficientNet-Lite of few blocks.
var blocks = nets.Backbone{
	Name: "blocks",
	Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		norm := func(x nets.Maps, name string) nets.Maps { return o.ReLU6(o.BatchNorm(x, name+"_bn")) }
		x = norm(o.Conv(x, "stem", 8, 3, 2, nets.Same, false), "stem")
		x = norm(o.Depthwise(x, "block1.dw", 3, 1, nets.Same), "block1.dw")
		x = o.BatchNorm(o.Conv(x, "block1.narrow", 12, 1, 1, 0, false), "block1.bn")
		y := norm(o.Conv(x, "block2.wide", 36, 1, 1, 0, false), "block2.wide")
		y = norm(o.Depthwise(y, "block2.dw", 5, 1, nets.Same), "block2.dw")
		x = o.Add(o.BatchNorm(o.Conv(y, "block2.narrow", 12, 1, 1, 0, false), "block2.bn"), x)
		return norm(o.Conv(x, "block3", 40, 1, 1, 0, false), "block3")
	},
	Pooling: config.MeanPool,
}

// TestSegmentsAreTheStep takes steps whose network is computed without a graph, and the same
// steps as one graph: float32 sums in another order, two steps of them.
func TestSegmentsAreTheStep(t *testing.T) {
	frozen, err := nets.Freeze(blocks, "2", 48)
	if err != nil {
		t.Fatal(err)
	}
	ceg := authors
	ceg.TargetPass = config.FrozenStats
	for _, c := range []struct {
		name string
		net  nets.Backbone
		o    objective.Objective
	}{
		{"ceg", blocks, ceg.Objective()},
		{"ceg, a part frozen", frozen, authors.Objective()},
		{"fixmatch", blocks, objective.FixMatch(0.2, config.Both, objective.DomainByDomain)},
		{"erm", blocks, objective.ERM(objective.Passes{})},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := authorsOptions(c.net, 48)
			o.PerDomain, o.Objective = 6, c.o
			b := enginetest.Open(t)
			var states [2]State
			var losses [2][]float64
			for i := range states {
				l, err := New(b, o, 1)
				if err != nil {
					t.Fatal(err)
				}
				if l.trainer == nil {
					t.Skip("no vectors here, or another backend")
				}
				if i == 1 {
					l.trainer = nil
				}
				batch := l.RandomBatch()
				stage := Stage{Reliable: o.Objective.Uses(objective.Reliable)}
				for range 2 {
					out, err := l.Step(batch, published, stage)
					if err != nil {
						t.Fatal(err)
					}
					terms, err := out.Terms()
					if err != nil {
						t.Fatal(err)
					}
					for _, term := range terms {
						losses[i] = append(losses[i], term.Value)
					}
				}
				if s := l.steps[stage]; (s.segments != nil) != (i == 0) {
					t.Fatalf("segments %v", s.segments != nil)
				}
				if states[i], err = l.State(); err != nil {
					t.Fatal(err)
				}
				l.Close()
			}
			for i, want := range losses[1] {
				if d := math.Abs(losses[0][i] - want); !(d <= 1e-4) {
					t.Errorf("term %d is %v, want %v", i, losses[0][i], want)
				}
			}
			l, _ := New(b, o, 1)
			for j, p := range l.Params() {
				nettest.Near(t, fmt.Sprint(p.Name), states[0].Weights[j], states[1].Weights[j], 1e-4, 1e-4)
			}
			l.Close()
		})
	}
}
