package plots

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Band selects what the band around a curve shows. Bands of accuracies end at 0 and 100%.
type Band string

const (
	// CI is the 95% Student-t interval of the mean; so is the empty Band.
	CI Band = "ci"
	// SD is the mean plus and minus the standard deviation over runs, SE plus and minus the standard error
	// of the mean.
	SD Band = "sd"
	SE Band = "se"
	// None draws the mean alone.
	None Band = "none"
)

// ParseBand returns the band with a name; the empty name is CI.
func ParseBand(name string) (Band, error) {
	if name == "" {
		return CI, nil
	}
	if !slices.Contains([]Band{CI, SD, SE, None}, Band(name)) {
		return "", fmt.Errorf("band %q, want one of %s, %s, %s, %s", name, CI, SD, SE, None)
	}
	return Band(name), nil
}

// interval returns the mean of values, at least one, and the bounds of its band. The 95% Student-t interval
// is mean -/+ t s / sqrt(n), with the standard deviation s (divisor n - 1) and the quantile t with n - 1
// degrees of freedom: 4.30 at n = 3, not 1.96.
func (b Band) interval(values []float64) (mean, low, high float64) {
	mean, half := stat.MeanStdDev(values, nil)
	if len(values) == 1 {
		return mean, mean, mean
	}
	n := float64(len(values))
	switch b {
	case SD:
	case SE:
		half /= math.Sqrt(n)
	case None:
		half = 0
	default:
		half = distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile((1+confidence)/2) * half / math.Sqrt(n)
	}
	return mean, mean - half, mean + half
}

// words describes the band in a figure's note.
func (b Band) words() string {
	switch b {
	case SD:
		return "standard deviation over runs"
	case SE:
		return "standard error of the mean"
	}
	return "95% Student-t interval"
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

// bars draws the intervals of at most a dozen points as bars with caps.
func (b band) bars(c draw.Canvas, x, y func(float64) vg.Length) {
	line, reach := draw.LineStyle{Color: b.look.line.Color, Width: 0.7 * b.look.line.Width}, 1.8*b.theme.mark()
	for i := len(b.x) - 1; i >= 0; i -= (len(b.x) + 11) / 12 {
		if !b.several[i] {
			continue
		}
		at, low, high := x(b.x[i]), y(b.low[i]), y(b.high[i])
		for _, l := range [][]vg.Point{{{X: at, Y: low}, {X: at, Y: high}}, {{X: at - reach, Y: low}, {X: at + reach, Y: low}}, {{X: at - reach, Y: high}, {X: at + reach, Y: high}}} {
			c.StrokeLines(line, c.ClipLinesY(l)...)
		}
	}
}
