package active_test

import (
	"math"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/activetest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// ours are scoring functions and the arrays they read.
var ours = map[string]struct {
	score func(v active.View) []float64
	reads active.Arrays
}{
	"margin-density": {func(v active.View) []float64 {
		scores := v.Margin()
		for i, near := range v.Density() {
			scores[i] = (1 - scores[i]) * (1 + near)
		}
		return scores
	}, active.ClassProbs | active.Features},
	"entropy-of-mine": {active.View.Entropy, active.ClassProbs},
	"far": {func(v active.View) []float64 {
		scores := v.Distance()
		for i, d := range scores {
			scores[i] = min(d, 1e9)
		}
		return scores
	}, active.Features | active.LabelledFeatures},
	"rare-domain": {func(v active.View) []float64 {
		_, _, domains := v.Labelled()
		scores := make([]float64, v.Len())
		for i, d := range v.Domains() {
			for _, l := range domains {
				if l == d {
					scores[i]--
				}
			}
			scores[i] -= float64(v.Features()[i][0]) / 100
		}
		return scores
	}, active.Domains | active.Features | active.LabelledFeatures | active.LabelledClasses | active.LabelledDomains},
	"sure-domain": {func(v active.View) []float64 {
		scores := make([]float64, v.Len())
		for i, p := range v.DomainProbs() {
			scores[i] = float64(slices.Max(p))
		}
		return scores
	}, active.DomainProbs},
}

// Strategies of scoring functions keep to the contract, and know what they read.
func TestScoredConform(t *testing.T) {
	for name, s := range ours {
		t.Run(name, func(t *testing.T) {
			scored := fatal.Get(active.NewScored(name, s.score))(t)
			if scored.Needs() != s.reads {
				t.Errorf("it needs %v, want %v", scored.Needs(), s.reads)
			}
			activetest.Run(t, scored)
		})
	}
}

// A function that cannot be a strategy is found out before a run.
func TestScoredFlaws(t *testing.T) {
	for want, score := range map[string]func(v active.View) []float64{
		"mine: it has no function":                                   nil,
		"on 12 random candidates: 3 scores for 12 candidates":        func(active.View) []float64 { return make([]float64, 3) },
		`the score of row 0 ("candidate 0") is NaN`:                  func(v active.View) []float64 { return slices.Repeat([]float64{math.NaN()}, v.Len()) },
		"on 12 random candidates: runtime error: index out of range": func(v active.View) []float64 { return []float64{v.Entropy()[99]} },
		"is +Inf, want a finite number":                              func(v active.View) []float64 { return slices.Repeat([]float64{math.Inf(1)}, v.Len()) },
	} {
		fatal.Says(t, fatal.Err(active.NewScored("mine", score)), want)
	}
}

// Views measure what they say: by hand, of three candidates with unit features.
func TestViewByHand(t *testing.T) {
	c := &active.Candidates{
		IDs: []string{"a", "b", "c"}, Features: matrix(2, 2, 0, 0, 1, 0, 3),
		ClassProbs:       matrix(2, 0.5, 0.5, 0.9, 0.1, 0.75, 0.25),
		LabelledFeatures: matrix(2, 0, 0, 2, 2), LabelledClasses: []int{1, 0}, LabelledDomains: []int{0, 2},
	}
	near := func(what string, got []float64, want ...float64) {
		t.Helper()
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-6 {
				t.Errorf("%s %v, want %v", what, got, want)
				return
			}
		}
	}
	score := func(v active.View) []float64 {
		if v.Len() != 3 { // the made-up ones
			return make([]float64, v.Len())
		}
		near("margin", v.Margin(), 0, 0.8, 0.5)
		near("confidence", v.Confidence(), 0.5, 0.9, 0.75)
		near("entropy", v.Entropy(), math.Log(2), 0.325083, 0.562335)
		near("density", v.Density(), 1./3, 2./3, 2./3)
		near("distance", v.Distance(), 4, 1, 5)
		if f, classes, domains := v.Labelled(); f[1][1] != 2 || classes[0] != 1 || domains[1] != 2 {
			t.Errorf("labelled %v, %v, %v", f, classes, domains)
		}
		return v.Density()
	}
	s := fatal.Get(active.NewScored("mine", score))(t)
	s.Reads = active.Features
	if picks, err := s.Query(c, 3, nil); err != nil || picks[2].ID != "a" || picks[2].Score >= picks[0].Score {
		t.Errorf("picks %+v, %v", picks, err)
	}
}
