package active

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

func TestEvenly(t *testing.T) {
	for _, s := range []struct {
		sizes  []int
		labels int
		want   []int
		spare  int
	}{
		{[]int{100, 100, 100}, 40, []int{13, 13, 13}, 1},
		{[]int{2, 100, 7}, 40, []int{2, 31, 7}, 0},
		{[]int{5, 5}, 1, []int{0, 0}, 1},
		{[]int{0, 3}, 3, []int{0, 3}, 0},
	} {
		got, spare := evenly(s.sizes, s.labels)
		if !slices.Equal(got, s.want) || spare != s.spare {
			t.Errorf("%d among %v: %v and %d spare, want %v and %d", s.labels, s.sizes, got, spare, s.want, s.spare)
		}
	}
}

// Each division queries its numbers per domain; the remainder of a balanced one goes to the domain
// whose next candidate scores highest.
func TestDivisions(t *testing.T) {
	c := &Candidates{Domains: []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2}}
	c.IDs = numbered(12)
	for i := range 12 { // of domain 2 all are least certain
		c.ClassLogits.Data = append(c.ClassLogits.Data, float32(12-i), 0)
	}
	c.ClassLogits.Rows, c.ClassLogits.Cols, c.ClassLogits.Stride = 12, 2, 2
	for _, s := range []struct {
		division Division
		n        int
		want     []int
	}{
		{Pooled, 4, []int{0, 1, 3}},
		{ByStratum, 4, []int{2, 1, 1}},
		{ByShare, 4, []int{2, 1, 1}},
		{ByShare, 6, []int{3, 2, 1}}, // equal remainders: the lower number
		{Balanced, 4, []int{1, 1, 2}},
		{Balanced, 11, []int{5, 3, 3}},
		{Balanced, 12, []int{6, 3, 3}},
	} {
		strategy := fatal.Get(Divide(Probability{Measure: MinMargin}, s.division))(t)
		got := make([]int, 3)
		for _, p := range query(t, strategy, c, s.n, nil) {
			got[c.Domains[p.Index]]++
		}
		if !slices.Equal(got, s.want) {
			t.Errorf("%s: %d of domains %v, want %v", s.division, s.n, got, s.want)
		}
	}
	if _, err := Divide(Uniform{}, "half"); err == nil {
		t.Error("no error for a division that does not exist")
	}
	if s, _ := Divide(CEG{}, Balanced); s != (BalancedCEG{}) {
		t.Errorf("ceg, balanced, is %#v", s)
	}
}

// Within a domain only its own labelled samples count: the centre of the other domain
// is taken though it is labelled in this one.
func TestDividedComparesWithinDomains(t *testing.T) {
	c := &Candidates{Domains: []int{0, 0, 1, 1}, LabelledDomains: []int{1}, Features: matrix(2, 1, 0, 0, 1, 1, 0, 0, 1), LabelledFeatures: matrix(2, 1, 0)}
	c.IDs = numbered(4)
	s := fatal.Get(Divide(CoreSet{}, ByStratum))(t)
	picks := indices(query(t, s, c, 2, seed.New(1, "divided")))
	if picks[1] != 3 {
		t.Errorf("of domain 1 row %d is picked, want 3, far from its labelled one", picks[1])
	}
	firsts := map[int]bool{}
	for k := range uint64(20) { // domain 0 has none, so its first is drawn
		firsts[indices(query(t, s, c, 2, seed.New(k, "divided")))[0]] = true
	}
	if len(firsts) != 2 {
		t.Errorf("of domain 0 the rows %v are picked, want either", fmt.Sprint(firsts))
	}
}
