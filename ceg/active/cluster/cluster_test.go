package cluster

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/datasets/seed"
)

func rows(cols int, v ...float32) Matrix {
	return Matrix{Rows: len(v) / cols, Cols: cols, Stride: cols, Data: v}
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// plus has centroids (0, 1) -> (1, 0) and (1, 0) -> (0, 1), and two empty cells.
func plus(t *testing.T) *Centroids {
	return must[*Centroids](t)(Compute(rows(2, 1, 0, 3, 0, 0, 2), []int{0, 0, 1}, []int{1, 1, 0}, 2, 2, Raw))
}

func TestNearestByHand(t *testing.T) {
	c := plus(t)
	got := must[[]Match](t)(c.nearest(rows(2,
		5, 0, // along the first centroid
		0, 0.5, // along the second
		-1, 0, // opposite to the first, at a right angle to the second
		1, 1, // as near to both: the lower cell, (0, 1), wins
		0, 0, // no direction: distance 1 to both
	), nil))
	want := []Match{{0, 1, 0}, {1, 0, 0}, {1, 0, 1}, {0, 1, 1 - 1/math.Sqrt2}, {0, 1, 1}}
	for i, w := range want {
		if got[i].Domain != w.Domain || got[i].Class != w.Class || math.Abs(got[i].Distance-w.Distance) > 1e-15 {
			t.Errorf("row %d: %+v, want %+v", i, got[i], w)
		}
	}
	if c.Live() != 2 || c.Empty() != 2 || vector(c, 0, 0) != nil || !slices.Equal(vector(c, 0, 1), []float64{2, 0}) {
		t.Errorf("live %d, empty %d, centroids %v and %v", c.Live(), c.Empty(), vector(c, 0, 0), vector(c, 0, 1))
	}
}

func TestAugmentedByHand(t *testing.T) {
	c := must[*Centroids](t)(Compute(rows(1, 3), []int{0}, []int{0}, 1, 1, Augmented))
	if v := vector(c, 0, 0); math.Abs(v[0]-3/math.Sqrt(10)) > 1e-15 || math.Abs(v[1]-1/math.Sqrt(10)) > 1e-15 {
		t.Errorf("centroid %v, want [3 1]/sqrt(10)", v)
	}
	// A zero feature becomes (0, 1), which has a direction.
	m := must[[]Match](t)(c.nearest(rows(1, 0), nil))
	if want := 1 - 1/math.Sqrt(10); math.Abs(m[0].Distance-want) > 1e-15 {
		t.Errorf("distance %v, want %v", m[0].Distance, want)
	}
}

func TestRowsDistances(t *testing.T) {
	m := rows(2, 1, 0, 0, 2, 3, 3, 0, 0)
	root := math.Sqrt2
	for space, want := range map[Space][]float64{
		Raw:       {1 - 1/root, 1 - 1/root, 0, 1},
		Augmented: {1 - 4/math.Sqrt(2*19), 1 - 7/math.Sqrt(5*19), 0, 1 - 1/math.Sqrt(19)},
	} {
		r := must[*Rows](t)(NewRows(m, space))
		got := make([]float64, 4)
		r.DistancesTo(got, 2)
		for i, w := range want {
			if math.Abs(got[i]-w) > 1e-15 {
				t.Errorf("%v: distance of row %d is %v, want %v", space, i, got[i], w)
			}
		}
	}
	if _, err := NewRows(rows(1, 1, float32(math.NaN())), Raw); err == nil || err.Error() != "row 1: feature 0 is NaN" {
		t.Errorf("NaN: error %v", err)
	}
}

func TestEqualRowsHaveEqualDistances(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	const n, d = 777, 37
	row := make([]float32, d)
	for j := range row {
		row[j] = float32(r.NormFloat64())
	}
	var all []float32
	for range n {
		all = append(all, row...)
	}
	labelled := rows(d, slices.Repeat([]float32{0.3}, d)...)
	c := must[*Centroids](t)(Compute(labelled, []int{0}, []int{0}, 1, 1, Raw))
	set := must[Reliable](t)(c.Closest(rows(d, all...), nil, n))
	for i, row := range set.Index {
		if i != row || set.Match[i] != set.Match[0] {
			t.Fatalf("equal rows are not in order: place %d has row %d with %+v, the first %+v", i, row, set.Match[i], set.Match[0])
		}
	}
}

func TestErrors(t *testing.T) {
	nan := float32(math.NaN())
	one := rows(2, 1, 2)
	c := plus(t)
	compute := func(m Matrix, d, h []int) error {
		_, err := Compute(m, d, h, 2, 2, Raw)
		return err
	}
	nearest := func(m Matrix) error { _, err := c.nearest(m, nil); return err }
	for _, s := range []struct {
		name, want string
		err        error
	}{
		{"no labelled", "no labelled sample", compute(Matrix{Cols: 2, Stride: 2}, nil, nil)},
		{"domain", "labelled row 0: domain 2, want 0 to 1", compute(one, []int{2}, []int{0})},
		{"class", "labelled row 0: class -1, want 0 to 1", compute(one, []int{0}, []int{-1})},
		{"lengths", "1 feature rows with 2 domains and 1 classes", compute(one, []int{0, 1}, []int{0})},
		{"nan labelled", "labelled row 0: feature 1 is NaN", compute(rows(2, 1, nan), []int{0}, []int{0})},
		{"layout", "stride 3", compute(Matrix{Rows: 1, Cols: 2, Stride: 3, Data: make([]float32, 3)}, []int{0}, []int{0})},
		{"nan", "row 1: feature 0 is NaN", nearest(rows(2, 1, 1, nan, 1))},
		{"inf", "row 2: feature 1 is +Inf", nearest(rows(2, 1, 1, 1, 1, 1, float32(math.Inf(1))))},
		{"columns", "rows of 3 features, centroids of 2", nearest(rows(3, 1, 2, 3))},
		{"count", "-1 reliable samples", func() error { _, err := c.Closest(one, nil, -1); return err }()},
		{"quota count", "-1 reliable samples", func() error { _, err := c.QuotaRandom(one, nil, -1, nil); return err }()},
		{"overflow", "row 0: features are too large", MinDistances(make([]float64, 1), c, []float64{1e200, 0})},
		{"elements", "3 elements are not 1 rows of 2", MinDistances(make([]float64, 1), c, []float64{1, 2, 3})},
		{"space", "unknown space", func() error { _, err := NewBuilder(1, 1, 1, 9); return err }()},
		{"sizes", "at least one of each", func() error { _, err := NewBuilder(1, 0, 1, Raw); return err }()},
		{"share", "a share of 1.1", func() error { _, err := Share(1.1, 10, Floor); return err }()},
		{"nan share", "a share of NaN", func() error { _, err := Share(math.NaN(), 10, Floor); return err }()},
		{"epoch", "epoch 11, want 0 to 10", func() error { _, err := Threshold{0, 1, 10}.Count(11, 1); return err }()},
		{"epochs", "over 0 epochs", Threshold{0, 1, 0}.Validate()},
		{"threshold", "from NaN to 1", Threshold{math.NaN(), 1, 5}.Validate()},
	} {
		if s.err == nil || !strings.Contains(s.err.Error(), s.want) {
			t.Errorf("%s: error %v, want one with %q", s.name, s.err, s.want)
		}
	}
}

func TestClosestEdges(t *testing.T) {
	c := plus(t)
	m := rows(2, 0, 1, 1, 1, 2, 0)
	if set := must[Reliable](t)(c.Closest(m, nil, 0)); len(set.Index) != 0 {
		t.Errorf("a count of 0 chose %v", set.Index)
	}
	// Distances 0, 0.29, 0: ties by row, and a count above the rows takes all.
	if set := must[Reliable](t)(c.Closest(m, nil, 9)); !slices.Equal(set.Index, []int{0, 2, 1}) {
		t.Errorf("chose %v, want [0 2 1]", set.Index)
	}
}

func TestQuotaRandom(t *testing.T) {
	in := open(t, "exploration.npz")
	features := in.Matrix("u_features", goldenDim)
	for _, space := range []Space{Raw, Augmented} {
		c := goldenCentroids(t, in, space) // 18 live cells, 3 empty
		for _, s := range []struct {
			count, per int
		}{
			{40, 4}, // ceil(60/15)
			{100, 10},
			{0, 0},
			{100000, 10000},
		} {
			if per := c.PerCentroid(s.count); per != s.per {
				t.Errorf("%d: %d per centroid, want %d", s.count, per, s.per)
			}
			set := must[Reliable](t)(c.QuotaRandom(features, nil, s.count, seed.New(1, "reliable")))
			again := must[Reliable](t)(c.QuotaRandom(features, nil, s.count, seed.New(1, "reliable")))
			if !slices.Equal(set.Index, again.Index) {
				t.Error("the same seed chose differently")
			}
			checkQuota(t, c, features, set, s.count, s.per)
		}
		a := must[Reliable](t)(c.QuotaRandom(features, nil, 40, seed.New(1, "reliable")))
		b := must[Reliable](t)(c.QuotaRandom(features, nil, 40, seed.New(2, "reliable")))
		if slices.Equal(a.Index, b.Index) {
			t.Error("two seeds chose the same")
		}
		none := must[Reliable](t)(c.QuotaRandom(Matrix{Cols: goldenDim, Stride: goldenDim}, nil, 40, seed.New(1, "reliable")))
		if len(none.Index) > 0 {
			t.Errorf("an empty pool has reliable samples %v", none.Index)
		}
	}
}

// checkQuota checks a choice against a plain reading of the published rule.
func checkQuota(t *testing.T, c *Centroids, features Matrix, set Reliable, count, per int) {
	t.Helper()
	matches := must[[]Match](t)(c.nearest(features, nil))
	union := map[int]bool{}
	for k := range c.domains {
		for h := range c.classes {
			v := vector(c, k, h)
			if v == nil {
				continue
			}
			distance := make([]float64, features.Rows)
			order := make([]int, features.Rows)
			for i := range order {
				order[i] = i
				var uv, uu, vv float64
				row := rowOf(features, i)
				for j, x := range v {
					u := 1.0 // the appended coordinate
					if j < len(row) {
						u = float64(row[j])
					}
					uv, uu, vv = uv+u*x, uu+u*u, vv+x*x
				}
				distance[i] = 1 - uv/math.Sqrt(uu*vv)
			}
			slices.SortFunc(order, func(a, b int) int {
				if distance[a] < distance[b] {
					return -1
				}
				return 1
			})
			for _, i := range order[:min(per, len(order))] {
				union[i] = true
			}
		}
	}
	if want := min(count, len(union)); len(set.Index) != want {
		t.Errorf("chose %d samples, want %d", len(set.Index), want)
	}
	seen := map[int]bool{}
	for i, row := range set.Index {
		if !union[row] || seen[row] {
			t.Errorf("row %d is chosen twice or is not near any centroid", row)
		}
		seen[row] = true
		if set.Match[i] != matches[row] {
			t.Errorf("row %d: %+v, want its nearest centroid %+v", row, set.Match[i], matches[row])
		}
	}
}

func TestPublishedQuotaKeepsOneCentroid(t *testing.T) {
	// One live cell and five empty ones: the published divisor would be -4.
	c := must[*Centroids](t)(Compute(rows(1, 1), []int{0}, []int{0}, 2, 3, Raw))
	if per := c.PerCentroid(4); per != 6 {
		t.Errorf("%d per centroid, want 6", per)
	}
}

func TestCountPublished(t *testing.T) {
	for _, s := range []struct {
		threshold Threshold
		n         int
		epoch     int // finished epochs
		want      int
	}{
		// PACS, art: S = 3568, from half of it to all of it.
		{Threshold{0.25, 0.5, 60}, 7136, 0, 1784},
		{Threshold{0.25, 0.5, 60}, 7136, 1, 1814}, // 1813.73
		{Threshold{0.25, 0.5, 60}, 7136, 60, 3568},
		{Threshold{0.25, 0.5, 60}, 5446, 60, 2723},
		// Office-Home: S = floor(11770 * 0.7), exactly 8239.
		{Threshold{0.35, 0.7, 30}, 11770, 30, 8239},
		{Threshold{0.35, 0.7, 30}, 10023, 30, 7016},
		// Halves go to the even number: 5/2 and 7/2.
		{Threshold{0.5, 1, 1}, 5, 0, 2},
		{Threshold{0.5, 1, 1}, 7, 0, 4},
		// Static: S at every epoch.
		{Threshold{0.7, 0.7, 30}, 10023, 3, 7016},
		{Threshold{0, 0, 30}, 10023, 3, 0},
	} {
		if got := must[int](t)(s.threshold.CountPublished(s.epoch, s.n)); got != s.want {
			t.Errorf("%+v of %d after %d epochs: %d, want %d", s.threshold, s.n, s.epoch, got, s.want)
		}
	}
}

func TestShareIsExact(t *testing.T) {
	// 0.29 * 100 is 28.999999999999996 in float64.
	if got := must[int](t)(Share(0.29, 100, Floor)); got != 29 {
		t.Errorf("29%% of 100 is %d", got)
	}
	if got := must[int](t)(Share(0.07, 100, HalfEven)); got != 7 {
		t.Errorf("7%% of 100 is %d", got)
	}
}

func Example() {
	labelled := Matrix{Rows: 2, Cols: 2, Stride: 2, Data: []float32{4, 0, 0, 2}}
	c, err := Compute(labelled, []int{0, 1}, []int{0, 1}, 2, 2, Raw)
	if err != nil {
		panic(err)
	}
	unlabelled := Matrix{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 1, 0, 1, 3, 1}}
	threshold := Threshold{Start: 0.25, End: 0.75, Epochs: 30}
	count, err := threshold.Count(30, unlabelled.Rows)
	if err != nil {
		panic(err)
	}
	set, err := c.Closest(unlabelled, nil, count)
	if err != nil {
		panic(err)
	}
	for i, row := range set.Index {
		m := set.Match[i]
		fmt.Printf("row %d: class %d, distance %.3f\n", row, m.Class, m.Distance)
	}
	// Output:
	// row 1: class 1, distance 0.000
	// row 2: class 0, distance 0.051
}
