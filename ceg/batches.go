package ceg

import (
	"github.com/ledg-go/ledg/ceg/ask"
	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/objective"
)

// batches are what an epoch draws its batches from, with the views that an
// objective needs.
func batches(p *ask.Campaign, o objective.Objective, set reliableSet) feed.Pools {
	var pools feed.Pools
	add := func(dst *feed.Pool, example int) {
		dst.Example = append(dst.Example, example)
		dst.Domain = append(dst.Domain, p.SourceAt(example))
	}
	for _, l := range p.Labelled() {
		add(&pools.Labelled, p.Example(l.ID))
		pools.Labelled.Label = append(pools.Labelled.Label, l.Class)
	}
	for _, id := range p.Unlabelled() {
		add(&pools.Unlabelled, p.Example(id))
	}
	pools.Labelled.Views = o.Views(objective.Labelled)
	if len(pools.Unlabelled.Example) > 0 { // else everything is labelled
		pools.Unlabelled.Views = o.Views(objective.Unlabelled)
	}
	if o.Uses(objective.Reliable) && len(set.examples) > 0 {
		pools.Reliable.Views, pools.Reliable.Label = o.Views(objective.Reliable), set.labels
		for _, x := range set.examples {
			add(&pools.Reliable, x)
		}
	}
	return pools
}
