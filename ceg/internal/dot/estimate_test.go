package dot

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Estimates are as near to the products as they promise, whatever computes them.
func TestEstimate(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, d := range []int{1, 2, 31, 512} {
		for _, n := range []int{1, 8, 9, 33} {
			m := 2*n + 1
			rows, cols := random(r, n*d), widen(random(r, m*d))
			var a Strips
			SetStrips(&a, random(r, 3*d*n), d) // to be forgotten
			SetStrips(&a, rows, d, 0.5)
			withHalf := make([]float64, 0, m*(d+1))
			for j := range m {
				withHalf = append(append(withHalf, cols[j*d:(j+1)*d]...), 2)
			}
			b := NewPanels(withHalf, d+1)
			if a.Len() != n || b.Len() != m {
				t.Fatalf("%d and %d vectors, want %d and %d", a.Len(), b.Len(), n, m)
			}
			size, stride := EstimateSize(n, m)
			dst := make([]float32, size)
			Estimate(dst, &a, b)
			for i := range n {
				for j := range m {
					row, col := rows[i*d:(i+1)*d], cols[j*d:(j+1)*d]
					want := product(row, col) + 1
					length := math.Sqrt((Square(row) + 0.25) * (Square(col) + 4))
					if got := float64(dst[i*stride+j]); !(math.Abs(got-want) <= EstimateError(d+1)*length) {
						t.Fatalf("d=%d: estimate [%d, %d] is %v, want %v", d, i, j, got, want)
					}
				}
			}
		}
	}
}

func BenchmarkEstimate(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows, cols, d = 64, 1725, 512
	var x Strips
	y := NewPanels(widen(random(r, cols*d)), d)
	in := random(r, rows*d)
	size, _ := EstimateSize(rows, cols)
	dst := make([]float32, size)
	for b.Loop() {
		SetStrips(&x, in, d)
		Estimate(dst, &x, y)
	}
	b.ReportMetric(2*rows*cols*d*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
}
