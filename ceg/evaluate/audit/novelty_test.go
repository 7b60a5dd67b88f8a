package audit_test

import (
	"math"
	"testing"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Labelled images that were selected lie far apart: at cosine distance 1 here. Twice their median
// distance flags nothing, as no cosine distance is above 2. The quantile of other images, which lie
// near them, flags a stranger between two of them, and 5% of these images.
func TestNovelty(t *testing.T) {
	const d = 8
	r := seed.New(1, "novelty")
	near := func(n int, spread float64) (m cluster.Matrix) {
		m = cluster.Matrix{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
		for i := range n {
			for j := range d {
				m.Data[i*d+j] = float32(spread * r.NormFloat64())
			}
			m.Data[i*d+i%d]++
		}
		return m
	}
	labelled := near(d, 0)
	n := audit.NewNovelty(audit.Distances(near(4000, 0.1), labelled))
	flagged := 0
	for _, v := range audit.Distances(near(2000, 0.1), labelled) {
		if n.Flags(v) {
			flagged++
		}
	}
	if flagged < 60 || flagged > 140 {
		t.Errorf("%d of 2000 fresh images are flagged, want some 5%%", flagged)
	}
	between := cluster.Matrix{Rows: 1, Cols: d, Stride: d, Data: []float32{3, 3, 0, 0, 0, 0, 0, 0}}
	if v := audit.Distances(between, labelled)[0]; math.Abs(v-(1-math.Sqrt(0.5))) > 1e-6 || !n.Flags(v) || v/1 > 2 {
		t.Errorf("a stranger at distance %v, threshold %v", v, n)
	}
	// Zeros, as of a black image, are far from everything.
	if v := audit.Distances(cluster.Matrix{Rows: 1, Cols: d, Stride: d, Data: make([]float32, d)}, labelled)[0]; v != 1 || !n.Flags(v) {
		t.Errorf("zeros are at distance %v", v)
	}
	if audit.NewNovelty(make([]float64, audit.FewestForNovelty-1)) != nil || (*audit.Novelty)(nil).Flags(9) {
		t.Error("there is a threshold from too few images")
	}
}

// A stranger between two known images, too near to be flagged, is flagged once one of its kind is
// marked. Strangers among the held-out images do not raise the threshold, and known images are
// flagged as rarely as before.
func TestStrangeness(t *testing.T) {
	const d = 8
	r := seed.New(1, "strangeness")
	near := func(n int, centre ...float32) cluster.Matrix {
		m := cluster.Matrix{Rows: n, Cols: d, Stride: d, Data: make([]float32, n*d)}
		for i := range n {
			for j := range d {
				m.Data[i*d+j] = centre[j] + float32(0.1*r.NormFloat64())
			}
		}
		return m
	}
	known := []float32{1, 0, 0, 0, 0, 0, 0, 0}
	odd := []float32{1, 0.4, 0, 0, 0, 0, 0, 0}
	labelled, marked := near(20, known...), near(3, odd...)
	both := func(m cluster.Matrix) (k, s []float64) {
		return audit.Distances(m, labelled), audit.Distances(m, marked)
	}
	held := near(1000, known...)
	strangers := near(200, odd...)
	share := func(m cluster.Matrix, flags func(k, s float64) bool) float64 {
		k, s := both(m)
		n := 0
		for i := range k {
			if flags(k[i], s[i]) {
				n++
			}
		}
		return float64(n) / float64(len(k))
	}
	plain := audit.NewNovelty(audit.Distances(held, labelled))
	mixed := held
	mixed.Rows, mixed.Data = held.Rows+strangers.Rows, append(held.Data, strangers.Data...)
	beside := audit.NewNoveltyBeside(both(mixed))
	before := func(k, _ float64) bool { return plain.Flags(k) }
	after := func(k, s float64) bool { return beside.Flags(audit.Strangeness(k, s)) }
	fresh, others := near(1000, known...), near(1000, odd...)
	t.Logf("strangers: %.2f before, %.2f after; known images: %.3f before, %.3f after", share(others, before), share(others, after), share(fresh, before), share(fresh, after))
	if share(others, after) < share(others, before)+0.1 || share(fresh, after) > 0.08 {
		t.Error("marked strangers do not help, or raise false alarms")
	}
	if s := audit.Strangeness(0.2, 0.3); s != 0.2 {
		t.Errorf("nearer to a known image: %v", s)
	}
}

// A known row is not compared with the rows of its group.
func TestDistancesApart(t *testing.T) {
	m := cluster.Matrix{Rows: 3, Cols: 2, Stride: 2, Data: []float32{1, 0, 0, 1, 2, 0}}
	known := cluster.Matrix{Rows: 2, Cols: 2, Stride: 2, Data: m.Data[:4]}
	for _, c := range []struct{ groups, known, want []int }{
		{[]int{0, 1, 2}, []int{0, 1}, []int{1, 1, 0}}, // each but itself
		{[]int{0, 1, 0}, []int{0, 1}, []int{1, 1, 1}}, // the third is in the group of the first
		{[]int{5, 5, 5}, []int{5, 5}, []int{2, 2, 2}}, // nothing is in another group
		{[]int{7, 8, 9}, []int{0, 1}, []int{0, 0, 0}},
	} {
		for i, v := range audit.DistancesApart(m, known, c.groups, c.known) {
			if v != float64(c.want[i]) {
				t.Errorf("groups %v and %v: row %d is at %v, want %d", c.groups, c.known, i, v, c.want[i])
			}
		}
	}
}
