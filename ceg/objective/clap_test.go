package objective

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// The head on standardised features has the logits of the probe on features of length 1, and without
// names there is none.
func TestCLAP(t *testing.T) {
	const n, d, classes = 12, 5, 3
	r := rand.New(rand.NewPCG(1, 2))
	units := func(rows int) cluster.Matrix {
		m := cluster.Matrix{Rows: rows, Cols: d, Stride: d}
		for range rows {
			v, sum := make([]float32, d), 0.0
			for j := range v {
				v[j] = float32(r.NormFloat64())
				sum += float64(v[j]) * float64(v[j])
			}
			for _, x := range v {
				m.Data = append(m.Data, x/float32(math.Sqrt(sum)))
			}
		}
		return m
	}
	x, names := units(n), Names{Rows: units(classes), Mean: []float32{0.1, -0.2, 0, 0.3, 0.05}, Scale: 2.5}
	s := Samples{Features: cluster.Matrix{Rows: n, Cols: d, Stride: d}, Classes: classes}
	for i, v := range x.Data {
		z := (v - names.Mean[i%d]) * names.Scale
		s.Features.Data = append(s.Features.Data, z)
		x.Data[i] = z/names.Scale + names.Mean[i%d] // rounded as there, which 300 epochs would show
	}
	for i := range n {
		s.Labels = append(s.Labels, i%classes)
	}
	fatal.Says(t, fatal.Err(CLAP().Fit(s)), "the features have none")
	s.Names = &names
	f := fatal.Get(CLAP().Fit(s))(t)
	want := fatal.Get(head.Probe(x, s.Labels, names.Rows, head.ProbeOptions{Constrained: true}, seed.New(1, "clap")))(t).Logits(x)
	for i := range n {
		for c := range classes {
			z := float64(f.Bias[c])
			for j := range d {
				z += float64(f.Weight[c*d+j]) * float64(s.Features.Data[i*d+j])
			}
			if w := float64(want.Data[i*classes+c]); math.Abs(z-w) > 2e-3*math.Max(1, math.Abs(w)) {
				t.Errorf("logit %d of sample %d is %v, want %v", c, i, z, w)
			}
		}
	}
}
