package ceg

import (
	"fmt"
	"math"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/cluster"
	"github.com/ledg-go/ledg/datasets"
)

// Timing names when labels are asked for. Others than these are written into a
// config by hand: Exploration.InitialShare, Schedule.QueryAfter and QueryShares.
type Timing string

const (
	// Published is the paper's and the published code's: half of the budget at
	// random before training, the rest by queries in the second half of it.
	Published Timing = "published"
	// Early labels a quarter at random before training and asks for the rest in
	// five queries in the first quarter of the epochs: of 20, after each of
	// the first five.
	Early Timing = "early"
	// Once labels the whole budget at random before training: no queries, and
	// nothing for a query strategy to do.
	Once Timing = "once"
)

// Timings lists the timings.
func Timings() []Timing { return []Timing{Published, Early, Once} }

const (
	earlyInitial = 0.25
	earlyRounds  = 5
)

// SetTiming sets when labels are asked for: the initial share, the query epochs
// and their shares.
func (c *Config) SetTiming(t Timing) error {
	s, x := &c.Schedule, &c.Exploration
	switch t {
	case Published:
		x.InitialShare, s.QueryAfter = 0.5, c.publishedEpochs()
	case Early:
		x.InitialShare, s.QueryAfter = earlyInitial, earlyEpochs(s.Epochs)
	case Once:
		x.InitialShare, s.QueryAfter = 1, nil
	default:
		return fmt.Errorf("timing %q, want one of %s", t, list(Timings()))
	}
	s.Timing, s.QueryShares = t, nil
	if len(s.QueryAfter) == 0 {
		x.InitialShare = 1 // too few epochs to ask in
	}
	return nil
}

// SetEpochs sets the number of epochs and scales the query epochs of the timing
// with it. Labels are never asked for after the last epoch.
func (c *Config) SetEpochs(epochs int) {
	c.Schedule.Epochs = epochs
	t := c.Schedule.Timing
	if t == "" {
		t = Published
	}
	_ = c.SetTiming(t) // an unknown one is for Validate to find
}

// publishedEpochs lists the preset's query epochs: in the second half, after every
// epoch (Paper) or at the published code's intervals (Authors).
func (c *Config) publishedEpochs() (after []int) {
	info, _ := datasets.Lookup(c.Data.Dataset)
	set := info.Recipe
	epochs := c.Schedule.Epochs
	scale := float64(epochs) / float64(set.Epochs)
	first, every := int(float64(set.FirstQuery)*scale), max(1, int(float64(set.QueryEvery)*scale+0.5))
	if c.Preset == Paper {
		first, every = max(0, first-1), 1
	}
	for e := first; e <= epochs-2; e += every {
		after = append(after, e)
	}
	return after
}

// earlyEpochs lists the query epochs of Early: spread evenly over the first
// quarter of the epochs, the last of which is one.
func earlyEpochs(epochs int) (after []int) {
	quarter := min(max(1, epochs/4), epochs-1)
	rounds := min(quarter, earlyRounds)
	for i := range rounds {
		after = append(after, (i+1)*quarter/rounds-1)
	}
	return after
}

// checkShares reports shares of the budget that do not go with the query epochs,
// or do not make up the budget.
func (s Schedule) checkShares(initial float64) error {
	if len(s.QueryShares) == 0 {
		return nil
	}
	if len(s.QueryShares) != len(s.QueryAfter) {
		return fmt.Errorf("config: %d query shares for %d query epochs", len(s.QueryShares), len(s.QueryAfter))
	}
	sum := initial
	for _, share := range s.QueryShares {
		if !(share > 0 && share < 1) {
			return fmt.Errorf("config: query share %v, want above 0 and below 1", share)
		}
		sum += share
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("config: the initial share %v and the query shares %v sum to %v, want 1", initial, s.QueryShares, sum)
	}
	return nil
}

// divide cuts a budget into the labels before training and those to ask for after
// each query epoch.
func (c Config) divide(budget int) (initial int, rounds []int, err error) {
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

// divideShares cuts the budget at the running sums of the shares, each rounded
// down, so that no part of a label is lost; the last query gets what is left.
func (s Schedule) divideShares(initialShare float64, budget, initial int) ([]int, error) {
	counts := make([]int, len(s.QueryShares))
	sum, asked := initialShare, initial
	for i, share := range s.QueryShares {
		sum = math.Round((sum+share)*1e9) / 1e9 // the decimal that was meant
		upTo, err := cluster.Share(min(sum, 1), budget, cluster.Floor)
		if err != nil {
			return nil, err
		}
		if i == len(counts)-1 {
			upTo = budget
		}
		counts[i] = upTo - asked
		asked = upTo
	}
	return counts, nil
}

// list joins names with commas.
func list[T ~string](all []T) string {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = string(t)
	}
	return strings.Join(names, ", ")
}
