package active

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRanks(t *testing.T) {
	got, err := Ranks([]float64{0.5, 0.9, 0.5, math.Inf(1), 0.9, -1})
	if want := []int{3, 1, 4, 0, 2, 5}; err != nil || !slices.Equal(got, want) {
		t.Errorf("ranks %v, %v; want %v", got, err, want)
	}
	if _, err := Ranks([]float64{1, math.NaN()}); err == nil || !strings.Contains(err.Error(), "row 1 is NaN") {
		t.Errorf("NaN: error %v", err)
	}
	if got, err := Ranks(nil); err != nil || len(got) != 0 {
		t.Errorf("ranks of nothing: %v, %v", got, err)
	}
}

func TestWeights(t *testing.T) {
	if got := Gammas(3, 0.5).Combine(2, 10, 100); got != 82 {
		t.Errorf("R = %v, want 2 + 3*10 + 0.5*100", got)
	}
	for _, w := range []Weights{{}, {1, -1, 0}, {1, math.NaN(), 0}, {1, 0, math.Inf(1)}} {
		if w.Validate() == nil {
			t.Errorf("no error for %+v", w)
		}
		if _, err := (CEG{Weights: w}).Choose([]string{"a"}, Scores{[]float64{1}, []float64{1}, []float64{1}}, 1); err == nil {
			t.Errorf("a query with %+v", w)
		}
	}
	if err := (Weights{Diversity: 1}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestChooseErrors(t *testing.T) {
	ids, one := []string{"a"}, []float64{1}
	for _, s := range []struct {
		want   string
		scores Scores
		n      int
	}{
		{"0 values of S_r for 1 candidates", Scores{one, nil, one}, 1},
		{"ceg: S_d: score of row 0 is NaN", Scores{one, one, []float64{math.NaN()}}, 1},
		{"2 samples asked of 1 candidates", Scores{one, one, one}, 2},
		{"-1 samples asked", Scores{one, one, one}, -1},
	} {
		if _, err := (CEG{Weights: Gammas(1, 1)}).Choose(ids, s.scores, s.n); err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("error %v, want one with %q", err, s.want)
		}
	}
}

func TestMeasures(t *testing.T) {
	for _, s := range []struct {
		p                           []float64
		margin, entropy, confidence float64
	}{
		{[]float64{1, 0}, 0, 0, 0},
		{[]float64{0.5, 0.5}, 1, math.Ln2, 0.5},
		{[]float64{0.2, 0.5, 0.3}, 0.8, -(0.2*math.Log(0.2) + 0.5*math.Log(0.5) + 0.3*math.Log(0.3)), 0.5},
		{[]float64{0.25, 0.25, 0.25, 0.25}, 1, math.Log(4), 0.75},
	} {
		near(t, "margin", Margin(s.p), s.margin, 1e-15)
		near(t, "entropy", Entropy(s.p), s.entropy, 1e-15)
		near(t, "least confidence", LeastConfidence(s.p), s.confidence, 1e-15)
	}
}

func TestSoftmax(t *testing.T) {
	p := []float64{1000, 1000 + math.Log(3)}
	Softmax(p, p)
	near(t, "softmax of large logits", p[1], 0.75, 1e-12)
	Softmax(p, []float64{-1e300, 1e300})
	if p[0] != 0 || p[1] != 1 {
		t.Errorf("softmax %v, want 0 and 1", p)
	}
}

func TestCheckProbs(t *testing.T) {
	for _, s := range []struct {
		want string
		p    []float64
	}{
		{"column 1 is NaN", []float64{1, math.NaN()}},
		{"column 0 is -0.1", []float64{-0.1, 1.1}},
		{"column 1 is 3", []float64{0, 3}},
		{"sum to 0.5", []float64{0.25, 0.25}},
	} {
		if err := CheckProbs(s.p); err == nil || !strings.Contains(err.Error(), s.want) {
			t.Errorf("%v: error %v", s.p, err)
		}
	}
	if err := CheckProbs([]float64{0.3335, 0.3335, 0.3335}); err != nil { // as half-precision may round
		t.Error(err)
	}
}
