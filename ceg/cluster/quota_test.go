package cluster

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/seed"
)

// clumped returns n rows that are often copies of one another, and centroids of
// some of them, so that distances tie.
func clumped(t testing.TB, n, dim int, space Space) (Matrix, *Centroids) {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(n), uint64(dim)))
	m := Matrix{Rows: n, Cols: dim, Stride: dim, Data: make([]float32, n*dim)}
	for i := range m.Data {
		m.Data[i] = float32(r.NormFloat64())
	}
	for range n / 2 {
		copy(rowOf(m, r.IntN(n)), rowOf(m, r.IntN(n)))
	}
	b, err := NewBuilder(3, 7, dim, space)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 40 {
		row := make([]float64, dim)
		for j, v := range rowOf(m, r.IntN(n)) {
			row[j] = float64(v)
		}
		if err := b.Add(row, i%3, r.IntN(6)); err != nil { // the last class stays empty
			t.Fatal(err)
		}
	}
	c, err := b.Centroids()
	if err != nil {
		t.Fatal(err)
	}
	return m, c
}

// plainUnion is takeNearest by sorting all distances to every centroid.
func plainUnion(t *testing.T, c *Centroids, m Matrix, per int) (taken []bool, matches []Match) {
	t.Helper()
	distances := make([][]float64, m.Rows)
	err := c.eachDistances(m, nil, func(i int, d []float64) { distances[i] = slices.Clone(d) })
	if err != nil {
		t.Fatal(err)
	}
	taken = make([]bool, m.Rows)
	order := make([]int, m.Rows)
	for j := range c.Live() {
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distances[a][j], distances[b][j]) })
		for _, i := range order[:per] {
			taken[i] = true
		}
	}
	return taken, must[[]Match](t)(c.Nearest(m))
}

// Heaps, in one pass or several, take what sorting takes, ties included.
func TestTakeNearestIsSorting(t *testing.T) {
	defer func(n int) { maxKept = n }(maxKept)
	for _, space := range []Space{Raw, Augmented} {
		m, c := clumped(t, 1000, 5, space)
		for _, per := range []int{0, 1, 2, 17, 333, 999, 1000} {
			want, wantMatches := plainUnion(t, c, m, per)
			for _, maxKept = range []int{1, 4 * max(per, 1), 1 << 24} {
				matches := make([]Match, m.Rows)
				got, err := c.takeNearest(m, nil, per, matches)
				if err != nil {
					t.Fatal(err)
				}
				name := fmt.Sprintf("%v, %d nearest, %d kept", space, per, maxKept)
				if !slices.Equal(got, want) {
					t.Errorf("%s: other samples than by sorting", name)
				}
				if !slices.Equal(matches, wantMatches) {
					t.Errorf("%s: other matches than Nearest's", name)
				}
			}
		}
	}
}

// A choice among some rows is that among a copy of them.
func TestRowsNeedNoCopy(t *testing.T) {
	m, c := clumped(t, 500, 9, Raw)
	r := rand.New(rand.NewPCG(5, 5))
	rows := r.Perm(m.Rows)[:311]
	copied := Matrix{Rows: len(rows), Cols: m.Cols, Stride: m.Cols}
	for _, i := range rows {
		copied.Data = append(copied.Data, rowOf(m, i)...)
	}
	same := func(name string, got, want Reliable) {
		t.Helper()
		if !slices.Equal(got.Index, want.Index) || !slices.Equal(got.Match, want.Match) {
			t.Errorf("%s of rows differs from that of their copy", name)
		}
	}
	same("Closest", must[Reliable](t)(c.ClosestOf(m, rows, 100)), must[Reliable](t)(c.Closest(copied, 100)))
	same("QuotaRandom", must[Reliable](t)(c.QuotaRandomOf(m, rows, 100, LiveCells, seed.New(1, "r"))),
		must[Reliable](t)(c.QuotaRandom(copied, 100, LiveCells, seed.New(1, "r"))))
	if set := must[Reliable](t)(c.ClosestOf(m, []int{}, 100)); len(set.Index) != 0 {
		t.Errorf("no rows give %d", len(set.Index))
	}
	rowOf(m, rows[7])[3] = float32(math.NaN())
	want := fmt.Sprintf("row %d: feature 3 is NaN", rows[7])
	if _, err := c.ClosestOf(m, rows[:8], 1); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
