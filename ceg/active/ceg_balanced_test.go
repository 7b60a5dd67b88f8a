package active

import (
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Domain 1 has the highest S_r of all, so that CEG asks of it alone; BalancedCEG
// asks as many of each.
func TestBalancedCEGDividesTheLabels(t *testing.T) {
	ids := numbered(12)
	domains := []int{0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2, 2}
	scores := Scores{
		Su: []float64{1, 2, 3, 4, 1, 2, 3, 4, 5, 6, 1, 2},
		Sr: []float64{.1, .2, .3, .4, .91, .92, .93, .94, .95, .96, .5, .6},
		Sd: make([]float64, 12),
	}
	ceg := CEG{Weights: Gammas(3, 0)}
	plain := fatal.Get(ceg.Choose(ids, scores, 6))(t)
	if got := indices(plain); slices.Min(got) < 4 || slices.Max(got) > 9 {
		t.Errorf("ceg picks %v, want all of domain 1", got)
	}
	for _, tc := range []struct {
		n    int
		want []int // of each domain
	}{
		{3, []int{1, 1, 1}}, {6, []int{2, 2, 2}},
		{10, []int{4, 4, 2}}, // domain 2 has no more
		{12, []int{4, 6, 2}},
	} {
		picks := fatal.Get(BalancedCEG{ceg}.Choose(ids, domains, scores, tc.n))(t)
		got := make([]int, 3)
		for _, p := range picks {
			got[domains[p.Index]]++
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%d labels: %v of the domains, want %v", tc.n, got, tc.want)
		}
	}
	// The best of each domain come first; the remainder goes to the domain whose next candidate
	// has the smaller R: (1 + 3)/6 of domain 1 against 4/4 and 4/2.
	picks := fatal.Get(BalancedCEG{ceg}.Choose(ids, domains, scores, 4))(t)
	got := indices(picks)
	if last := picks[3]; last.Index != 8 || last.RankSu != 1 || last.RankSr != 1 || last.R != 4./6 || last.Score != -last.R {
		t.Errorf("the fourth pick is %+v", last)
	}
	slices.Sort(got)
	if !slices.Equal(got, []int{3, 8, 9, 11}) {
		t.Errorf("picks %v, want the best of each domain and the second of domain 1", got)
	}
	if _, err := (BalancedCEG{ceg}).Choose(ids, domains[1:], scores, 4); err == nil {
		t.Error("no error for 11 domains of 12 candidates")
	}
}
