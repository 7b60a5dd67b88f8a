package review_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/labels/review"
)

func matrix(cols int, data ...float32) head.Matrix {
	return head.Matrix{Rows: len(data) / cols, Cols: cols, Stride: cols, Data: data}
}

// Four directions, by angles 0, 0.1, 1 and 2: each row is measured by its third and last
// neighbour. Rows 0 and 1 are 1-cos(0.1) = 0.005 apart, and their last neighbours
// 1-cos(2) = 1.42 and 1-cos(1.9) = 1.32: near. Rows 1 and 2 are 1-cos(0.9) = 0.38 apart,
// the last neighbours 1.32 and 1-cos(1) = 0.46, of which 0.3 sqrt(1.32 0.46) is 0.23: not.
func TestDuplicatesByHand(t *testing.T) {
	at := func(angle, length float64) []float32 {
		return []float32{float32(length * math.Cos(angle)), float32(length * math.Sin(angle))}
	}
	m := matrix(2, slices.Concat(at(0, 1), at(0.1, 5), at(1, 1), at(2, 3))...)
	pairs, err := review.Duplicates(t.Context(), m, nil)
	if err != nil || len(pairs) != 1 || pairs[0].A != 0 || pairs[0].B != 1 || math.Abs(pairs[0].Distance-(1-math.Cos(0.1))) > 1e-7 {
		t.Errorf("%v, %v; want rows 0 and 1", pairs, err)
	}
	// A row of zeros has no direction.
	m = matrix(2, slices.Concat(at(0, 1), at(1, 1), at(2, 1), []float32{0, 0}, []float32{0, 0})...)
	if pairs, err := review.Duplicates(t.Context(), m, nil); err != nil || len(pairs) != 0 {
		t.Errorf("%v, %v; want none", pairs, err)
	}
	// Two rows have each other to measure by, and copies are near whatever measures.
	if pairs, err := review.Duplicates(t.Context(), matrix(2, 1, 0, 0, 1), nil); err != nil || len(pairs) != 0 {
		t.Errorf("%v, %v; want none", pairs, err)
	}
	if pairs, err := review.Duplicates(t.Context(), matrix(2, 1, 0, 3, 0), nil); err != nil || len(pairs) != 1 {
		t.Errorf("%v, %v; want one", pairs, err)
	}
}

// Across blocks of rows the result is that of comparing all pairs, one by one.
func TestDuplicatesOfMany(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, d = 700, 16
	m := head.Matrix{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
	for i := range m.Data {
		m.Data[i] = float32(r.NormFloat64())
	}
	for k := range 20 { // copies with a little noise
		for j := range d {
			m.Data[(n-1-k)*d+j] = 3*m.Data[k*7*d+j] + 0.05*float32(r.NormFloat64())
		}
	}
	away := func(a, b int) float64 {
		var ab, aa, bb float64
		for j := range d {
			x, y := float64(m.Data[a*d+j]), float64(m.Data[b*d+j])
			ab, aa, bb = ab+x*y, aa+x*x, bb+y*y
		}
		return 1 - ab/math.Sqrt(aa*bb)
	}
	tenth := make([]float64, n)
	for a := range n {
		var list []float64
		for b := range n {
			if a != b {
				list = append(list, away(a, b))
			}
		}
		slices.Sort(list)
		tenth[a] = list[9]
	}
	want := make(map[[2]int]bool)
	for a := range n {
		for b := a + 1; b < n; b++ {
			if away(a, b) <= 0.3*math.Sqrt(tenth[a]*tenth[b]) {
				want[[2]int{a, b}] = true
			}
		}
	}
	if len(want) < 20 {
		t.Fatalf("the test has %d pairs", len(want))
	}
	var shares []float64
	pairs, err := review.Duplicates(t.Context(), m, func(share float64) { shares = append(shares, share) })
	if err != nil || len(pairs) != len(want) {
		t.Errorf("%d pairs, want %d: %v", len(pairs), len(want), err)
	}
	if len(shares) != 3 || !slices.IsSorted(shares) || shares[2] != 1 { // a share for each 256 rows
		t.Errorf("the progress is %v", shares)
	}
	for i, p := range pairs {
		if !want[[2]int{p.A, p.B}] || math.Abs(p.Distance-away(p.A, p.B)) > 1e-9 || i > 0 && p.Distance < pairs[i-1].Distance {
			t.Errorf("pair %+v, which is %v apart", p, away(p.A, p.B))
		}
	}
}

// Rows that are nearly the same are of one group, and join the groups that they are of.
func TestGroups(t *testing.T) {
	at := func(angle float64) []float32 { return []float32{float32(math.Cos(angle)), float32(math.Sin(angle))} }
	m := matrix(2, slices.Concat(at(0), at(0.1), at(1), at(2))...)
	groups, err := review.Groups(t.Context(), m, nil, nil)
	if err != nil || !slices.Equal(groups, []int{0, 0, 2, 3}) {
		t.Errorf("%v, %v", groups, err)
	}
	if groups, err = review.Groups(t.Context(), m, []int{5, 7, 8, 7}, nil); err != nil || !slices.Equal(groups, []int{0, 0, 2, 0}) {
		t.Errorf("%v, %v", groups, err)
	}
}
