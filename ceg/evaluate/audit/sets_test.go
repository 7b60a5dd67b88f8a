package audit_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

func TestThresholdByHand(t *testing.T) {
	scores := []float64{0.9, 0.1, 0.5, 0.3, 0.7, 0.2, 0.8, 0.4, 0.6} // M = 9
	for coverage, want := range map[float64]float64{0.9: 0.9, 0.8: 0.8, 0.5: 0.5, 0.55: 0.6, 0.1: 0.1, 1e-12: 0.1, 1e-320: 0.1} {
		if got, err := audit.Threshold(scores, coverage); err != nil || got != want {
			t.Errorf("coverage %v: %v, %v, want %v", coverage, got, err, want)
		}
	}
	_, err := audit.Threshold(scores[:8], 0.9)
	if few := (*audit.TooFewError)(nil); !errors.As(err, &few) || few.Need != 9 {
		t.Errorf("8 scores for 90%%: %v", err)
	}
	_, err = audit.Threshold(scores, 1-1e-12)
	if few := (*audit.TooFewError)(nil); !errors.As(err, &few) || few.Need < 9e11 || few.Need > 1.1e12 {
		t.Errorf("9 scores for nearly everything: %v", err)
	}
	_, err = audit.Threshold(scores, 0.95)
	if few := (*audit.TooFewError)(nil); !errors.As(err, &few) || few.Need != 19 {
		t.Errorf("9 scores for 95%%: %v", err)
	}
	if q, err := audit.Threshold(append(slices.Clone(scores[1:]), math.Inf(1)), 0.9); err == nil {
		t.Errorf("an unknown class gave the threshold %v", q)
	}
	if q, err := audit.Threshold(append(slices.Clone(scores[1:]), math.Inf(1)), 0.8); err != nil || q != 0.8 {
		t.Errorf("%v, %v", q, err)
	}
	for _, bad := range []float64{0, 1, -1, math.NaN()} {
		if _, err := audit.Threshold(scores, bad); err == nil {
			t.Errorf("coverage %v was taken", bad)
		}
	}
	if got := (audit.Sets{Threshold: 0.6}).Of([]float64{0.5, 0.39, 0.4, 0.01}); !slices.Equal(got, []int{0, 2}) {
		t.Errorf("set %v", got)
	}
}

// On continuous scores sets have the class with a probability within [1-alpha, 1-alpha + 1/(M+1)].
func TestCoverageOfSets(t *testing.T) {
	const audits = 40_000
	for _, m := range []int{20, 50} {
		for _, coverage := range []float64{0.8, 0.9} {
			sum := 0.0
			for k := range audits {
				r := seed.New(3, "sets", uint64(m), uint64(k))
				scores := make([]float64, m)
				for i := range scores {
					scores[i] = r.Float64()
				}
				q := fatal.Get(audit.Threshold(scores, coverage))(t)
				sum += q // the share of uniform scores that are at most q
			}
			got, slack := sum/audits, 4*math.Sqrt(coverage*(1-coverage)/float64(m)/audits)
			if got < coverage-slack || got > coverage+1/float64(m+1)+slack {
				t.Errorf("audits of %d for %v: sets have the class in %v", m, coverage, got)
			}
		}
	}
}

func TestAbstain(t *testing.T) {
	p := []float64{0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.35, 0.95, 0.85, 0.3}
	right := []bool{true, true, true, false, false, false, true, true, true, false}
	a, err := audit.Abstain(p, right, 0.4)
	if err != nil {
		t.Fatalf("%+v, %v", a, err)
	}
	// The four least sure are 0.3, 0.35, 0.4 and 0.5.
	if a.Threshold != 0.6 || a.Images != 6 || a.Accuracy != audit.Wilson(result.Tally{Correct: 5, Total: 6}) {
		t.Errorf("%+v", a)
	}
	if _, err := audit.Abstain(nil, nil, 0.4); err == nil {
		t.Error("a threshold came from no audit")
	}
	if _, err := audit.Abstain(p, right, 1); err == nil {
		t.Error("all images were left out")
	}
}
