package campaign_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// A share of the pool is drawn by domain and by ID: of two sources with 10 and 2 training
// images beside validation images and the target.
func TestPlaces(t *testing.T) {
	domains := []string{"east", "north", "south"}
	set := func(east int) *datasets.Dataset {
		d := &datasets.Dataset{Domains: domains}
		for domain, n := range []int{east, 3, 2} {
			for i := range n {
				d.Examples = append(d.Examples, datasets.Example{ID: fmt.Sprintf("%s/%d.jpg", domains[domain], i), Domain: domain})
			}
			d.Examples = append(d.Examples, datasets.Example{ID: domains[domain] + "/val.jpg", Domain: domain, Split: datasets.Val})
		}
		return d
	}
	of := func(d *datasets.Dataset, share float64, poolSeed, seed uint64) (ids []string) {
		c := config.Config{Seed: seed, Data: config.Data{Target: "north", PoolShare: share, PoolSeed: poolSeed}}
		places := campaign.Places(c, d)
		if !slices.IsSorted(places) {
			t.Errorf("%v are not increasing", places)
		}
		for _, i := range places {
			ids = append(ids, d.Examples[i].ID)
		}
		return ids
	}
	d := set(10)
	all := of(d, 0, 0, 1)
	if len(all) != 12 || all[0] != "east/0.jpg" || all[11] != "south/1.jpg" || slices.Contains(all, "east/val.jpg") || slices.Contains(all, "north/0.jpg") {
		t.Errorf("all: %q", all)
	}
	within := func(list, of []string) bool {
		return !slices.ContainsFunc(list, func(id string) bool { return !slices.Contains(of, id) })
	}
	part := of(d, 0.8, 5, 1)
	if len(part) != 10 || !within(part, all) { // 8 of 10, and 1.6 of 2 is 2
		t.Errorf("80%%: %q", part)
	}
	small := of(d, 0.01, 5, 1)
	if len(small) != 2 || small[0][:4] != "east" || small[1][:5] != "south" || !within(small, part) {
		t.Errorf("1%%, which is one of each source and part of %q: %q", part, small)
	}
	if got := of(d, 0.8, 5, 2); !slices.Equal(got, part) {
		t.Errorf("the run's seed changes a pool that has its own: %q, want %q", got, part)
	}
	if got := of(d, 0.8, 0, 5); !slices.Equal(got, part) {
		t.Errorf("the run's seed draws another pool than the same one said: %q, want %q", got, part)
	}
	other := map[string]bool{}
	for seed := range uint64(20) {
		other[fmt.Sprint(of(d, 0.8, seed+1, 1))] = true
	}
	if len(other) < 10 { // of 45
		t.Errorf("20 seeds draw %d pools", len(other))
	}
	// One more image takes the place of one at the most, at the same number.
	if more := of(set(11), 8.0/11, 5, 1); len(more) != 9 || !within(slices.DeleteFunc(more, func(id string) bool { return id == "east/10.jpg" }), part) {
		t.Errorf("with one image more: %q, had %q", more, part)
	}
}

// A data set whose source domains have validation images alone is refused by name.
func TestNothingToTrainOn(t *testing.T) {
	d := &datasets.Dataset{Name: "photos", Domains: []string{"east", "north"}, Classes: []string{"cat", "dog"},
		Examples: []datasets.Example{{ID: "east/a.jpg", Split: datasets.Val}, {ID: "north/a.jpg", Domain: 1}}}
	c := config.Config{Data: config.Data{Target: "north"}, Exploration: config.Exploration{Budget: "2"}}
	fatal.Says(t, fatal.Err(campaign.New(c, d)), "photos has no image to train on: outside north all are in the validation split")
}
