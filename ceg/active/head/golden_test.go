package head

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/npztest"
)

// lowBudget has the golden values that package active has, too.
type lowBudget struct{ npztest.File }

func openLowBudget(t *testing.T) lowBudget {
	return lowBudget{npztest.Open(t, "../testdata/lowbudget.npz")}
}

func (l lowBudget) matrix(name string, rows int) Matrix {
	v := l.Floats(name)
	return Matrix{Rows: rows, Cols: len(v) / rows, Stride: len(v) / rows, Data: v}
}

// pool returns all features, and those and the classes of the labelled samples.
func (l lowBudget) pool() (x, labelled Matrix, classes []int, n int) {
	all := l.Ints("label")
	x = l.matrix("x", len(all))
	for _, i := range l.Ints("labelled") {
		labelled.Data = append(labelled.Data, x.Data[i*x.Cols:(i+1)*x.Cols]...)
		classes = append(classes, all[i])
	}
	labelled.Rows, labelled.Cols, labelled.Stride = len(classes), x.Cols, x.Cols
	return x, labelled, classes, len(l.Floats("head_bias"))
}

// near compares with an absolute tolerance and one relative to each value.
func near(t *testing.T, name string, got []float64, want []float32, absolute, relative float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", name, len(got), len(want))
	}
	for i, w := range want {
		if w := float64(w); !(math.Abs(got[i]-w) <= absolute+relative*math.Abs(w)) {
			t.Fatalf("%s[%d] = %v, want %v", name, i, got[i], w)
		}
	}
}

// largest is 1e-4 of the largest entry: the inverse loses digits in whatever order.
func largest(v []float32) float64 {
	most := 0.0
	for _, x := range v {
		most = max(most, math.Abs(float64(x)))
	}
	return 1e-4 * most
}

func TestGoldenGDA(t *testing.T) {
	l := openLowBudget(t)
	x, labelled, classes, n := l.pool()
	g := fatal.Get(FitGDA(labelled, classes, n, GDAOptions{}))(t)
	d := x.Cols
	covariance := make([]float64, d*d)
	for i := range labelled.Rows {
		row := g.centred[i*d : (i+1)*d]
		for a, v := range row {
			for b, w := range row {
				covariance[a*d+b] += v * w / float64(labelled.Rows-1)
			}
		}
	}
	check := func(name string, got []float64) {
		t.Helper()
		want := l.Floats(name)
		near(t, name, got, want, largest(want), 0)
	}
	check("gda.mean", g.Mean)
	check("gda.covariance", covariance)
	check("gda.weight", g.Weight)
	check("gda.bias", g.Bias)
	check("gda.logits", widen(g.Logits(x).Data))
	text := fatal.Get(FitGDA(labelled, classes, n, GDAOptions{Text: l.matrix("text", n)}))(t)
	text.Alpha = float64(l.Floats("gda.alpha")[0])
	check("gda.logits_text", widen(text.Logits(x).Data))
}

func TestGoldenProbe(t *testing.T) {
	l := openLowBudget(t)
	_, labelled, classes, n := l.pool()
	text := l.matrix("text", n)
	p := newProbe(labelled, classes, text, ProbeOptions{Scale: float64(l.Floats("clap.scale")[0])})
	all := make([]int, labelled.Rows)
	for i := range all {
		all[i] = i
	}
	check := func(name string, got []float64) {
		t.Helper()
		near(t, name, got, l.Floats(name), 2e-6, 2e-5)
	}
	logits, _ := p.logits(p.text, all)
	check("clap.zero_shot_logits", logits)
	check("clap.multiplier", p.multiplier)
	point := widen(l.Floats("clap.point"))
	slope := make([]float64, len(point))
	check("clap.loss_ce", []float64{p.entropy(point, all, slope)})
	check("clap.grad_ce", slope)
	check("clap.penalty", []float64{p.penalty(point, slope)})
	check("clap.grad", slope)
}

// TestGoldenLogistic compares with scikit-learn; see testdata/make_logistic.py.
// Tolerance: 1e-4 of the largest weight, since both stop where the gradient is small.
func TestGoldenLogistic(t *testing.T) {
	l := openLowBudget(t)
	x, _, _, n := l.pool()
	all, domains := l.Ints("label"), l.Ints("domain")
	data := fatal.Get(os.ReadFile("testdata/logistic.json"))(t)
	var cases []struct {
		Rows     int       `json:"rows"`
		Strength float64   `json:"strength"`
		Weight   []float32 `json:"weight"`
		Bias     []float32 `json:"bias"`
		Scores   []float64 `json:"scores"` // leaving out one domain at a time
		Losses   []float64 `json:"losses"`
	}
	fatal.If(t, json.Unmarshal(data, &cases))
	strengths := defaultCs()
	for _, c := range cases {
		m := Matrix{Rows: c.Rows, Cols: x.Cols, Stride: x.Cols, Data: x.Data[:c.Rows*x.Cols]}
		h := fatal.Get(Fit(m, all[:c.Rows], n, Options{Cs: []float64{c.Strength}}))(t)
		tag := fmt.Sprintf("%d rows, strength %v", c.Rows, c.Strength)
		near(t, tag+": weight", h.Weight, c.Weight, largest(c.Weight), 0)
		// Biases are free up to a constant.
		shift := 0.0
		for k, b := range h.Bias {
			shift += (b - float64(c.Bias[k])) / float64(n)
		}
		for k := range h.Bias {
			h.Bias[k] -= shift
		}
		near(t, tag+": bias", h.Bias, c.Bias, max(largest(c.Bias), largest(c.Weight)), 0)
		chosen := fatal.Get(Fit(m, all[:c.Rows], n, Options{Domains: domains[:c.Rows]}))(t)
		for k, s := range chosen.Scores {
			if s.Value != strengths[k] || math.Abs(s.Accuracy-c.Scores[k]) > 1e-9 || math.Abs(s.Loss-c.Losses[k]) > 1e-4 {
				t.Errorf("%s: left out %+v, want %v and %v", tag, s, c.Scores[k], c.Losses[k])
			}
		}
		best := 0
		for k, s := range c.Scores {
			if s > c.Scores[best] || s == c.Scores[best] && c.Losses[k] < c.Losses[best] {
				best = k
			}
		}
		if chosen.C != strengths[best] {
			t.Errorf("%s: strength %v chosen, want %v", tag, chosen.C, strengths[best])
		}
	}
}
