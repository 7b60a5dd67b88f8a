package result

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// P-values are those of SciPy, corrected ones those of statsmodels; see the README of
// testdata.
func TestClaimsAgainstSciPy(t *testing.T) {
	data := fatal.Get(os.ReadFile("testdata/claims.json"))(t)
	var want struct {
		Pairs []struct {
			Differences []float64
			T           float64
			SignFlip    float64 `json:"flips"`
		}
		Families []struct{ P, Holm []float64 }
	}
	fatal.If(t, json.Unmarshal(data, &want))
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }
	for _, w := range want.Pairs {
		before := slices.Clone(w.Differences)
		few := len(w.Differences) < Enough // without a claim
		d, err := newDifference(w.Differences)
		if err != nil || few != math.IsNaN(d.P) || !few && !near(d.P, w.T) {
			t.Errorf("%v: t has p = %v, %v, want %v", w.Differences, d.P, err, w.T)
		}
		switch n := len(w.Differences); {
		case n < Enough || n > MaxFlips:
			if !math.IsNaN(d.SignFlip) {
				t.Errorf("%d pairs have an exact p-value of %v, want none", n, d.SignFlip)
			}
		case d.SignFlip != w.SignFlip:
			t.Errorf("%v: the exact p-value is %v, want %v", w.Differences, d.SignFlip, w.SignFlip)
		}
		if p := SignFlips(w.Differences); p != w.SignFlip || !slices.Equal(before, w.Differences) {
			t.Errorf("%v: flips have p = %v, want %v", w.Differences, p, w.SignFlip)
		}
	}
	for _, w := range want.Families {
		if got := Holm(w.P); !slices.EqualFunc(got, w.Holm, near) {
			t.Errorf("Holm of %v is %v, want %v", w.P, got, w.Holm)
		}
	}
	if len(want.Pairs) < 9 || len(want.Families) < 4 {
		t.Errorf("%d and %d cases", len(want.Pairs), len(want.Families))
	}
}

// The smallest detectable differences are those of SciPy's noncentral t-distribution, by
// testdata/detectable.py: with n = 10 values of SD 1 it is 0.996, as in R's power.t.test.
func TestDetectableAgainstSciPy(t *testing.T) {
	for n, want := range map[int]float64{3: 3.2640435496995686, 4: 2.1279493432578, 5: 1.6819969659555545,
		10: 0.9960013714554437, 20: 0.6604416546230271, 50: 0.40418300213604247} {
		var sample []float64
		for i := range n {
			sample = append(sample, 0.3+float64(i%2)-0.5)
		}
		d, err := newDifference(sample)
		if got := d.Detectable() / d.SD; err != nil || math.Abs(got-want) > 1e-8 {
			t.Errorf("n = %d: %v standard deviations are detectable, %v, want %v", n, got, err, want)
		}
	}
	if d, err := newDifference([]float64{0.1, 0.2}); err != nil || !math.IsNaN(d.Detectable()) {
		t.Errorf("two values: %v, %v", d.Detectable(), err)
	}
	if d, err := newDifference([]float64{0.5, 0.5, 0.5}); err != nil || d.Detectable() != 0 {
		t.Errorf("equal values: %v, %v", d.Detectable(), err)
	}
}

// By hand: of the eight sums of 1, 2 and 3 with any signs two are as far from zero as 6.
// Holm takes the smallest p times n, then the next times n-1, but none below the one
// before.
func TestClaimsByHand(t *testing.T) {
	for _, tt := range []struct {
		diffs []float64
		want  float64
	}{
		{[]float64{1, 2, 3}, 2. / 8},
		{[]float64{1, 1, -3}, 1},         // the sum is -1, and no sum is nearer to zero
		{[]float64{2, 2, -1}, 4. / 8},    // 3: 5 and 3, each with its opposite, of 5, 3, 1, 1
		{[]float64{0.1, 0.2, -0.3}, 1},   // zero but for rounding
		{[]float64{0.1, 0.2, 0.3}, 0.25}, // which adds up to another last digit in another order
		{[]float64{0, 0}, 1},
		{[]float64{5}, 1},
	} {
		if got := SignFlips(tt.diffs); got != tt.want {
			t.Errorf("flips of %v have p = %v, want %v", tt.diffs, got, tt.want)
		}
	}
	nan := math.NaN()
	p := []float64{0.03, nan, 0.01, 0.03}
	got := Holm(p)
	if want := []float64{0.06, nan, 0.03, 0.06}; !slices.EqualFunc(got, want, func(a, b float64) bool {
		return math.Abs(a-b) < 1e-15 || math.IsNaN(a) && math.IsNaN(b)
	}) || p[0] != 0.03 {
		t.Errorf("Holm is %v, want %v", got, want)
	}
	if got := Holm(nil); len(got) != 0 {
		t.Errorf("Holm of nothing is %v", got)
	}
	for _, diffs := range [][]float64{{0.5}, {0.5, 0.5}, {0, 0, 0}} {
		if d, err := newDifference(diffs); err != nil || !math.IsNaN(d.P) || len(diffs) < Enough != math.IsNaN(d.SignFlip) {
			t.Errorf("%v: %+v, %v", diffs, d, err)
		}
	}
}
