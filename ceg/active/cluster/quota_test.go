package cluster

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
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
	b := fatal.Get(NewBuilder(3, 7, dim, space))(t)
	for i := range 40 {
		row := make([]float64, dim)
		for j, v := range rowOf(m, r.IntN(n)) {
			row[j] = float64(v)
		}
		if err := b.Add(row, i%3, r.IntN(6)); err != nil { // the last class stays empty
			t.Fatal(err)
		}
	}
	c := fatal.Get(b.Centroids())(t)
	return m, c
}

// allDistances computes every distance in float64.
func allDistances(t *testing.T, c *Centroids, m Matrix) [][]float64 {
	t.Helper()
	distances := make([][]float64, m.Rows)
	fatal.If(t, eachSample(c, m, nil, func(s *sample[float32]) {
		for j := range c.live {
			distances[s.index] = append(distances[s.index], s.distance(j))
		}
	}))
	return distances
}

// plainUnion is takeNearest by sorting all distances to every centroid.
func plainUnion(t *testing.T, c *Centroids, m Matrix, per int) (taken []bool, matches []Match) {
	t.Helper()
	distances := allDistances(t, c, m)
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
	return taken, plainMatches(c, distances)
}

// plainMatches finds the nearest centroids among all distances.
func plainMatches(c *Centroids, distances [][]float64) []Match {
	matches := make([]Match, len(distances))
	for i, d := range distances {
		live := slices.Index(d, slices.Min(d))
		matches[i] = c.match(live, d[live])
	}
	return matches
}

// Estimates decide nothing: not between centroids that are almost at the same
// distance, not for vectors of zero length or near the limits of float32.
func TestEstimatesDecideNothing(t *testing.T) {
	for _, space := range []Space{Raw, Augmented} {
		for _, dim := range []int{3, 64} {
			m, _ := clumped(t, 400, dim, space)
			scales := []float32{1, 1, 1e-3, 1e-14, 1e-16, 1e-30, 1e16, 1e30, 0}
			b := must[*Builder](t)(NewBuilder(4, 8, dim, space))
			for i := range m.Rows {
				row := rowOf(m, i)
				if i%3 > 0 { // almost equal to the first
					copy(row, rowOf(m, 0))
					row[i%dim] *= 1 + float32(i%5)*1e-7
				}
				scale := scales[i%len(scales)]
				for j := range row {
					row[j] *= scale
				}
				wide := make([]float64, dim)
				for j, v := range row {
					wide[j] = float64(v)
				}
				if i%len(scales) < 6 && i%4 < 3 && (i%3 > 0 || i < 4) {
					fatal.If(t, b.Add(wide, i%4, i/4%8))
				}
			}
			if err := b.Add(make([]float64, dim), 3, 0); err != nil { // of zero length in Raw space
				t.Fatal(err)
			}
			c := must[*Centroids](t)(b.Centroids())
			distances := allDistances(t, c, m)
			want := plainMatches(c, distances)
			if got := must[[]Match](t)(c.nearest(m, nil)); !slices.Equal(got, want) {
				t.Errorf("%v, %d features: Nearest differs from the least of all distances", space, dim)
			}
			ties := 0
			for i, d := range distances {
				slices.Sort(d)
				if d[1]-d[0] < 1e-6 { // less than the estimates tell apart
					ties++
				}
				least := make([]float64, 1)
				if err := MinDistances(least, c, rowOf(m, i)); err != nil || least[0] != d[0] {
					t.Errorf("MinDistances of row %d is %v, %v; want %v", i, least[0], err, d[0])
				}
			}
			if space == Raw && ties < 200 {
				t.Errorf("%d of %d samples are about as near to two centroids, want more", ties, m.Rows)
			}
			taken, _ := plainUnion(t, c, m, 50)
			matches := make([]Match, m.Rows)
			if got := must[[]bool](t)(c.takeNearest(m, nil, 50, matches)); !slices.Equal(got, taken) || !slices.Equal(matches, want) {
				t.Errorf("%v, %d features: other nearest samples than by all distances", space, dim)
			}
		}
	}
}

// One pass or several take what sorting takes, ties included.
func TestTakeNearestIsSorting(t *testing.T) {
	defer func(n int) { maxStored = n }(maxStored)
	for _, space := range []Space{Raw, Augmented} {
		m, c := clumped(t, 1000, 5, space)
		for _, per := range []int{0, 1, 2, 17, 333, 999, 1000} {
			want, wantMatches := plainUnion(t, c, m, per)
			for _, maxStored = range []int{1, 4 * m.Rows, 1 << 24} {
				matches := make([]Match, m.Rows)
				got := fatal.Get(c.takeNearest(m, nil, per, matches))(t)
				name := fmt.Sprintf("%v, %d nearest, %d kept", space, per, maxStored)
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
	same("Closest", must[Reliable](t)(c.Closest(m, rows, 100)), must[Reliable](t)(c.Closest(copied, nil, 100)))
	same("QuotaRandom", must[Reliable](t)(c.QuotaRandom(m, rows, 100, seed.New(1, "r"))),
		must[Reliable](t)(c.QuotaRandom(copied, nil, 100, seed.New(1, "r"))))
	if set := must[Reliable](t)(c.Closest(m, []int{}, 100)); len(set.Index) != 0 {
		t.Errorf("no rows give %d", len(set.Index))
	}
	rowOf(m, rows[7])[3] = float32(math.NaN())
	want := fmt.Sprintf("row %d: feature 3 is NaN", rows[7])
	if _, err := c.Closest(m, rows[:8], 1); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
