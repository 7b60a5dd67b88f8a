package objective_test

import (
	"math"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// adjustedStep is a step whose only head passes features on; it keeps the loss.
type adjustedStep struct {
	objective.Step
	z, y, prior, loss *Node
}

func (s *adjustedStep) Dims() objective.Dims                          { return objective.Dims{Classes: 3, Domains: 1} }
func (s *adjustedStep) Forward(string, ...objective.View) []*Node     { return []*Node{s.z} }
func (s *adjustedStep) Head(_ string, z *Node) *Node                  { return z }
func (s *adjustedStep) Minimise(_ string, loss *Node, nets ...string) { s.loss = loss }
func (s *adjustedStep) In(name string) *Node {
	return map[string]*Node{"x": s.z, "y": s.y}[name]
}

type priorStep struct{ *adjustedStep }

func (s priorStep) In(name string) *Node {
	if name == "class prior" {
		return s.prior
	}
	return s.adjustedStep.In(name)
}

// The cross-entropy is the balanced softmax -log(n_y exp z_y / sum n_c exp z_c) for tau 1, and a fitted head's biases
// lose tau times the logarithm of the shares.
func TestLogitAdjustment(t *testing.T) {
	counts := []float64{6, 2, 1}
	labels := []int{0, 0, 0, 0, 0, 0, 1, 1, 2}
	z, y := [][]float32{{1, 0.5, -1}, {0, 0, 2}}, []int32{1, 0}
	for _, tau := range []float64{1, 0.5} {
		want := 0.0
		for i, row := range z {
			sum := 0.0
			for c, v := range row {
				sum += math.Pow(counts[c], tau) * math.Exp(float64(v))
			}
			want -= math.Log(math.Pow(counts[y[i]], tau)*math.Exp(float64(row[y[i]]))/sum) / 2
		}
		o := objective.WithLogitAdjustment(objective.ERM(objective.Passes{}), tau)
		fatal.If(t, o.Validate())
		out := fatal.Get(ExecOnce(enginetest.Open(t).Compute, func(z, y, prior *Node) *Node {
			s := &adjustedStep{z: z, y: y, prior: prior}
			o.Step(priorStep{s})
			return s.loss
		}, z, y, objective.LogShares(labels, 3)))(t)
		if got := float64(out.Value().(float32)); math.Abs(got-want) > 1e-6 {
			t.Errorf("tau %v: loss %v, want %v", tau, got, want)
		}
		fit := func(objective.Samples) (objective.Fitted, error) {
			return objective.Fitted{Bias: []float32{1, 1, 1, 1}, Terms: []objective.FitTerm{{Name: "total"}}}, nil
		}
		h := fatal.Get(objective.WithLogitAdjustment(objective.Objective{Name: "own", Fit: fit}, tau).Fit(objective.Samples{Features: cluster.Matrix{}, Labels: labels, Classes: 4}))(t)
		for c, n := range append(counts, 1) { // the last class has no label
			if want := 1 - tau*math.Log(n/9); math.Abs(float64(h.Bias[c])-want) > 1e-6 {
				t.Errorf("tau %v: bias %d is %v, want %v", tau, c, h.Bias[c], want)
			}
		}
	}
}
