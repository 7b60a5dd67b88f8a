package ceg

import (
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
)

// A domain that the strategy leaves out gets the last place of the one with the most.
func TestEveryDomainHasAnInitialLabel(t *testing.T) {
	c := &active.Candidates{IDs: []string{"a", "b", "c", "d", "e"}, Domains: []int{0, 0, 0, 1, 2}}
	picks := []active.Pick{{Index: 2, ID: "c"}, {Index: 3, ID: "d"}, {Index: 0, ID: "a"}, {Index: 1, ID: "b"}}
	got, err := everyDomain(active.Uniform{}, c, picks, make([]int, 3), func(of *active.Candidates) ([]active.Pick, error) {
		if !slices.Equal(of.IDs, []string{"e"}) {
			t.Errorf("asked to pick of %v", of.IDs)
		}
		return []active.Pick{{Index: 0, ID: of.IDs[0]}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"c", "d", "a", "e"}; !slices.Equal(active.IDs(got), want) {
		t.Errorf("initial labels %v, want %v", active.IDs(got), want)
	}
	for _, p := range got {
		if c.IDs[p.Index] != p.ID {
			t.Errorf("index %d of %s", p.Index, p.ID)
		}
	}
}
