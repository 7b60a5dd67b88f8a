package config

import (
	"math"

	"github.com/ledg-go/ledg/datasets"
)

// draft is a config that is filled in setting by setting, with the specified values.
type draft struct {
	Config
	specified map[string]any
}

// info returns the facts of the data set.
func (d *draft) info() datasets.Info {
	info, _ := datasets.Lookup(d.Data.Dataset)
	return info
}

func (d *draft) objective() Objective {
	o, _ := LookupObjective(d.Generalization.Objective)
	return o
}

// chosenOnFeatures reports whether the preset is Ledg or Pooled and the data are features, for which it
// has what source validation selected on features of PACS.
func (d *draft) chosenOnFeatures() bool { return d.Preset.Selected() && d.info().Vectors }

// pooled reports whether the preset is Pooled, and erm or fixmatch trains a linear head on features.
func (d *draft) pooled() bool {
	o := d.Generalization.Objective
	return d.Preset == Pooled && d.info().Vectors && d.Network.Name == Linear && (o == ERM || o == FixMatch)
}

// recipe returns the objective's published optimisation settings if the protocol uses them, else
// nil.
func (d *draft) recipe() *Recipe {
	if o := d.objective(); d.Protocol == OriginalProtocol && o.Original != nil {
		return o.Original(d.info().Recipe.ManyClasses)
	}
	return nil
}

func (d *draft) isSpecified(path string) bool {
	_, ok := d.specified[path]
	return ok
}

// width is the data set's number of channels for a small network, but the published one
// of networks that are not trained narrow, and of weights of that width.
func (d *draft) width() any {
	n, _ := LookupNetwork(d.Network.Name)
	if n.Width > 0 && (!n.Narrow || d.Network.Weights != nil && d.Network.Weights.Name == ImageNet) {
		return n.Width
	}
	return d.info().Recipe.Width
}

// epochs is the number of epochs: under Ledg and Pooled, the selected number on features, and twice the usual
// number for an image network from scratch.
func (d *draft) epochs() any {
	const onFeatures = 20
	n := d.info().Recipe.Epochs
	switch r := d.recipe(); {
	case r != nil:
		return r.Epochs
	case d.chosenOnFeatures():
		return onFeatures
	case d.Preset.Selected() && d.Network.Weights == nil:
		return 2 * n
	}
	return n
}

// perDomain is the number of images of a domain in a batch.
func (d *draft) perDomain() any {
	const usual, few = 16, 8
	switch r := d.recipe(); {
	case r != nil:
		sources := 3 // the images may have another number
		if domains := d.info().Domains; domains != nil {
			sources = len(domains) - 1
		}
		return max(2, int(math.Round(float64(r.Batch)/float64(sources))))
	case d.chosenOnFeatures():
		return few
	}
	return usual
}

// timing returns the labelling schedule.
func (d *draft) timing() any {
	own := d.Data.Dataset == datasets.Drawn || d.info().Yours && !d.info().Vectors
	open := !d.isSpecified("preset") && !d.isSpecified("exploration.initial_share") && !d.isSpecified("schedule.query_after")
	if d.Preset.Selected() || AtOnce(d.Method) || own && open {
		return Once
	}
	return Published
}

// The timing Early.
const (
	earlyInitial = 0.25
	earlyRounds  = 5
)

// queryAfter lists the timing's query epochs. For Published they are in the second half, after
// every epoch (Paper) or at the published code's intervals (Authors); for Early, evenly over the
// first quarter of the epochs, whose last is one. There is never a query after the last epoch.
func (d *draft) queryAfter() any {
	var after []int
	epochs := d.Schedule.Epochs
	switch d.Schedule.Timing {
	case Published:
		set := d.info().Recipe
		scale := float64(epochs) / float64(set.Epochs)
		first, every := int(float64(set.FirstQuery)*scale), max(1, int(float64(set.QueryEvery)*scale+0.5))
		if d.Preset == Paper {
			first, every = max(0, first-1), 1
		}
		for e := first; e <= epochs-2; e += every {
			after = append(after, e)
		}
	case Early:
		quarter := min(max(1, epochs/4), epochs-1)
		rounds := min(quarter, earlyRounds)
		for i := range rounds {
			after = append(after, (i+1)*quarter/rounds-1)
		}
	}
	return after
}

// initialShare is the timing's share, or 1 if there are too few epochs for queries.
func (d *draft) initialShare() any {
	switch {
	case len(d.Schedule.QueryAfter) == 0:
		return 1.0
	case d.Schedule.Timing == Early:
		return earlyInitial
	}
	return 0.5
}

// gammas are the preset's weights of representativeness and diversity.
func (d *draft) gammas() [2]float64 {
	if d.Preset == Paper {
		return d.info().Recipe.GammaPaper
	}
	return d.info().Recipe.GammaCode
}

// scratchRate is the learning rate of a network from scratch.
func (d *draft) scratchRate() float64 {
	rate, o := d.info().Recipe.Rate, d.objective()
	if o.Sums || o.Reduced && d.Generalization.Reduction == SumOverDomains {
		rate /= 3 // sums over three domains are three times the means
	}
	if d.chosenOnFeatures() && o.Reduced {
		rate *= 2
	}
	return rate
}

func (d *draft) backboneRate() any {
	switch r := d.recipe(); {
	case d.Network.Weights == nil && d.objective().BackboneShare != 0:
		return d.scratchRate() * d.objective().BackboneShare
	case d.Network.Weights == nil:
		return d.scratchRate()
	case r != nil:
		return r.Backbone
	}
	return 0.003
}

func (d *draft) classHeadRate() any {
	switch r := d.recipe(); {
	case d.Network.Weights == nil:
		return d.scratchRate()
	case r != nil:
		return r.Head
	}
	return 0.01
}

func (d *draft) domainHeadRate() any {
	if d.Network.Weights == nil {
		return d.scratchRate()
	}
	return 0.01
}
