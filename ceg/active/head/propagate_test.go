package head

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The result equals the formula, computed with dense matrices and an inverse.
func TestPropagateIsTheFormula(t *testing.T) {
	m := Matrix{Rows: 6, Cols: 2, Stride: 2, Data: []float32{1, 0, 2, .2, 1, .5, 0, 1, .3, 3, -1, 1}}
	const k, alpha, power, n = 2, 0.8, 3.0, 2
	got, err := Propagate(m, []int{0, 3}, []int{0, 1}, n, PropagateOptions{Neighbours: k, Alpha: alpha, Power: power})
	if err != nil {
		t.Fatal(err)
	}
	cos := func(i, j int) float64 {
		a, b := m.Data[2*i:2*i+2], m.Data[2*j:2*j+2]
		return float64(a[0]*b[0]+a[1]*b[1]) / math.Hypot(float64(a[0]), float64(a[1])) / math.Hypot(float64(b[0]), float64(b[1]))
	}
	w := mat.NewDense(6, 6, nil)
	for i := range 6 {
		for j := range 6 {
			nearer := 0
			for l := range 6 {
				if l != i && l != j && cos(i, l) > cos(i, j) {
					nearer++
				}
			}
			if a := math.Pow(max(0, cos(i, j)), power); i != j && nearer < k {
				w.Set(i, j, w.At(i, j)+a)
				w.Set(j, i, w.At(j, i)+a)
			}
		}
	}
	system := mat.NewDense(6, 6, nil)
	for i := range 6 {
		for j := range 6 {
			s := w.At(i, j) / math.Sqrt(mat.Sum(w.RowView(i))*mat.Sum(w.RowView(j)))
			system.Set(i, j, -alpha*s)
		}
		system.Set(i, i, 1+system.At(i, i))
	}
	y := mat.NewDense(6, n, nil)
	y.Set(0, 0, 1)
	y.Set(3, 1, 1)
	var z mat.Dense
	if err := z.Solve(system, y); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		sum := z.At(i, 0) + z.At(i, 1)
		for c := range n {
			if want := z.At(i, c) / sum; math.Abs(got[i*n+c]-want) > 1e-7 {
				t.Errorf("row %d, class %d: %v, want %v", i, c, got[i*n+c], want)
			}
		}
	}
}

// What no label reaches is uniform, and weighs nothing.
func TestPropagateReaches(t *testing.T) {
	m := Matrix{Rows: 4, Cols: 2, Stride: 2, Data: []float32{1, 0, 1, 0, 0, 1, 0, 1}}
	got, err := Propagate(m, []int{0}, []int{1}, 2, PropagateOptions{Neighbours: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got[2] != 0 || got[3] != 1 || got[4] != .5 || got[7] != .5 {
		t.Errorf("got %v", got)
	}
	if a, b := Certainty(got[2:4]), Certainty(got[4:6]); a != 1 || math.Abs(b) > 1e-15 {
		t.Errorf("certainties %v and %v, want 1 and 0", a, b)
	}
	for _, bad := range []struct {
		labelled, classes []int
		want              string
	}{
		{nil, nil, "0 labelled rows"}, {[]int{4}, []int{0}, "labelled row 4"}, {[]int{0}, []int{2}, "of class 2"},
	} {
		if _, err := Propagate(m, bad.labelled, bad.classes, 2, PropagateOptions{}); err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("%v: got %v", bad, err)
		}
	}
}
