package run

import (
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/learner/feed"
	"github.com/ledg-go/ledg/ceg/objective"
)

// batches are what an epoch draws its batches from, with the views that an
// objective needs.
func batches(p *campaign.Campaign, o objective.Objective, set reliableSet) feed.Subsets {
	var subsets feed.Subsets
	add := func(dst *feed.Subset, example int) {
		dst.Example = append(dst.Example, example)
		dst.Domain = append(dst.Domain, p.SourceAt(example))
	}
	for _, l := range p.Labelled() {
		add(&subsets.Labelled, p.Example(l.ID))
		subsets.Labelled.Label = append(subsets.Labelled.Label, l.Class)
	}
	for _, id := range p.Unlabelled() {
		add(&subsets.Unlabelled, p.Example(id))
	}
	subsets.Labelled.Views = o.Views(objective.Labelled)
	subsets.Unlabelled.Views = o.Views(objective.Unlabelled)
	if o.Uses(objective.Reliable) && len(set.examples) > 0 {
		subsets.Reliable.Views, subsets.Reliable.Label = o.Views(objective.Reliable), set.labels
		for _, x := range set.examples {
			add(&subsets.Reliable, x)
		}
	}
	return subsets
}
