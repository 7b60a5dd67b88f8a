package tsne

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// gaussians returns n points in five groups.
func gaussians(s uint64, n, d int) blas32.General {
	r := seed.New(s, "points")
	x := blas32.General{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	centres := make([]float64, 5*d)
	for i := range centres {
		centres[i] = 3 * r.NormFloat64()
	}
	for i := range n {
		for j := range d {
			x.Data[i*d+j] = float32(centres[i%5*d+j] + r.NormFloat64())
		}
	}
	return x
}

// BenchmarkRun times the part of a run that grows with n^2 at the size of
// PACS' three source domains, 20 iterations of it; BenchmarkAffinities is what
// comes before.
func BenchmarkRun(b *testing.B) {
	x := gaussians(1, 8000, 512)
	a := fatal.Get(newAffinities(b.Context(), x, 30))(b)
	y := fatal.Get(start(x, 0))(b)
	b.ResetTimer()
	for b.Loop() {
		fatal.If(b, a.descendPhase(b.Context(), y, phase{20, 1, 0.8, 300}, 100))
	}
}

func BenchmarkAffinities(b *testing.B) {
	x := gaussians(1, 8000, 512)
	for b.Loop() {
		fatal.Get(newAffinities(b.Context(), x, 30))(b)
	}
}
