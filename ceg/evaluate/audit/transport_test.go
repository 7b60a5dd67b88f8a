package audit_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// linear is the transport by the simplex method.
func linear(t *testing.T, probs [][]float64, prior []float64) float64 {
	n, c := len(probs), len(prior)
	cost, a, b := make([]float64, n*c), mat.NewDense(n+c-1, n*c, nil), make([]float64, n+c-1)
	for i := range n {
		b[i] = 1 / float64(n)
		for j := range c {
			cost[i*c+j] = 1 - probs[i][j]
			a.Set(i, i*c+j, 1)
			if j < c-1 { // the last one follows
				a.Set(n+j, i*c+j, 1)
				b[n+j] = prior[j]
			}
		}
	}
	least, _ := fatal.Get2(lp.Simplex(cost, a, b, 1e-12, nil))(t)
	return 1 - least
}

func randomProbs(r *rand.Rand, n, c int) [][]float64 {
	probs := make([][]float64, n)
	for i := range probs {
		probs[i] = simplex(r, c, 3)
	}
	return probs
}

func simplex(r *rand.Rand, c int, sharp float64) []float64 {
	p, sum := make([]float64, c), 0.0
	for j := range p {
		p[j] = math.Exp(sharp * r.NormFloat64())
		sum += p[j]
	}
	for j := range p {
		p[j] /= sum
	}
	return p
}

func TestTransportIsALinearProgram(t *testing.T) {
	for k := range uint64(60) {
		r := seed.New(4, "transport", k)
		n, c := 1+r.IntN(12), 1+r.IntN(5)
		probs, prior := randomProbs(r, n, c), simplex(r, c, 1)
		got := fatal.Get(audit.Transport(probs, prior))(t)
		if want := linear(t, probs, prior); math.Abs(got-want) > 1e-9 {
			t.Errorf("%d images of %d classes: %v, want %v", n, c, got, want)
		}
	}
}

func TestTransportByHand(t *testing.T) {
	for name, c := range map[string]struct {
		probs [][]float64
		prior []float64
		want  float64
	}{
		"sure and as the prior":             {[][]float64{{1, 0}, {0, 1}}, []float64{0.5, 0.5}, 1},
		"sure of one class of two":          {[][]float64{{1, 0}, {1, 0}}, []float64{0.5, 0.5}, 0.5},
		"the less sure one goes":            {[][]float64{{0.9, 0.1}, {0.6, 0.4}}, []float64{0.5, 0.5}, (0.9 + 0.4) / 2},
		"half of an image":                  {[][]float64{{0.8, 0.2}}, []float64{0.5, 0.5}, 0.5},
		"a class that nobody has a part of": {[][]float64{{0.7, 0.2, 0.1}, {0.1, 0.8, 0.1}}, []float64{0.5, 0.5, 0}, 0.75},
	} {
		if got, err := audit.Transport(c.probs, c.prior); err != nil || math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
	for name, bad := range map[string]func() (float64, error){
		"no images":      func() (float64, error) { return audit.Transport(nil, []float64{1}) },
		"a short row":    func() (float64, error) { return audit.Transport([][]float64{{1}}, []float64{0.5, 0.5}) },
		"shares of 2":    func() (float64, error) { return audit.Transport([][]float64{{1, 0}}, []float64{1, 1}) },
		"NaN":            func() (float64, error) { return audit.Transport([][]float64{{math.NaN(), 0}}, []float64{0.5, 0.5}) },
		"a share of NaN": func() (float64, error) { return audit.Transport([][]float64{{1, 0}}, []float64{math.NaN(), 1}) },
	} {
		if v, err := bad(); err == nil {
			t.Errorf("%s gave %v", name, v)
		}
	}
}

func TestAgreementIsItsFormula(t *testing.T) {
	a, b := []int{0, 1, 2, 1}, []int{0, 1, 1, 2}
	if got := audit.Agree(a, b); got != 0.5 {
		t.Errorf("agreement %v", got)
	}
	for _, c := range [][4]float64{{0.8, 0.9, 0.5, 0.4}, {0.3, 0.9, 0.1, 0}, {0.9, 0.5, 0.8, 1}} {
		if got := audit.Agreement(c[0], c[1], c[2]); math.Abs(got-c[3]) > 1e-12 {
			t.Errorf("%v: %v", c, got)
		}
	}
	if got := audit.Prior([]int{3, 0}); math.Abs(got[0]-0.875) > 1e-12 || math.Abs(got[1]-0.125) > 1e-12 {
		t.Errorf("prior %v", got)
	}
}

func BenchmarkTransport(b *testing.B) {
	for _, size := range [][2]int{{400, 7}, {400, 65}, {400, 345}} {
		r := seed.New(5, "benchmark")
		probs, prior := randomProbs(r, size[0], size[1]), simplex(r, size[1], 1)
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				fatal.Get(audit.Transport(probs, prior))(b)
			}
		})
	}
}
