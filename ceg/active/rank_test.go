package active

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestRanks(t *testing.T) {
	ties := Ties{IDs: numbered(6)}
	got, err := Ranks([]float64{0.5, 0.9, 0.5, math.Inf(1), 0.9, -1}, ties)
	want := []int{3, 1, 4, 0, 2, 5}
	for _, pair := range [][2]int{{0, 2}, {1, 4}} {
		if a, b := pair[0], pair[1]; ties.before(b, a) {
			want[a], want[b] = want[b], want[a]
		}
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("ranks %v, %v; want %v", got, err, want)
	}
	fatal.Says(t, fatal.Err(Ranks([]float64{1, math.NaN()}, Ties{IDs: numbered(2)})), "row 1 is NaN")
	if _, err := Ranks([]float64{1, 2}, ties); err == nil {
		t.Error("no error for two scores of six IDs")
	}
	if got, err := Ranks(nil, Ties{}); err != nil || len(got) != 0 {
		t.Errorf("ranks of nothing: %v, %v", got, err)
	}
}

// Equal scores are in an order that follows the IDs wherever they are, that another
// seed changes, and that takes all parts of the pool alike.
func TestTies(t *testing.T) {
	const n = 3000
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("%s/%d/%04d.png", []string{"art", "photo", "sketch"}[i/1000], i%7, i%1000)
	}
	equal := make([]float64, n)
	order := must(t)(Order(equal, Ties{1, ids}))
	moved := slices.Clone(ids)
	slices.Reverse(moved)
	for k, i := range must(t)(Order(equal, Ties{1, moved})) {
		if moved[i] != ids[order[k]] {
			t.Fatalf("place %d is %s, of the reversed rows %s", k, ids[order[k]], moved[i])
		}
	}
	if slices.Equal(order, must(t)(Order(equal, Ties{2, ids}))) {
		t.Error("another seed gives the same order")
	}
	counts := [3]int{}
	for _, i := range order[:300] {
		counts[i/1000]++
	}
	for d, got := range counts { // four standard deviations of a draw of 300 of 3000
		near(t, fmt.Sprintf("of the first 300, those of domain %d", d), float64(got), 100, 4*math.Sqrt(300*2./9*0.9))
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
		if _, err := (CEG{Weights: w}).Choose([]string{"a"}, Scores{Su: []float64{1}, Sr: []float64{1}, Sd: []float64{1}}, 1); err == nil {
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
		{"0 values of S_r for 1 candidates", Scores{Su: one, Sd: one}, 1},
		{"ceg: S_d: score of row 0 is NaN", Scores{Su: one, Sr: one, Sd: []float64{math.NaN()}}, 1},
		{"2 samples queried from 1 candidates", Scores{Su: one, Sr: one, Sd: one}, 2},
		{"-1 samples queried", Scores{Su: one, Sr: one, Sd: one}, -1},
	} {
		fatal.Says(t, fatal.Err((CEG{Weights: Gammas(1, 1)}).Choose(ids, s.scores, s.n)), s.want)
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
		logits := make([]float64, len(s.p))
		for j, p := range s.p {
			logits[j] = math.Log(p)
		}
		var r Row
		r.Set(logits)
		for m, want := range []float64{MaxEntropy: s.entropy, MinMargin: s.margin, MinConfidence: s.confidence} {
			score, _ := Probability{Measure: Measure(m)}.Score(&r)
			near(t, Probability{Measure: Measure(m)}.Name(), score, want, 1e-15)
		}
		near(t, "entropy", Entropy(s.p), s.entropy, 1e-15)
	}
}

func TestSoftmax(t *testing.T) {
	p := []float64{1000, 1000 + math.Log(3)}
	head.Softmax(p, p)
	near(t, "softmax of large logits", p[1], 0.75, 1e-12)
	head.Softmax(p, []float64{-1e300, 1e300})
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
		fatal.Says(t, CheckProbs(s.p), s.want)
	}
	if err := CheckProbs([]float64{0.3335, 0.3335, 0.3335}); err != nil { // as half-precision may round
		t.Error(err)
	}
}
