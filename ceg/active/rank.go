package active

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Order returns the indices that sort scores from highest to lowest; ties are ordered by ties.
// NaN is an error.
func Order(scores []float64, ties Ties) ([]int, error) {
	if len(ties.IDs) != len(scores) {
		return nil, fmt.Errorf("%d scores for %d IDs", len(scores), len(ties.IDs))
	}
	order := make([]int, len(scores))
	for i, s := range scores {
		if math.IsNaN(s) {
			return nil, fmt.Errorf("score of row %d is NaN", i)
		}
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	for first := 0; first < len(order); {
		end := first + 1
		for end < len(order) && scores[order[end]] == scores[order[first]] {
			end++
		}
		ties.sort(order[first:end])
		first = end
	}
	return order, nil
}

// Ranks returns the rank of each score, 0 for the highest (Eq. 6); ties are ordered by ties.
// (The published code breaks ties by an unstable sort.) The map of package ceg: (18).
func Ranks(scores []float64, ties Ties) ([]int, error) {
	order, err := Order(scores, ties)
	if err != nil {
		return nil, err
	}
	ranks := make([]int, len(order))
	for rank, i := range order {
		ranks[i] = rank
	}
	return ranks, nil
}

// Weights weigh the three ranks in R. They are non-negative and not all zero.
type Weights struct{ Uncertainty, Representativeness, Diversity float64 }

// Gammas returns the weights of R = rank_u + gamma1*rank_r + gamma2*rank_d (Eq. 6): 3, 1 on PACS
// and 0.5, 0.5 on Office-Home. (The published code has w_unc, w_dom, w_div = 0.2, 0.6, 0.2 and
// 0.6, 0.2, 0.2, which are gammas of 3, 1 and of 1/3, 1/3.)
func Gammas(gamma1, gamma2 float64) Weights { return Weights{1, gamma1, gamma2} }

// Validate returns an error for negative, non-finite or all-zero weights.
func (w Weights) Validate() error {
	sum := 0.0
	for _, v := range []float64{w.Uncertainty, w.Representativeness, w.Diversity} {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fmt.Errorf("weights %+v of the ranks, want finite numbers from 0", w)
		}
		sum += v
	}
	if sum == 0 {
		return fmt.Errorf("weights of all ranks are 0")
	}
	return nil
}

// Combine returns R, the weighted sum of a sample's ranks (Eq. 6). The map of package ceg: (19).
func (w Weights) Combine(rankSu, rankSr, rankSd int) float64 {
	// The conversions keep compilers from fusing: equal bits on every machine.
	return float64(float64(w.Uncertainty*float64(rankSu))+float64(w.Representativeness*float64(rankSr))) +
		float64(w.Diversity*float64(rankSd))
}
