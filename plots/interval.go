package plots

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is the mean of N values with its confidence interval, under a normal distribution.
// Low and High equal Mean if N is 1.
type Interval struct {
	Mean, Low, High float64
	N               int
}

// StudentT returns the mean of values with its two-sided Student-t interval at a confidence
// between 0 and 1: mean -/+ t s / sqrt(n). s is the standard deviation (divisor n - 1), t the
// quantile with n - 1 degrees of freedom: 4.30 at n = 3 and 0.95, not 1.96. No values, NaN and
// infinities are errors.
func StudentT(values []float64, confidence float64) (Interval, error) {
	if !(confidence > 0 && confidence < 1) {
		return Interval{}, fmt.Errorf("plots: confidence is %v, want a number between 0 and 1", confidence)
	}
	if len(values) == 0 {
		return Interval{}, fmt.Errorf("plots: mean of no values")
	}
	if err := finite("value", values...); err != nil {
		return Interval{}, err
	}
	n := len(values)
	mean, sd := stat.MeanStdDev(values, nil)
	if n == 1 {
		return Interval{Mean: mean, Low: mean, High: mean, N: 1}, nil
	}
	t := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + confidence) / 2)
	half := t * sd / math.Sqrt(float64(n))
	return Interval{Mean: mean, Low: mean - half, High: mean + half, N: n}, nil
}

// finite refuses NaN and infinities.
func finite(name string, values ...float64) error {
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("plots: %s %d is %v", name, i, v)
		}
	}
	return nil
}
