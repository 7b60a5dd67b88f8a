package result

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/stat/distuv"
)

// Difference is the mean paired difference between two methods, with two tests of the null
// hypothesis of zero mean. Both p-values are two-sided and uncorrected; see [Holm].
type Difference struct {
	Summary
	// P is the p-value of the paired t-test, with N-1 degrees of freedom. It is NaN below Enough
	// pairs and if all differences are equal.
	P float64
	// SignFlip is the p-value of the exact sign-flip test, [SignFlips], which does not assume
	// normality. It is NaN below Enough and above MaxFlips pairs.
	SignFlip float64
}

// Power is the power of [Difference.Detectable].
const Power = 0.8

// Detectable is the smallest detectable difference: if the true mean were as far from zero, with
// this N and SD, the t-test at Level would be significant with probability Power. It is NaN
// without an interval.
func (d Difference) Detectable() float64 {
	if !d.HasInterval() {
		return math.NaN()
	}
	errors := 0.0 // in standard errors
	for step := 8.0; step > 1e-9; step /= 2 {
		if power(errors+step, d.N) <= Power {
			errors += step
		}
	}
	return errors * (d.High - d.Low) / 2 / critical(d.N)
}

// power is the power of the two-sided t-test at Level with n values, whose true mean is the given
// number of standard errors from zero. The test statistic has a noncentral t-distribution: a normal value
// around the mean, divided by S = sqrt(chi^2/nu). The integral over the density of S is by
// Gauss-Legendre quadrature.
func power(errors float64, n int) float64 {
	nu, t := float64(n-1), critical(n)
	chi2 := distuv.ChiSquared{K: nu}
	return quad.Fixed(func(s float64) float64 {
		density := chi2.Prob(nu*s*s) * 2 * nu * s
		return density * (distuv.UnitNormal.CDF(errors-t*s) + distuv.UnitNormal.CDF(-errors-t*s))
	}, 0, 1+10/math.Sqrt(nu), 200, quad.Legendre{}, 0)
}

// MaxFlips is the largest number of pairs for which a Difference has the exact p-value: 20 pairs
// take about half a million steps.
const MaxFlips = 20

// newDifference summarizes paired differences.
func newDifference(diffs []float64) (Difference, error) {
	s, err := Summarize(diffs)
	if err != nil {
		return Difference{}, err
	}
	d := Difference{Summary: s, P: studentP(s), SignFlip: math.NaN()}
	if s.HasInterval() && s.N <= MaxFlips {
		d.SignFlip = SignFlips(diffs)
	}
	return d, nil
}

// studentP is the two-sided p-value of a sample whose mean is zero.
func studentP(s Summary) float64 {
	if !s.HasInterval() || s.SD == 0 {
		return math.NaN()
	}
	t := math.Abs(s.Mean) / (s.SD / math.Sqrt(float64(s.N)))
	return 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(s.N - 1)}.CDF(-t)
}

// SignFlips returns the two-sided p-value of the exact sign-flip (permutation) test on paired
// differences: the share of all 2^n sign assignments whose absolute mean is at least the
// observed one (Fisher's randomization test). It is at least 2/2^n, so five pairs cannot have
// less than 0.0625. It takes 2^(n-1) steps; n is from 1 to 63.
func SignFlips(diffs []float64) float64 {
	n := len(diffs)
	size := 0.0
	for _, d := range diffs {
		size += math.Abs(d)
	}
	sum := floats.Sum(diffs)
	least := math.Abs(sum) - 1e-12*size // equal but for rounding counts
	// The last sign stays: with all signs changed a sum is as far from zero.
	extreme, all := 0, uint64(1)<<(n-1)
	for k := range all { // Gray code: one sign changes at a time
		if k > 0 {
			i := bits.TrailingZeros64(k)
			if gray := k ^ k>>1; gray>>i&1 == 1 {
				sum -= 2 * diffs[i]
			} else {
				sum += 2 * diffs[i]
			}
		}
		if math.Abs(sum) >= least {
			extreme++
		}
	}
	return float64(extreme) / float64(all)
}

// Holm returns p-values adjusted by the Holm-Bonferroni method, which controls the family-wise
// error rate under any dependence (Holm 1979). A NaN is no test and stays NaN. The input is not
// modified.
func Holm(p []float64) []float64 {
	out := slices.Clone(p)
	var tests []int
	for i, v := range p {
		if !math.IsNaN(v) {
			tests = append(tests, i)
		}
	}
	slices.SortStableFunc(tests, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	least := 0.0
	for k, i := range tests {
		least = max(least, min(1, float64(len(tests)-k)*p[i]))
		out[i] = least
	}
	return out
}
