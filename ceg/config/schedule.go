package config

import (
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
)

// Evaluates reports whether the network is evaluated after an epoch.
func (s Schedule) Evaluates(epoch int) bool {
	return epoch+1 == s.Epochs || (epoch+1)%max(s.EvaluateEvery, 1) == 0
}

// RateFactor returns the learning rate of an epoch divided by the initial one.
func (c Config) RateFactor(epoch int) float64 {
	at := c.Optimizer.DropAt
	if at == 0 {
		return CosineFactor(epoch, c.Schedule.Epochs)
	}
	if epoch < int(at*float64(c.Schedule.Epochs)+1e-9) {
		return 1
	}
	return 0.1
}

// CosineFactor returns the cosine schedule's factor on the learning rate in an epoch of
// 0..epochs-1: (1 + cos(pi*epoch/epochs)) / 2.
func CosineFactor(epoch, epochs int) float64 {
	return (1 + math.Cos(math.Pi*float64(epoch)/float64(epochs))) / 2
}

// WithEpochs returns the config with another number of epochs. Settings that preset and timing
// derive from this number, such as query epochs, are derived again, unless they were set
// explicitly.
func (c Config) WithEpochs(n int) Config {
	before := &draft{Config: c}
	after := &draft{Config: c}
	after.Schedule.Epochs = n
	if own, _ := before.queryAfter().([]int); slices.Equal(own, c.Schedule.QueryAfter) {
		after.Schedule.QueryAfter, _ = after.queryAfter().([]int)
		if c.Exploration.InitialShare == before.initialShare() {
			after.Exploration.InitialShare, _ = after.initialShare().(float64)
		}
	}
	return after.Config
}

// DivideBudget divides a number of labels into the initial ones and those to query after each
// query epoch. The map of package ceg: (2).
func (c Config) DivideBudget(budget int) (initial int, rounds []int, err error) {
	x, n := c.Exploration, len(c.Schedule.QueryAfter)
	if initial, err = cluster.Share(x.InitialShare, budget, cluster.Floor); err != nil || n == 0 {
		return initial, nil, err
	}
	rest := budget - initial
	switch {
	case len(c.Schedule.QueryShares) > 0:
		rounds, err = c.Schedule.divideShares(x.InitialShare, budget, initial)
	case x.Rounds == PublishedRounds:
		if x.InitialShare == 0.5 {
			rest = initial
		}
		rounds, err = active.PublishedRounds(rest, n)
	default:
		rounds, err = active.EvenRounds(rest, n)
	}
	return initial, rounds, err
}

// divideShares cuts the budget at the running sums of the shares, each rounded down, so that no
// part of a label is lost; the last query gets the rest.
func (s Schedule) divideShares(initialShare float64, budget, initial int) ([]int, error) {
	counts := make([]int, len(s.QueryShares))
	sum, queried := initialShare, initial
	for i, share := range s.QueryShares {
		sum = math.Round((sum+share)*1e9) / 1e9 // the decimal that was meant
		upTo, err := cluster.Share(min(sum, 1), budget, cluster.Floor)
		if err != nil {
			return nil, err
		}
		if i == len(counts)-1 {
			upTo = budget
		}
		counts[i] = upTo - queried
		queried = upTo
	}
	return counts, nil
}
