package report

import (
	"math"
	"testing"

	"github.com/ledg-go/ledg/plots"
)

// As good as with twice the labels: between 10 and 40 labels half of the logarithm is 20.
func TestSavings(t *testing.T) {
	curve := func(accuracies ...float64) (c plots.Curve) {
		for i, a := range accuracies {
			c.Points = append(c.Points, plots.Point{X: 10 * math.Pow(4, float64(i)), Values: []float64{a - 1, a + 1}})
		}
		return c
	}
	got := Savings(curve(40, 60, 99), curve(30, 50, 70))
	for i, want := range []Saving{{10, 40, 20}, {40, 60, 80}, {160, 99, math.Inf(1)}} {
		if s := got[i]; s.Budget != want.Budget || s.Accuracy != want.Accuracy || s.Worth != want.Worth && math.Abs(s.Worth-want.Worth) > 1e-9 {
			t.Errorf("%+v, want %+v", s, want)
		}
	}
	if s := Savings(curve(10), curve(30, 50)); !math.IsInf(s[0].Worth, -1) {
		t.Errorf("worse than the least of the other's is %+v", s)
	}
}

// Verdicts are the differences of the table of all methods.
func TestVerdicts(t *testing.T) {
	list, err := figureFolder(t).Verdicts("methods", TableOptions{Baseline: "ceg"})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		if v.Row == "Random + cross-entropy (published schedule, preset paper)" {
			if v.N != 2 || math.Abs(v.Mean+0.03) > 1e-9 { // three answers of a hundred fewer
				t.Errorf("%+v", v)
			}
			return
		}
	}
	t.Errorf("no uniform-ce in %+v", list)
}
