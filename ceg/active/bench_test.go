package active

import (
	"math/rand/v2"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// large is a pool of 50,000 samples with 512 features, 65 classes and 3 domains,
// and 500 labelled ones.
func large() *Candidates {
	const n, d, h, k, m = 50_000, 512, 65, 3, 500
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(rows, cols int) Matrix {
		v := Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		for i := range v.Data {
			v.Data[i] = float32(r.NormFloat64())
		}
		return v
	}
	probs := func(rows, cols int) Matrix {
		v := normal(rows, cols)
		p := make([]float64, cols)
		for i := range rows {
			head.Softmax(p, widen(p, rowOf(v, i)))
			for j := range p {
				v.Data[i*cols+j] = float32(p[j])
			}
		}
		return v
	}
	c := &Candidates{IDs: numbered(n), Features: normal(n, d), ClassProbs: probs(n, h), DomainProbs: probs(n, k), LabelledFeatures: normal(m, d)}
	for range m {
		c.LabelledClasses = append(c.LabelledClasses, r.IntN(h))
		c.LabelledDomains = append(c.LabelledDomains, r.IntN(k))
	}
	return c
}

// BenchmarkQuery makes 500 picks from the large pool with every strategy.
func BenchmarkQuery(b *testing.B) {
	c := large()
	for _, s := range Strategies(Options{Weights: Gammas(1, 1)}) {
		b.Run(s.Name(), func(b *testing.B) {
			for b.Loop() {
				fatal.Get(s.Query(c, 500, seed.New(1, "query")))(b)
			}
		})
	}
}
