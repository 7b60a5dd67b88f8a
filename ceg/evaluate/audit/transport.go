package audit

import (
	"fmt"
	"math"
)

// Transport estimates accuracy without labels by confidence optimal transport (Lu et al.,
// "Characterizing Out-of-Distribution Error via Optimal Transport", NeurIPS 2023): 1 minus the
// cost of transporting the probabilities [n][C] of the images to the class prior [C],
//
//	min over Q >= 0 of  sum_ij Q_ij (1 - P_ij),  sum_j Q_ij = 1/n,  sum_i Q_ij = prior_j
//
// The solution is exact, in O(n C) for each of about n + C augmentations. prior must sum to 1,
// and rows must have C numbers.
func Transport(probs [][]float64, prior []float64) (float64, error) {
	n, c := len(probs), len(prior)
	if n == 0 || c == 0 {
		return 0, fmt.Errorf("transport: %d images and %d classes", n, c)
	}
	sum := 0.0
	for j, v := range prior {
		if !(v >= 0) {
			return 0, fmt.Errorf("transport: class %d has the share %v", j, v)
		}
		sum += v
	}
	if math.Abs(sum-1) > 1e-6 {
		return 0, fmt.Errorf("transport: the shares of the classes sum to %v, want 1", sum)
	}
	f := &flow{cost: make([][]float64, n), mass: make([][]float64, n), excess: make([]float64, c)}
	for j, v := range prior {
		f.excess[j] = -v / sum
	}
	for i, p := range probs {
		if len(p) != c {
			return 0, fmt.Errorf("transport: image %d has %d probabilities for %d classes", i, len(p), c)
		}
		f.cost[i], f.mass[i] = make([]float64, c), make([]float64, c)
		best := 0
		for j, v := range p {
			if math.IsNaN(v) {
				return 0, fmt.Errorf("transport: image %d has the probability NaN", i)
			}
			f.cost[i][j] = 1 - v
			if v > p[best] {
				best = j
			}
		}
		f.mass[i][best] = 1 / float64(n)
		f.excess[best] += 1 / float64(n)
	}
	for f.move() {
	}
	total := 0.0
	for i, row := range f.mass {
		for j, m := range row {
			total += m * f.cost[i][j]
		}
	}
	return min(max(1-total, 0), 1), nil
}

// flow is a transport of least cost to the columns as they are filled: successive shortest
// paths move mass from columns that have too much to those that have too little.
type flow struct {
	cost, mass [][]float64 // [n][C]
	excess     []float64   // [C], sums to 0
}

// least is the mass that is nothing but rounding.
const least = 1e-13

// move moves mass along a path of least cost; false if every column has its share.
func (f *flow) move() bool {
	c := len(f.excess)
	distance, from, by := make([]float64, c), make([]int, c), make([]int, c)
	for j, e := range f.excess {
		from[j] = -1
		if distance[j] = math.Inf(1); e > least {
			distance[j] = 0
		}
	}
	// Bellman and Ford: a row with mass in a column can have it in another at the
	// difference of the costs.
	for changed, round := true, 0; changed && round <= c; round++ {
		changed = false
		for i, row := range f.mass {
			for j, m := range row {
				if m <= least || math.IsInf(distance[j], 1) {
					continue
				}
				for k := range c {
					if d := distance[j] + f.cost[i][k] - f.cost[i][j]; d < distance[k]-1e-12 {
						distance[k], from[k], by[k], changed = d, j, i, true
					}
				}
			}
		}
	}
	end := -1
	for j, e := range f.excess {
		if e < -least && !math.IsInf(distance[j], 1) && (end < 0 || distance[j] < distance[end]) {
			end = j
		}
	}
	if end < 0 {
		return false
	}
	amount, start := -f.excess[end], end
	for ; from[start] >= 0; start = from[start] {
		amount = min(amount, f.mass[by[start]][from[start]])
	}
	amount = min(amount, f.excess[start])
	for j := end; from[j] >= 0; j = from[j] {
		f.mass[by[j]][from[j]] -= amount
		f.mass[by[j]][j] += amount
	}
	f.excess[end] += amount
	f.excess[start] -= amount
	return true
}

// Prior returns the class shares among labels, with half a pseudo-count each.
func Prior(counts []int) []float64 {
	sum := 0.0
	for _, n := range counts {
		sum += float64(n) + 0.5
	}
	p := make([]float64, len(counts))
	for j, n := range counts {
		p[j] = (float64(n) + 0.5) / sum
	}
	return p
}

// Agreement estimates accuracy without labels by agreement-on-the-line (Baek et al., NeurIPS
// 2022) from one pair of networks: the source accuracy minus the drop in agreement from
// unlabelled source images to the site, clipped to [0, 1].
func Agreement(sourceAccuracy, agreeOnSources, agreeOnSite float64) float64 {
	return min(max(sourceAccuracy-(agreeOnSources-agreeOnSite), 0), 1)
}

// Agree returns the share of images for which two networks predict the same class; 0 without
// images.
func Agree(a, b []int) float64 {
	if len(a) == 0 {
		return 0
	}
	same := 0
	for i := range a {
		if a[i] == b[i] {
			same++
		}
	}
	return float64(same) / float64(len(a))
}
