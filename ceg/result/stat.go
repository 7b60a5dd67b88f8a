package result

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Level is the confidence level of every interval in this package.
const Level = 0.95

// Enough is the smallest sample size for which a standard deviation and an interval are
// reported: with two values the interval is 12.7 times the standard error.
const Enough = 3

// Summary is the mean of a sample with its uncertainty.
type Summary struct {
	// N is the size of the sample.
	N    int
	Mean float64
	// SD is the sample standard deviation, with divisor N-1; NaN below Enough.
	SD float64
	// Low and High bound the Student-t interval of the mean at Level:
	// Mean -/+ t(N-1) SD/sqrt(N). Both are NaN below Enough.
	Low, High float64
	// Warnings are sentences about limitations of the numbers.
	Warnings []string
}

// Summarize computes the summary of a sample, without modifying it. An empty sample is an error,
// and so are NaN and infinity.
func Summarize(sample []float64) (Summary, error) {
	if len(sample) == 0 {
		return Summary{}, fmt.Errorf("summary of an empty sample")
	}
	for i, x := range sample {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return Summary{}, fmt.Errorf("value %d of the sample is %v", i, x)
		}
	}
	n := len(sample)
	mean, sd := stat.MeanStdDev(sample, nil)
	if n < Enough {
		nan := math.NaN()
		return Summary{N: n, Mean: mean, SD: nan, Low: nan, High: nan, Warnings: []string{fmt.Sprintf("n = %d: no interval", n)}}, nil
	}
	half := critical(n) * sd / math.Sqrt(float64(n))
	s := Summary{N: n, Mean: mean, SD: sd, Low: mean - half, High: mean + half}
	if sd == 0 {
		s.Warnings = append(s.Warnings, "all values are equal: the interval has no width")
	}
	return s, nil
}

// critical is the critical value of Student's t at Level, two-sided, for a sample of n values.
func critical(n int) float64 {
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + Level) / 2)
}

// HasInterval reports whether Low and High are numbers.
func (s Summary) HasInterval() bool { return s.N >= Enough }

// ExcludesZero reports whether the interval excludes zero. For a difference this means
// statistically significant at Level, uncorrected.
func (s Summary) ExcludesZero() bool {
	return s.HasInterval() && (s.Low > 0 || s.High < 0)
}

// Percent formats shares as percentages: "81.25 [78.14, 84.36] (n = 3)".
func (s Summary) Percent() string {
	if !s.HasInterval() {
		return fmt.Sprintf("%.2f (n = %d)", 100*s.Mean, s.N)
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f] (n = %d)", 100*s.Mean, 100*s.Low, 100*s.High, s.N)
}

// Trial is the outcome of one run, with a key, its seed, that runs of other methods share.
type Trial struct {
	Key   string
	Value float64
}

// OverTargets averages a method's trials over target domains, key by key. A key that lacks a
// target is left out, so all averages are over the same targets. The order is the order of the
// first target's trials. Runs of one seed share initial weights and data and are not independent;
// intervals over these averages account for that, intervals over targets x seeds would not.
func OverTargets(byTarget map[string][]Trial, targets []string) []Trial {
	if len(targets) == 0 {
		return nil
	}
	var list []Trial
keys:
	for _, t := range byTarget[targets[0]] {
		sum := 0.0
		for _, target := range targets {
			i := slices.IndexFunc(byTarget[target], func(u Trial) bool { return u.Key == t.Key })
			if i < 0 {
				continue keys
			}
			sum += byTarget[target][i].Value
		}
		list = append(list, Trial{Key: t.Key, Value: sum / float64(len(targets))})
	}
	return list
}

// Paired summarises the differences a - b of trials with the same key: the gain of one method
// over another on the same seeds. Unpaired trials are left out, and a warning counts them.
// Repeated keys on one side are an error, and so is having no common key.
func Paired(a, b []Trial) (Difference, error) {
	var err error
	byKey := func(side string, trials []Trial) map[string]float64 {
		m := make(map[string]float64, len(trials))
		for _, t := range trials {
			if _, ok := m[t.Key]; ok {
				err = fmt.Errorf("pairing: the %s side has two trials under %q", side, t.Key)
			}
			m[t.Key] = t.Value
		}
		return m
	}
	first, second := byKey("first", a), byKey("second", b)
	if err != nil {
		return Difference{}, err
	}
	var diffs []float64
	for _, key := range slices.Sorted(maps.Keys(first)) { // so that the order of the runs does not move the last digit
		if v, ok := second[key]; ok {
			diffs = append(diffs, first[key]-v)
		}
	}
	if len(diffs) == 0 {
		return Difference{}, fmt.Errorf("pairing: %d and %d trials have no key in common", len(a), len(b))
	}
	s, err := newDifference(diffs)
	if err != nil {
		return Difference{}, err
	}
	if alone := len(a) + len(b) - 2*len(diffs); alone > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("unpaired trials left out: %d", alone))
	}
	return s, nil
}
