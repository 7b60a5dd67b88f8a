package result

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestSummarize(t *testing.T) {
	for _, tt := range []struct {
		sample    []float64
		mean, sd  float64
		low, high float64
		warnings  []string
	}{
		// Quantiles of Student's t at 0.975 from a printed table: 4.30265 for two
		// degrees of freedom, 2.77645 for four.
		{[]float64{0.8, 0.82, 0.87}, 0.83, math.Sqrt(0.0013), 0.83 - 4.30265*math.Sqrt(0.0013/3), 0.83 + 4.30265*math.Sqrt(0.0013/3), nil},
		{[]float64{1, 2, 3, 4, 5}, 3, math.Sqrt(2.5), 3 - 2.77645*math.Sqrt(0.5), 3 + 2.77645*math.Sqrt(0.5), nil},
		{[]float64{1, 3}, 2, math.NaN(), math.NaN(), math.NaN(), []string{"n = 2: no interval"}},
		{[]float64{4, 4, 4}, 4, 0, 4, 4, []string{"all values are equal: the interval has no width"}},
		{[]float64{7}, 7, math.NaN(), math.NaN(), math.NaN(), []string{"n = 1: no interval"}},
	} {
		before := slices.Clone(tt.sample)
		s, err := Summarize(tt.sample)
		if err != nil {
			t.Errorf("Summarize(%v): %v", tt.sample, err)
			continue
		}
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-4 || math.IsNaN(a) && math.IsNaN(b) }
		if s.N != len(tt.sample) || !near(s.Mean, tt.mean) || !near(s.SD, tt.sd) || !near(s.Low, tt.low) || !near(s.High, tt.high) {
			t.Errorf("Summarize(%v) = %+v", tt.sample, s)
		}
		if !reflect.DeepEqual(s.Warnings, tt.warnings) {
			t.Errorf("Summarize(%v) warns %q, want %q", tt.sample, s.Warnings, tt.warnings)
		}
		if !slices.Equal(before, tt.sample) {
			t.Errorf("Summarize changed its sample to %v", tt.sample)
		}
	}
	for _, bad := range [][]float64{nil, {1, math.NaN()}, {math.Inf(-1)}} {
		if s, err := Summarize(bad); err == nil {
			t.Errorf("Summarize(%v) = %+v", bad, s)
		}
	}
}

func TestPaired(t *testing.T) {
	a := []Trial{{"2", 0.7}, {"1", 0.6}, {"3", 0.8}, {"9", 0.1}}
	b := []Trial{{"1", 0.5}, {"2", 0.5}, {"3", 0.5}}
	s := fatal.Get(Paired(a, b))(t)
	if s.N != 3 || math.Abs(s.Mean-0.2) > 1e-12 || math.Abs(s.SD-0.1) > 1e-12 {
		t.Errorf("Paired = %+v", s)
	}
	if want := []string{"unpaired trials left out: 1"}; !reflect.DeepEqual(s.Warnings, want) {
		t.Errorf("warnings are %q, want %q", s.Warnings, want)
	}
	// 0.2 -/+ 4.303 * 0.1/sqrt(3) = 0.2 -/+ 0.248: not significantly different from zero.
	if s.ExcludesZero() {
		t.Error("the interval excludes zero")
	}
	for _, bad := range [][2][]Trial{
		{{{"1", 1}, {"1", 2}}, b}, {b, {{"1", 1}, {"1", 2}}}, {a, {{"x", 1}}}, {nil, nil},
		{{{"1", math.NaN()}}, b},
	} {
		if s, err := Paired(bad[0], bad[1]); err == nil {
			t.Errorf("Paired(%v, %v) = %+v", bad[0], bad[1], s)
		}
	}
}

func ExamplePaired() {
	ceg := []Trial{{"seed 1", 0.71}, {"seed 2", 0.69}, {"seed 3", 0.73}}
	uniform := []Trial{{"seed 1", 0.60}, {"seed 2", 0.59}, {"seed 3", 0.61}}
	gain, err := Paired(ceg, uniform)
	if err != nil {
		panic(err)
	}
	fmt.Println(gain.Percent())
	fmt.Println("sign known:", gain.ExcludesZero())
	// Output:
	// 11.00 [8.52, 13.48] (n = 3)
	// sign known: true
}

func TestPercentAlwaysHasN(t *testing.T) {
	for _, sample := range [][]float64{{0.5}, {0.5, 0.7}} {
		s := fatal.Get(Summarize(sample))(t)
		if want := fmt.Sprintf("(n = %d)", len(sample)); !strings.HasSuffix(s.Percent(), want) {
			t.Errorf("%q does not end in %s", s.Percent(), want)
		}
	}
}
