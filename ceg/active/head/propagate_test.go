package head

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/ledg-go/ledg/ceg/internal/dot"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The result equals the formula, computed with dense matrices and an inverse.
func TestPropagateIsTheFormula(t *testing.T) {
	m := Matrix{Rows: 6, Cols: 2, Stride: 2, Data: []float32{1, 0, 2, .2, 1, .5, 0, 1, .3, 3, -1, 1}}
	const k, alpha, power, n = 2, 0.8, 3.0, 2
	got := fatal.Get(Propagate(m, []int{0, 3}, []int{0, 1}, n, PropagateOptions{Neighbours: k, Alpha: alpha, Power: power}))(t)
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
	fatal.If(t, z.Solve(system, y))
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
	got := fatal.Get(Propagate(m, []int{0}, []int{1}, 2, PropagateOptions{Neighbours: 1}))(t)
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
		fatal.Says(t, fatal.Err(Propagate(m, bad.labelled, bad.classes, 2, PropagateOptions{})), bad.want)
	}
}

// Every row is joined with the nearest by exact cosines, of equal ones the first, although estimates
// choose the candidates: with copies, opposite and zero rows, and cosines that differ by less than estimates do.
func TestGraphIsExact(t *testing.T) {
	for _, size := range []struct{ rows, cols, k int }{{1, 3, 0}, {2, 3, 1}, {300, 40, 7}, {300, 40, 299}, {200, 1, 5}} {
		r := rand.New(rand.NewPCG(1, uint64(size.rows)))
		m := Matrix{Rows: size.rows, Cols: size.cols, Stride: size.cols, Data: make([]float32, size.rows*size.cols)}
		row := func(i int) []float32 { return m.Data[i*m.Cols : (i+1)*m.Cols] }
		for i := range m.Rows {
			for j := range m.Cols {
				m.Data[i*m.Cols+j] = float32(r.NormFloat64())
			}
			switch from := row(r.IntN(i + 1)); i % 10 {
			case 3:
				copy(row(i), from)
			case 5:
				clear(row(i))
			case 7, 8:
				for j, v := range from {
					row(i)[j] = v * (1 + 1e-6*row(i)[j])
				}
			}
		}
		want := make([]map[int]float64, m.Rows)
		for i := range want {
			want[i] = map[int]float64{}
		}
		unit := make([][]float64, m.Rows)
		for i := range unit {
			square := 0.0
			for _, v := range row(i) {
				square += float64(v) * float64(v)
			}
			scale := 0.0
			if square > 0 {
				scale = 1 / math.Sqrt(square)
			}
			for _, v := range row(i) {
				unit[i] = append(unit[i], float64(v)*scale)
			}
		}
		for i := range m.Rows {
			var others []int
			cos := make([]float64, m.Rows)
			for j := range m.Rows {
				cos[j] = dot.Product(unit[j], dot.NewVector(unit[i]))
				if j != i {
					others = append(others, j)
				}
			}
			slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(cos[b], cos[a]) })
			for _, j := range others[:size.k] {
				if a := math.Pow(max(0, cos[j]), 3); a > 0 {
					want[i][j] += a
					want[j][i] += a
				}
			}
		}
		degree := make([]float64, m.Rows)
		for i, list := range want {
			for _, j := range slices.Sorted(maps.Keys(list)) {
				degree[i] += list[j]
			}
		}
		for i, edges := range newGraph(m, size.k, 3) {
			got := map[int]float64{}
			for _, e := range edges {
				got[e.to] = e.weight
			}
			for j := range want[i] {
				want[i][j] /= math.Sqrt(degree[i] * degree[j])
			}
			if !reflect.DeepEqual(got, want[i]) {
				t.Errorf("%v: row %d is joined to %v, want %v", size, i, got, want[i])
			}
		}
	}
}
