package poolfile

import (
	"context"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Of a file with groups every strategy chooses one of a group before a second, and what Grouped
// chooses of the same arrays in memory, block by block or not.
func TestQueryGroups(t *testing.T) {
	_, entries := golden(t)
	const rows, size = 200, 8
	groups := make([]int64, rows)
	for i := range groups {
		groups[i] = int64(i/size) - 3 // any whole number
	}
	plain := writePool(t, "stored", entries)
	path := writePool(t, "stored", append(slices.Clone(entries), entry{"groups", []int{rows}, groups}, entry{"labelled_groups", []int{40}, slices.Repeat([]int64{-3, 500}, 20)}))
	leaks := 0
	for _, s := range active.Strategies(active.Options{Weights: active.Gammas(3, 1), Classes: 7}) {
		if slices.Contains([]string{"bait", "bait-equal", "ceg-balanced"}, s.Name()) { // which need arrays that are not there
			continue
		}
		seen := func(picks []active.Pick) (most int) {
			count := map[int64]int{}
			for _, p := range picks {
				count[groups[p.Index]]++
				most = max(most, count[groups[p.Index]])
			}
			return most
		}
		without := fatal.Get(Query(context.Background(), plain, s, 20, 0, seed.New(1, "query")))(t)
		if seen(without) > 1 {
			leaks++
		}
		picks := fatal.Get(Query(context.Background(), path, s, 24, 0, seed.New(1, "query")))(t)
		if seen(picks) != 1 || slices.ContainsFunc(picks, func(p active.Pick) bool { return p.Index < size }) {
			t.Errorf("%s: rows %v of groups of %d, of which the first has a label", s.Name(), active.IDs(picks), size)
		}
		if picks, err := Query(context.Background(), path, s, 26, 0, seed.New(1, "query")); err != nil || len(picks) != 26 || seen(picks) != 2 && !slices.ContainsFunc(picks, func(p active.Pick) bool { return p.Index < size }) {
			t.Errorf("%s: %d picks, %v", s.Name(), len(picks), err)
		}
	}
	if leaks < 10 {
		t.Errorf("without groups %d queries ask twice about a group: the test shows nothing", leaks)
	}
	for _, s := range []struct {
		values any
		shape  int
		n      int
		want   string
	}{
		{make([]int64, 199), 199, 5, "groups: 199 elements, but"},
		{make([]int64, 201), 201, 5, "groups: 201 elements, but"},
		{make([]float32, 200), 200, 5, "groups: type float32, want int64 or int32"},
		{groups, 200, 201, "201 samples queried from a pool of 200"},
		{groups, 200, 0, "0 samples queried from a pool of 200"},
	} {
		path := writePool(t, "stored", append(slices.Clone(entries), entry{"groups", []int{s.shape}, s.values}))
		for _, strategy := range []active.Strategy{active.CEG{Weights: active.Gammas(1, 1)}, active.CoreSet{}, active.Uniform{}} {
			fatal.Says(t, fatal.Err(Query(context.Background(), path, strategy, s.n, 0, seed.New(1, "query"))), s.want)
		}
	}
}

// A head's strength is compared by folds that leave whole groups out: copies of a sample in the
// other folds would make the least regularised head look best.
func TestProbeGroups(t *testing.T) {
	entries := probePool()[:1]
	var x []float32
	var labels, groups []int64
	r := seed.New(1, "noise")
	for g := range 20 {
		a, b := float32(r.NormFloat64()), float32(r.NormFloat64())
		for range 10 {
			x, labels, groups = append(x, a, b), append(labels, int64(g%2)), append(groups, int64(g))
		}
	}
	entries = append(entries, entry{"labelled_features", []int{200, 2}, x}, entry{"labelled_labels", []int{200}, labels})
	score := func(entries []entry) float64 {
		t.Helper()
		p := fatal.Get(Probe(context.Background(), writePool(t, "stored", entries), ProbeOptions{Head: "logistic"}, seed.New(1, "probe")))(t)
		best := 0.0
		for _, s := range p.Scores {
			best = max(best, s.Accuracy)
		}
		return best
	}
	plain, grouped := score(entries), score(append(entries, entry{"labelled_groups", []int{200}, groups}))
	if !(plain > grouped+0.05) { // of noise, nothing can be learned
		t.Errorf("accuracy on what is left out %v, with groups %v: noise tells the copies apart", plain, grouped)
	}
	bad := append(slices.Clone(entries), entry{"labelled_groups", []int{3}, []int64{1, 2, 3}})
	fatal.Says(t, fatal.Err(Probe(context.Background(), writePool(t, "stored", bad), ProbeOptions{Head: "logistic"}, seed.New(1, "probe"))), "labelled_groups: 3 elements")
}
