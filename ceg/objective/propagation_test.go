package objective

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Unlabelled images that lead from a label round a corner move the boundary; without any
// the objective is logistic regression.
func TestPropagation(t *testing.T) {
	s := Samples{
		Features: cluster.Matrix{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1, 0, 1, .05, -1, 0, -1, .05}},
		Labels:   []int{0, 0, 1, 1}, Domains: []int{0, 1, 0, 1}, Classes: 2,
	}
	plain := fatal.Get(LogisticRegression().Fit(s))(t)
	same := fatal.Get(Propagation().Fit(s))(t)
	for i := range plain.Weight {
		if plain.Weight[i] != same.Weight[i] {
			t.Fatalf("without unlabelled images weight %d is %v, logistic regression's %v", i, same.Weight[i], plain.Weight[i])
		}
	}
	for _, v := range [][]float32{{1, .3}, {1, .8}, {.8, 1}, {.4, 1}, {0, 1}, {-.2, 1}} {
		s.Unlabelled.Data = append(s.Unlabelled.Data, v...)
		s.Unlabelled.Rows++
	}
	s.Unlabelled.Cols, s.Unlabelled.Stride = 2, 2
	got := fatal.Get(Propagation().Fit(s))(t)
	score := func(f Fitted, x, y float32) float32 {
		return (f.Weight[0]-f.Weight[2])*x + (f.Weight[1]-f.Weight[3])*y + f.Bias[0] - f.Bias[1]
	}
	if a, b := score(plain, -.3, 1), score(got, -.3, 1); !(a < 0 && b > 0) {
		t.Errorf("the end of the arc scores %v by labels and %v by propagated ones, want below and above 0", a, b)
	}
	if c := got.Terms[2]; c.Name != "certainty" || !(c.Value > 0 && c.Value <= 1) {
		t.Errorf("term %+v", c)
	}
}
