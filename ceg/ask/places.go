package ask

import (
	"cmp"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/seed"
	"github.com/ledg-go/ledg/datasets"
)

// Places returns the data set's indices of the examples that a run may ask about and train
// on, increasing: the training examples of all domains but the target, or the config's share
// of them. That is drawn by domain, by a number that the seed gives each ID: a smaller share
// is part of a larger one, and examples that come or go change no other's number.
func Places(c config.Config, data *datasets.Dataset) []int {
	byDomain := make([][]int, len(data.Domains))
	for i, e := range data.Examples {
		if e.Split == datasets.Train && data.Domains[e.Domain] != c.Data.Target {
			byDomain[e.Domain] = append(byDomain[e.Domain], i)
		}
	}
	if share := c.Data.PoolShare; share > 0 {
		numbers, drawnBy := make(map[int]uint64), cmp.Or(c.Data.PoolSeed, c.Seed)
		for d, list := range byDomain {
			for _, i := range list {
				numbers[i] = seed.New(drawnBy, "pool of "+data.Examples[i].ID).Uint64()
			}
			slices.SortFunc(list, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
			n := max(1, int(math.Round(share*float64(len(list)))))
			byDomain[d] = list[:min(n, len(list))]
		}
	}
	places := slices.Concat(byDomain...)
	slices.Sort(places)
	return places
}
