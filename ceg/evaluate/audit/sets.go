package audit

import (
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/result"
)

// Score returns the nonconformity score of a class, 1 - probability, of the least ambiguous
// set-valued classifier (Sadinle et al., "Least Ambiguous Set-Valued Classifiers with Bounded
// Error Levels", JASA 2019).
func Score(probability float64) float64 { return 1 - probability }

// TooFewError is the error of a conformal threshold with too few scores.
type TooFewError struct {
	Have, Need int
	Coverage   float64
}

func (e *TooFewError) Error() string {
	return fmt.Sprintf("sets that have the class in %v%% of the images need an audit of at least %d images, and there are %d", 100*e.Coverage, e.Need, e.Have)
}

// Threshold returns the split-conformal threshold q: the ceil((M+1) coverage)-th smallest score
// of the true classes of M audited images. The prediction set of all classes with a [Score] of
// at most q contains the true class with probability in [coverage, coverage + 1/(M+1)], on
// average over audits, if scores have no ties. If the rank exceeds M, the error is a
// [*TooFewError]. Infinite scores mark classes in no set; an infinite q is an error.
func Threshold(scores []float64, coverage float64) (float64, error) {
	if !(coverage > 0 && coverage < 1) {
		return 0, fmt.Errorf("sets: coverage %v, want between 0 and 1", coverage)
	}
	for i, s := range scores {
		if math.IsNaN(s) {
			return 0, fmt.Errorf("sets: score %d is NaN", i)
		}
	}
	m := len(scores)
	k := rankOf(m, coverage)
	if k > m {
		return 0, &TooFewError{Have: m, Need: fewest(coverage), Coverage: coverage}
	}
	q := slices.Sorted(slices.Values(scores))[k-1]
	if math.IsInf(q, 1) {
		return 0, fmt.Errorf("sets: more than %.4g%% of the images are of classes that the network does not know, and no set has those", 100*(1-coverage))
	}
	return q, nil
}

// rankOf is ceil((m+1) coverage), where products that are whole but for their last digits
// count as whole: 0.9 of 10 is 9. It is at least 1.
func rankOf(m int, coverage float64) int {
	return max(1, int(math.Ceil(float64(m+1)*coverage-1e-9)))
}

// fewest is the least M that has a threshold.
func fewest(coverage float64) int {
	m := max(1, int((1-1e-8)*coverage/(1-coverage))-1)
	for rankOf(m, coverage) > m {
		m++
	}
	return m
}

// Sets is a conformal threshold with its properties.
type Sets struct {
	// Coverage is the nominal coverage.
	Coverage  float64 `json:"coverage"`
	Threshold float64 `json:"threshold"`
	// Images is M.
	Images int `json:"images,omitempty"`
}

// Of returns the prediction set of an image with the given probabilities.
func (s Sets) Of(probs []float64) (classes []int) {
	for c, p := range probs {
		if Score(p) <= s.Threshold {
			classes = append(classes, c)
		}
	}
	return classes
}

// String states the coverage guarantee.
func (s Sets) String() string {
	return fmt.Sprintf("%.4g%% prediction sets contain the true class of at least %.4g%% of the site's images, on average over audits of %d", 100*s.Coverage, 100*s.Coverage, s.Images)
}

// Abstention is a confidence threshold; the network abstains on images below it.
type Abstention struct {
	// Share is the share of the audited images on which it abstains.
	Share     float64 `json:"share"`
	Threshold float64 `json:"threshold"`
	// Accuracy is the accuracy on the other audited images.
	Accuracy Interval `json:"accuracy"`
	Images   int      `json:"images"`
}

// Abstain returns the threshold that abstains on the given share of the least confident images.
// surest holds the largest probabilities of the audited images, and right their correctness. The
// selection ignores correctness, so the interval of the rest is valid.
func Abstain(surest []float64, right []bool, share float64) (a Abstention, err error) {
	if len(surest) == 0 || len(surest) != len(right) {
		return a, fmt.Errorf("abstain: %d probabilities and %d audit labels", len(surest), len(right))
	}
	if !(share > 0 && share < 1) {
		return a, fmt.Errorf("abstain: share %v, want between 0 and 1", share)
	}
	sorted := slices.Sorted(slices.Values(surest))
	a = Abstention{Share: share, Threshold: sorted[min(int(math.Ceil(share*float64(len(sorted))-1e-9)), len(sorted)-1)]}
	var t result.Tally
	for i, p := range surest {
		if p >= a.Threshold {
			t.Total++
			if right[i] {
				t.Correct++
			}
		}
	}
	a.Images, a.Accuracy = t.Total, Wilson(t)
	return a, nil
}
