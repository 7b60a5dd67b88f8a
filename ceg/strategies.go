package ceg

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/cluster"
)

// space returns where centroids are averaged and distances measured.
func (x Exploration) space() cluster.Space {
	if x.PhiCentroids {
		return cluster.Augmented
	}
	return cluster.Raw
}

// strategy returns the query strategy that the settings describe, for a number of
// classes.
func (x Exploration) strategy(tieSeed uint64, classes int) (active.Strategy, error) {
	s, err := active.ByName(x.Strategy, active.Options{
		Weights:      active.Weights{Uncertainty: x.WeightU, Representativeness: x.Gamma1, Diversity: x.Gamma2},
		Space:        x.space(),
		SoftmaxTwice: x.SoftmaxTwice,
		Classes:      classes,
		TieSeed:      tieSeed,
	})
	if err != nil {
		return nil, err
	}
	return active.Divide(s, x.Domains)
}

// asksDomains reports whether a strategy looks at domain probabilities.
func asksDomains(strategy string) bool {
	s, err := active.ByName(strategy, active.Options{Weights: active.Gammas(1, 1)})
	return err == nil && s.Needs().Has(active.DomainProbs)
}

func isStrategy(name string) bool { return slices.Contains(active.Names(), name) }
