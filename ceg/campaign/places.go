package campaign

import (
	"cmp"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Places returns the indices in the data set, increasing, of the examples that a run may query
// and train on: the training examples of all source domains, or the config's share of them. The
// share is drawn within each domain by a seeded hash of the IDs, so a smaller share is a subset
// of a larger one, and adding or removing examples does not change the others. With groups,
// whole groups are drawn until the share is reached.
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
				name := data.Examples[i].ID
				if data.Groups != nil && data.GroupNames[data.Groups[i]] != "" {
					name = "group " + data.GroupNames[data.Groups[i]]
				}
				numbers[i] = seed.New(drawnBy, "pool of "+name).Uint64()
			}
			slices.SortFunc(list, func(a, b int) int { return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b)) })
			n := min(max(1, int(math.Round(share*float64(len(list))))), len(list))
			for data.Groups != nil && n < len(list) && data.Groups[list[n]] == data.Groups[list[n-1]] {
				n++
			}
			byDomain[d] = list[:n]
		}
	}
	places := slices.Concat(byDomain...)
	slices.Sort(places)
	return places
}
