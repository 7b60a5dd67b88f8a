package direct

import (
	"slices"
	"testing"
)

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
