package inference

import (
	"math"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/datasets/seed"
)

// normals returns a function that draws a number of normal values.
func normals(name string) func(n int) []float32 {
	r := seed.New(1, name)
	return func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(3 * r.NormFloat64())
		}
		return v
	}
}

func mustAgree(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i, v := range want {
		if d := math.Abs(float64(got[i] - v)); !(d <= 1e-4*max(1, math.Abs(float64(v)))) {
			t.Fatalf("%s: value %d is %v, want %v", what, i, got[i], v)
		}
	}
}

// The vector loops compute what the plain ones do.
func TestRowLoops(t *testing.T) {
	random := normals("rows")
	x, y, z := random(64), random(64), random(64)
	for name, do := range map[string][2]func(y []float32){
		"scaled":  {func(y []float32) { scaleRows(y, x, z[:2], z[2:]) }, func(y []float32) { scaleRowsGeneric(y, x, z[:2], z[2:]) }},
		"limited": {func(y []float32) { limit(y, -1, 2) }, func(y []float32) { limitGeneric(y, -1, 2) }},
		"sums":    {func(y []float32) { addLimited(y, x, -1, 2) }, func(y []float32) { addLimitedGeneric(y, x, -1, 2) }},
	} {
		got, want := slices.Clone(y), slices.Clone(y)
		do[0](got)
		do[1](want)
		mustAgree(t, name, got, want)
	}
	src, runs := random(100), []run{{0, 3, 40}, {3, 17, 2}, {20, 12, 80}}
	got, want := make([]float32, cols+slack), make([]float32, cols)
	lay(got, src, runs)
	layGeneric(want, src, runs)
	mustAgree(t, "runs", got[:cols], want)
}
