package cluster

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/npztest"
)

// archive has the arrays of a golden file.
type archive struct{ npztest.File }

func open(t *testing.T, name string) archive { return archive{npztest.Open(t, "../testdata/"+name)} }

func read[T any](a archive, name string) []T { return npztest.Read[T](a.File, name) }

const (
	goldenDomains = 3
	goldenClasses = 7
	goldenDim     = 16
)

func goldenCentroids(t *testing.T, a archive, space Space) *Centroids {
	t.Helper()
	return fatal.Get(Compute(a.Matrix("l_features", goldenDim), a.Ints("l_domain"), a.Ints("l_label"), goldenDomains, goldenClasses, space))(t)
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s = %v, want %v within %v", what, got, want, tolerance)
	}
}

// vector returns a cell's centroid, nil for an empty cell.
func vector(c *Centroids, domain, class int) []float64 {
	if i := slices.Index(c.live, domain*c.classes+class); i >= 0 {
		return c.rows[i]
	}
	return nil
}

func TestGoldenCentroids(t *testing.T) {
	a := open(t, "exploration.npz")
	counts, present := a.Ints("centroid_count"), read[uint8](a, "centroid_present")
	for _, s := range []struct {
		space  Space
		prefix string
		dim    int
	}{{Raw, "", goldenDim}, {Augmented, "ref_", goldenDim + 1}} {
		c := goldenCentroids(t, a, s.space)
		want := a.Matrix(s.prefix+"centroids", s.dim)
		live := 0
		for cell := range goldenDomains * goldenClasses {
			k, h := cell/goldenClasses, cell%goldenClasses
			if c.counts[cell] != counts[cell] {
				t.Errorf("%v: count of cell (%d, %d) is %d, want %d", s.space, k, h, c.counts[cell], counts[cell])
			}
			v := vector(c, k, h)
			if (v != nil) != (present[cell] == 1) {
				t.Fatalf("%v: cell (%d, %d) present: %v, want %v", s.space, k, h, v != nil, present[cell] == 1)
			}
			if v == nil {
				continue
			}
			live++
			for j, x := range rowOf(want, cell) {
				// Stored as float32.
				near(t, fmt.Sprintf("%v centroid (%d, %d)[%d]", s.space, k, h, j), v[j], float64(x), 1e-6)
			}
		}
		if c.Live() != live || c.Empty() != 3 {
			t.Errorf("%v: %d live and %d empty cells, want %d and 3", s.space, c.Live(), c.Empty(), live)
		}
	}
}

func TestGoldenNearestAndClosest(t *testing.T) {
	in, want := open(t, "exploration.npz"), open(t, "reliable.npz")
	features := in.Matrix("u_features", goldenDim)
	for _, s := range []struct {
		space  Space
		prefix string
	}{{Raw, ""}, {Augmented, "ref_"}} {
		c := goldenCentroids(t, in, s.space)
		matches := fatal.Get(c.nearest(features, nil))(t)
		least := make([]float64, features.Rows)
		fatal.If(t, MinDistances(least, c, features.Data))
		class, domain := want.Ints(s.prefix+"pseudo_label"), want.Ints(s.prefix+"nearest_domain")
		distance, diversity := read[float32](want, s.prefix+"min_dist"), read[float32](in, s.prefix+"sd")
		for i, m := range matches {
			if m.Class != class[i] || m.Domain != domain[i] {
				t.Errorf("%v row %d: nearest is (%d, %d), want (%d, %d)", s.space, i, m.Domain, m.Class, domain[i], class[i])
			}
			near(t, fmt.Sprintf("%v distance %d", s.space, i), m.Distance, float64(distance[i]), 1e-6)
			near(t, fmt.Sprintf("%v diversity %d", s.space, i), m.Distance, float64(diversity[i]), 1e-6)
			if least[i] != m.Distance {
				t.Errorf("%v row %d: MinDistances %v, Nearest %v", s.space, i, least[i], m.Distance)
			}
		}
		for _, percent := range []int{25, 50, 70, 100} {
			name := fmt.Sprintf("%smask_T%d", s.prefix, percent)
			mask := read[uint8](want, name)
			count := fatal.Get(Share(float64(percent)/100, features.Rows, HalfEven))(t)
			set := fatal.Get(c.Closest(features, nil, count))(t)
			got := make([]uint8, len(mask))
			for _, i := range set.Index {
				got[i] = 1
			}
			if !slices.Equal(got, mask) {
				t.Errorf("%s: wrong samples", name)
			}
			cut := read[float32](want, fmt.Sprintf("%scut_T%d", s.prefix, percent))
			near(t, name+" last distance", set.Match[count-1].Distance, float64(cut[0]), 1e-6)
			for i, row := range set.Index {
				if set.Labels()[i] != class[row] {
					t.Errorf("%s: label of row %d is %d, want %d", name, row, set.Labels()[i], class[row])
				}
			}
		}
	}
}

func TestGoldenThreshold(t *testing.T) {
	want := open(t, "reliable.npz")
	threshold := Threshold{Start: 0.25, End: 0.5, Epochs: 60}
	shares := read[float32](want, "schedule_T")
	counts, down := want.Ints("schedule_count_round_half_even"), want.Ints("schedule_count_floor")
	for i, e := range want.Ints("schedule_epoch") {
		share := fatal.Get(threshold.exact(e))(t)
		at, _ := share.Float64()
		near(t, fmt.Sprintf("T at %d", e), 100*at, float64(shares[i]), 1e-5)
		if got := fatal.Get(threshold.Count(e, 200))(t); got != counts[i] {
			t.Errorf("count at %d is %d, want %d", e, got, counts[i])
		}
		if got := Floor(share.Mul(share, big.NewRat(200, 1))); got != down[i] {
			t.Errorf("rounded down at %d, the count is %d, want %d", e, got, down[i])
		}
	}
}
