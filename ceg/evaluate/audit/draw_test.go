package audit_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/evaluate/audit"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func names(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprintf("%04d", i))
	}
	return ids
}

// Every image outside A is in the audit equally often, and so is every pair.
func TestDrawIsSimpleRandomSampling(t *testing.T) {
	const n, k, m, draws = 12, 2, 4, 20_000
	ids := names(n)
	one, two := map[string]int{}, 0
	for s := range uint64(draws) {
		list := fatal.Get(audit.Draw(ids[k:], m, s))(t)
		if len(list) != m || slices.ContainsFunc(list, func(id string) bool { return slices.Contains(ids[:k], id) }) {
			t.Fatalf("seed %d: %v", s, list)
		}
		for _, id := range list {
			one[id]++
		}
		if slices.Contains(list, ids[5]) && slices.Contains(list, ids[9]) {
			two++
		}
	}
	p := float64(m) / (n - k)
	for _, id := range ids[k:] {
		if got := float64(one[id]) / draws; math.Abs(got-p) > 4*math.Sqrt(p*(1-p)/draws) {
			t.Errorf("%s is in %v of the audits, want %v", id, got, p)
		}
	}
	p = m * (m - 1) / float64((n-k)*(n-k-1))
	if got := float64(two) / draws; math.Abs(got-p) > 4*math.Sqrt(p*(1-p)/draws) {
		t.Errorf("a pair is in %v of the audits, want %v", got, p)
	}
}

func TestDrawDependsOnNamesAndSeedAlone(t *testing.T) {
	ids := names(50)
	a := fatal.Get(audit.Draw(ids[5:], 20, 7))(t)
	other := slices.Clone(ids[5:])
	slices.Reverse(other)
	b, _ := audit.Draw(other, 30, 7)
	if !slices.Equal(a, b[:20]) {
		t.Errorf("a larger audit of the same images in another order begins with %v, want %v", b[:20], a)
	}
	if c, _ := audit.Draw(ids[5:], 20, 8); slices.Equal(a, c) {
		t.Error("another seed draws the same")
	}
	if _, err := audit.Draw(ids[5:], 46, 7); err == nil {
		t.Error("46 of 45 images were drawn")
	}
	if _, err := audit.Draw([]string{"a", "a"}, 1, 7); err == nil {
		t.Error("an image that is there twice was drawn from")
	}
	queue := audit.Queue(ids[:5], a, 7)
	if len(queue) != 25 || slices.Equal(queue[:5], ids[:5]) || !slices.Equal(slices.Sorted(slices.Values(queue)), slices.Sorted(slices.Values(slices.Concat(ids[:5], a)))) {
		t.Errorf("queue %v", queue)
	}
}
