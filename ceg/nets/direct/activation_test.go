package direct

import (
	"math"
	"slices"
	"testing"
)

// The loops are the generic ones within rounding, at the ends of float32, too.
func TestCurves(t *testing.T) {
	random := normals("curves")
	v := append(random(480), 0, -0.5, 1e-30, -1e-30, 30, -30, 88, -88, 200, -200, 1e30, -1e30, 9.2, -9.2, 13, -13)
	for name, c := range map[string]Activation{
		"sigmoid":   {F: Sigmoid, Inner: 1, Scale: 1},
		"SiLU":      {F: Sigmoid, Inner: 1, Scale: 1, Times: true},
		"GELU tanh": {F: Sigmoid, Inner: 1.5957691, Third: 0.0175596, Scale: 1, Times: true},
		"erf":       {F: Erf, Inner: 1, Scale: 1},
		"GELU":      {F: Erf, Inner: math.Sqrt2 / 2, Scale: 0.5, Shift: 0.5, Times: true},
		"HardSwish": {Hi: 1, Inner: 1. / 6, Offset: 0.5, Scale: 1, Times: true},
		"clamp":     {Lo: -1, Hi: 2, Inner: 3, Offset: -1, Scale: -2, Shift: 5},
	} {
		got, want := slices.Clone(v), slices.Clone(v)
		c.apply(got)
		c.applyGeneric(want)
		for i, x := range v {
			// 1.5e-7 of the values' own size is the error of erf8's formula.
			if d := math.Abs(float64(got[i] - want[i])); !(d <= 4e-7*max(1, math.Abs(float64(x)), math.Abs(float64(want[i])))) {
				t.Errorf("%s of %g is %g, want %g", name, x, got[i], want[i])
			}
		}
	}
}

func TestRowLoops(t *testing.T) {
	random := normals("rows")
	for _, channels := range []int{1, 3, 40} {
		x, scale, bias := random(channels*cols), random(channels), random(channels)
		got, want := make([]float32, len(x)), make([]float32, len(x))
		normaliseRows(got, x, scale, bias, 0.01)
		normaliseRowsGeneric(want, x, scale, bias, 0.01)
		mustAgree(t, "LayerNorm", got, want)
		sums := random(8 * channels)
		got, want = slices.Clone(sums), slices.Clone(sums)
		sumRows(got, x)
		sumRowsGeneric(want, x)
		mustAgree(t, "sums", got, want)
	}
	scores := random(37 * cols)
	got, want, inverse, exact := slices.Clone(scores), slices.Clone(scores), [cols]float32{}, [cols]float32{}
	softmaxRows(got, &inverse)
	softmaxRowsGeneric(want, &exact)
	mustAgree(t, "softmax", got, want)
	mustAgree(t, "sums of a softmax", inverse[:], exact[:])
	x, y, z := random(64), random(64), random(64)
	for name, do := range map[string][2]func(y []float32){
		"scaled":  {func(y []float32) { scaleRows(y, x, z[:2], z[2:]) }, func(y []float32) { scaleRowsGeneric(y, x, z[:2], z[2:]) }},
		"limited": {func(y []float32) { limit(y, -1, 2) }, func(y []float32) { limitGeneric(y, -1, 2) }},
		"sums":    {func(y []float32) { addLimited(y, x, -1, 2) }, func(y []float32) { addLimitedGeneric(y, x, -1, 2) }},
		"product": {func(y []float32) { times(y, x, z) }, func(y []float32) { timesGeneric(y, x, z) }},
	} {
		got, want := slices.Clone(y), slices.Clone(y)
		do[0](got)
		do[1](want)
		mustAgree(t, name, got, want)
	}
	src, runs := random(100), []run{{0, 3, 40}, {3, 17, 2}, {20, 12, 80}}
	got, want = make([]float32, cols+slack), make([]float32, cols)
	lay(got, src, runs)
	layGeneric(want, src, runs)
	mustAgree(t, "runs", got[:cols], want)
}
