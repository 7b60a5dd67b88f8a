package dot

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

func random(r *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

func widen(v []float32) []float64 {
	w := make([]float64, len(v))
	for i, x := range v {
		w[i] = float64(x)
	}
	return w
}

func TestProductsAndAgainstEqualProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, d := range []int{1, 3, 7, 8, 9, 16, 31, 64, 65} {
		for _, n := range []int{1, 2, 4, 5, 11} {
			rows, cols := random(r, n*d), random(r, (n+2)*d)
			a, b := Pack(rows, d), Pack(widen(cols), d)
			got := make([]float64, n*(n+2))
			Products(got, a, b)
			for i := range n {
				for j := range n + 2 {
					// Exact: every kernel promises the same order of summation.
					want := product(rows[i*d:(i+1)*d], cols[j*d:(j+1)*d])
					if got[i*(n+2)+j] != want {
						t.Fatalf("d=%d: Products[%d,%d] = %v, want %v", d, i, j, got[i*(n+2)+j], want)
					}
				}
			}
			one := make([]float64, n)
			Against(one, rows, NewVector(cols[(n+1)*d:]))
			squares := make([]float64, n)
			Squares(squares, a)
			for i := range n {
				row := rows[i*d : (i+1)*d]
				if want := product(row, cols[(n+1)*d:]); one[i] != want {
					t.Fatalf("d=%d n=%d: Against[%d] = %v, want %v", d, n, i, one[i], want)
				}
				if got := Product(row, NewVector(cols[(n+1)*d:])); got != one[i] {
					t.Fatalf("d=%d: Product %d = %v, Against %v", d, i, got, one[i])
				}
				if want := Square(row); squares[i] != want {
					t.Fatalf("d=%d: Squares[%d] = %v, want %v", d, i, squares[i], want)
				}
			}
		}
	}
}

func TestProductValue(t *testing.T) {
	a := []float32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	if got, want := product(a, a), 385.0; got != want {
		t.Errorf("product = %v, want %v", got, want)
	}
	// The partial sums 1e16 and 1 meet only after -1e16 has joined the first:
	// lanes 0 and 4 cancel before lane 1 is added.
	if got := product([]float64{1e16, 1, 0, 0, -1e16}, []float64{1, 1, 1, 1, 1}); got != 1 {
		t.Errorf("order of summation changed: got %v, want 1", got)
	}
}

func TestPackIntoForgetsOldRows(t *testing.T) {
	p := Pack([]float32{9, 9, 9, 9, 9, 9, 9, 9, 9, 9}, 2)
	PackInto(p, []float64{1, 2, 3}, 3)
	if p.Len() != 1 {
		t.Errorf("Len = %d, want 1", p.Len())
	}
	for i, v := range p.data {
		if want := []float64{1, 2, 3}; i < 3 && v != want[i] || i >= 3 && v != 0 {
			t.Errorf("element %d is %v, want the row and then zeros", i, v)
		}
	}
}

func TestPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"ragged rows":      func() { Pack([]float32{1, 2, 3}, 2) },
		"no columns":       func() { Pack([]float32{}, 0) },
		"unequal products": func() { Products(nil, Pack([]float32{1}, 1), Pack([]float32{1, 2}, 2)) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 9, 10, 11, 100} {
		var seen atomic.Int64
		if err := Each(n, 10, func(first, last int) error {
			if first%10 != 0 || last > n || last-first > 10 {
				t.Errorf("n=%d: chunk [%d, %d)", n, first, last)
			}
			seen.Add(int64(last - first))
			return nil
		}); err != nil || int(seen.Load()) != n {
			t.Errorf("n=%d: saw %d rows, error %v", n, seen.Load(), err)
		}
	}
	bad := errors.New("chunk 3")
	err := Each(100, 10, func(first, _ int) error {
		switch {
		case first == 30:
			return bad
		case first > 30:
			return fmt.Errorf("chunk %d", first/10)
		}
		return nil
	})
	if err != bad {
		t.Errorf("error %v, want that of the first chunk", err)
	}
}

func TestNaNSpreads(t *testing.T) {
	p := Pack([]float32{1, float32(math.NaN())}, 2)
	got := []float64{0}
	Squares(got, p)
	if !math.IsNaN(got[0]) {
		t.Errorf("square of NaN is %v", got[0])
	}
}

func BenchmarkProducts(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][3]int{{64, 196, 512}, {7, 376, 376}, {64, 1280, 1280}} {
		rows, cols, d := size[0], size[1], size[2]
		b.Run(fmt.Sprintf("%dx%dx%d", rows, cols, d), func(b *testing.B) {
			x, y := Pack(random(r, rows*d), d), Pack(random(r, cols*d), d)
			dst := make([]float64, rows*cols)
			for b.Loop() {
				Products(dst, x, y)
			}
			b.ReportMetric(float64(2*rows*cols*d)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
}

func BenchmarkProduct(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const d = 512
	row, v := random(r, d), NewVector(random(r, d))
	sum := 0.0
	for b.Loop() {
		sum += Product(row, v)
	}
	_ = sum
}

func BenchmarkAgainst(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	const rows, d = 20000, 512
	x, y := random(r, rows*d), NewVector(random(r, d))
	dst := make([]float64, rows)
	for b.Loop() {
		Against(dst, x, y)
	}
	b.ReportMetric(4*rows*d*float64(b.N)/b.Elapsed().Seconds()/1e9, "GB/s")
}
