package datasets

import (
	"slices"

	"github.com/ledg-go/ledg/datasets/seed"
)

// splitByRule assigns every entry to Train or Val by the rule with which the
// Office-Home lists were made: of the n images of a class in a domain,
// floor(0.9 n) are Train and the rest Val. (A lone image is therefore Val.) Images of
// unknown class are Train, and so are all images of a class in a domain that has
// fewer than least of them, where labels are few: training is not to lose the only
// one. least is 0 where the rule holds for all.
// Which ones is drawn from the seed and the names of the domain and the class
// alone, so other classes and domains may come and go without moving it. Groups are not
// divided; see splitByGroup.
func splitByRule(entries []entry, domains, classes []string, seedValue uint64, least int, g *grouper) {
	if g != nil {
		splitByGroup(entries, seedValue, g)
		return
	}
	cells := make(map[[2]int][]*entry)
	for i := range entries {
		e := &entries[i]
		if e.Split = Train; e.class == Unknown {
			continue
		}
		cell := [2]int{e.Domain, e.class}
		cells[cell] = append(cells[cell], e)
	}
	for cell, members := range cells {
		slices.SortFunc(members, func(a, b *entry) int { return compareExamples(a.Example, b.Example) })
		r := seed.New(seedValue, "train/val split of "+domains[cell[0]]+"/"+classes[cell[1]])
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		train := trainCount(len(members))
		if len(members) < least {
			train = len(members)
		}
		for i, e := range members {
			e.Split = Train
			if i >= train {
				e.Split = Val
			}
		}
	}
}

// trainCount is floor(0.9 n).
func trainCount(n int) int { return n * 9 / 10 }
