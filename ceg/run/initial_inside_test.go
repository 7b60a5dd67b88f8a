package run

import (
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// A domain that the strategy leaves out gets the last place of the one with the most.
func TestEveryDomainHasAnInitialLabel(t *testing.T) {
	c := &active.Candidates{IDs: []string{"a", "b", "c", "d", "e"}, Domains: []int{0, 0, 0, 1, 2}}
	picks := []active.Pick{{Index: 2, ID: "c"}, {Index: 3, ID: "d"}, {Index: 0, ID: "a"}, {Index: 1, ID: "b"}}
	fatal.If(t, cover(active.Uniform{}, c, picks, make([]int, 3), seed.New(1, "test")))
	if want := []string{"c", "d", "a", "e"}; !slices.Equal(active.IDs(picks), want) {
		t.Errorf("initial labels %v, want %v", active.IDs(picks), want)
	}
	for _, p := range picks {
		if c.IDs[p.Index] != p.ID {
			t.Errorf("index %d of %s", p.Index, p.ID)
		}
	}
	// Nothing comes in for a domain that has a label, or no candidate.
	if err := cover(active.Uniform{}, c, picks, []int{0, 0, 0, 0}, seed.New(1, "test")); err != nil || picks[3].ID != "e" {
		t.Errorf("initial labels %v, %v", active.IDs(picks), err)
	}
}
