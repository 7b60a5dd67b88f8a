package plots

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// ticks labels about n round numbers of an axis: multiples of 1, 2 or 5 times a
// power of ten.
type ticks struct{ n int }

func (t ticks) Ticks(lo, hi float64) []plot.Tick {
	step := roundStep((hi - lo) / float64(t.n))
	decimals := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	var out []plot.Tick
	first := math.Ceil(lo/step - 1e-9)
	for k := 0.0; ; k++ {
		v := (first + k) * step
		if v > hi+1e-9*step {
			return out
		}
		if math.Abs(v) < 1e-9*step {
			v = 0
		}
		out = append(out, plot.Tick{Value: v, Label: minus(strconv.FormatFloat(v, 'f', decimals, 64))})
	}
}

// apart leaves out labels of an axis, of a length, that would run into each other: of round numbers by a larger
// step, of others every second until the rest has room.
type apart struct {
	axis   *plot.Axis
	length vg.Length
	across bool
	marker plot.Ticker
}

func (a apart) Ticks(lo, hi float64) []plot.Tick {
	list := a.marker.Ticks(lo, hi)
	if round, ok := a.marker.(ticks); ok {
		for n := round.n - 1; n > 1 && !a.fits(list, lo, hi); n-- {
			list = ticks{n}.Ticks(lo, hi)
		}
	}
	for range len(list) {
		if a.fits(list, lo, hi) {
			break
		}
		list = slices.Clone(list)
		for i, k := 0, 0; i < len(list); i++ {
			if list[i].Label != "" {
				if k++; k%2 == 0 {
					list[i].Label = ""
				}
			}
		}
	}
	return list
}

// fits reports whether no label runs into the one before.
func (a apart) fits(list []plot.Tick, lo, hi float64) bool {
	const gap = vg.Length(2)
	end := vg.Length(math.Inf(-1))
	for _, t := range list {
		if t.Label == "" {
			continue
		}
		at, half := vg.Length(a.axis.Scale.Normalize(lo, hi, t.Value))*a.length, a.axis.Tick.Label.Font.Size/2
		if a.across {
			half = a.axis.Tick.Label.Width(t.Label) / 2
		}
		if at-half < end {
			return false
		}
		end = at + half + gap
	}
	return true
}

// roundStep returns the smallest of 1, 2, 5 times a power of ten that is at
// least v.
func roundStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// minus replaces the hyphen of negative numbers.
func minus(s string) string {
	if len(s) > 0 && s[0] == '-' {
		return "\u2212" + s[1:]
	}
	return s
}

// number writes v with as few of the given significant digits as it needs.
func number(v float64, digits int) string {
	s := strconv.FormatFloat(v, 'g', digits, 64)
	f, _ := strconv.ParseFloat(s, 64)
	return minus(strconv.FormatFloat(f, 'f', -1, 64))
}

// valueTicks labels exactly the given values, those from 20 on to the next whole number.
func valueTicks(values []float64) plot.ConstantTicks {
	out := make(plot.ConstantTicks, len(values))
	for i, v := range values {
		out[i] = plot.Tick{Value: v, Label: number(v, 3)}
		if math.Abs(v) >= 20 {
			out[i].Label = minus(strconv.FormatFloat(v, 'f', 0, 64))
		}
	}
	return out
}
