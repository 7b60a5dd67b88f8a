package ceg

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/seed"
	"github.com/ledg-go/ledg/datasets"
)

// pool is the first part of a run: what may be asked about, which are the training
// examples of the source domains, and which of them are labelled; who answers; and
// how many labels may be spent, and when. It and its judge alone hold the truth.
type pool struct {
	*active.Pool
	data *datasets.Dataset
	// sources are the source domains, as numbers of the data set, and source their
	// positions in it.
	sources []int
	source  map[int]int
	// places are the data set's indices of the pool's examples, in its order.
	places []int
	oracle active.Oracle
	judge  judge

	// budget is the number of labels to spend, initial the part of it before
	// training, and rounds that of each query epoch, which queryAfter lists.
	budget, initial    int
	rounds, queryAfter []int
	// round is the number of query rounds so far.
	round int
}

// newPool finds sources and target in a data set, and resolves the budget. Nothing
// is labelled.
func newPool(c Config, data *datasets.Dataset, truth datasets.Truth) (*pool, error) {
	if len(data.Classes) < 2 {
		return nil, &SettingError{"classes", fmt.Errorf("data set %s has %d classes: where folders and labels do not name two at least, give their names, as a,b,c or a file", data.Name, len(data.Classes))}
	}
	target, err := data.Domain(c.Data.Target)
	if err != nil {
		return nil, &SettingError{"target", err}
	}
	p := &pool{
		data: data, source: map[int]int{}, queryAfter: c.Schedule.QueryAfter, judge: judge{data, truth, target},
		oracle: active.Simulated(func(id string) int {
			i, ok := data.Index(id)
			if !ok {
				return -1
			}
			return truth.Class(i)
		}),
	}
	for d := range data.Domains {
		if d != target {
			p.source[d] = len(p.sources)
			p.sources = append(p.sources, d)
		}
	}
	if len(p.sources) == 0 {
		return nil, &SettingError{"target", fmt.Errorf("data set %s has the domain %s alone: nothing to train on", data.Name, c.Data.Target)}
	}
	var ids []string
	var domains []int
	for i, e := range data.Examples {
		if k, ok := p.source[e.Domain]; ok && e.Split == datasets.Train {
			ids, domains, p.places = append(ids, e.ID), append(domains, k), append(p.places, i)
		}
	}
	if p.Pool, err = active.NewPool(ids, domains, len(p.sources), len(data.Classes)); err != nil {
		return nil, err
	}
	if err := p.divideBudget(c); err != nil {
		return nil, &SettingError{"budget", err}
	}
	return p, nil
}

// divideBudget resolves the budget into initial labels and rounds of queries.
func (p *pool) divideBudget(c Config) error {
	budget, err := active.ParseBudget(c.Exploration.Budget)
	if err != nil {
		return err
	}
	if p.budget, err = budget.Labels(p.Len()); err != nil {
		return err
	}
	if p.initial, p.rounds, err = c.divide(p.budget); err != nil {
		return err
	}
	if p.initial < len(p.sources) {
		return fmt.Errorf("budget %s of %d images leaves %d initial labels for %d source domains, and every domain needs one",
			budget, p.Len(), p.initial, len(p.sources))
	}
	return nil
}

// restore gives the pool, which has no labels, those of a checkpoint. It returns an
// error if that is of other examples. path names it.
func (p *pool) restore(path string, c checkpoint) error {
	err := p.Restore(c.Pool)
	var other *active.OtherSamplesError
	switch {
	case errors.As(err, &other):
		return fmt.Errorf("%s: the run began with other source training images than data set %s has now (%d then, %d now): %s",
			path, p.data.Name, other.Then, other.Now, other.Change)
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	p.round = c.Round
	return nil
}

// labelInitial labels the first part of the budget, drawn uniformly from the
// pooled sources. A domain that the draw has left out gets the place of the
// last one drawn from the domain with the most, since no batch could be balanced
// otherwise.
func (p *pool) labelInitial(ctx context.Context, runSeed uint64) ([]result.Query, error) {
	ids := p.Unlabelled()
	rng := seed.New(runSeed, "initial labels")
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	count := make([]int, len(p.sources))
	for _, id := range ids[:p.initial] {
		count[p.sourceOf(id)]++
	}
	for k := range count {
		if count[k] > 0 {
			continue
		}
		most := 0
		for j := range count {
			if count[j] > count[most] {
				most = j
			}
		}
		out := lastIndex(ids[:p.initial], func(id string) bool { return p.sourceOf(id) == most })
		in := p.initial + lastIndex(ids[p.initial:], func(id string) bool { return p.sourceOf(id) == k })
		if in < p.initial {
			return nil, fmt.Errorf("source domain %s has no training images", p.sourceName(k))
		}
		ids[out], ids[in] = ids[in], ids[out]
		count[most]--
		count[k]++
	}
	return p.ask(ctx, ids[:p.initial], nil)
}

func lastIndex(ids []string, match func(string) bool) int {
	for i := len(ids) - 1; i >= 0; i-- {
		if match(ids[i]) {
			return i
		}
	}
	return -1
}

// asksAfter returns how many labels to ask for after an epoch.
func (p *pool) asksAfter(epoch int) int {
	i := slices.Index(p.queryAfter, epoch)
	if i < 0 {
		return 0
	}
	return p.rounds[i]
}

// sharedEpochs is the number of epochs before the first query epoch, 0 if nothing
// will be asked.
func (p *pool) sharedEpochs() int {
	for i, epoch := range p.queryAfter {
		if p.rounds[i] > 0 {
			return epoch
		}
	}
	return 0
}

// ask puts examples to the oracle and enters the answers into the pool. The
// picks, if any, say why they were chosen.
func (p *pool) ask(ctx context.Context, ids []string, picks []active.Pick) ([]result.Query, error) {
	if err := p.Ask(ctx, p.oracle, p.round, ids); err != nil {
		return nil, err
	}
	queries := make([]result.Query, len(ids))
	for i, id := range ids {
		label, _ := p.Label(id)
		queries[i] = result.Query{Round: p.round, ID: id, Domain: p.sourceName(p.sourceOf(id)), Class: p.data.Classes[label.Class]}
		if picks != nil && picks[i].Scored {
			k := picks[i]
			queries[i].Scores = &result.Scores{Su: k.Su, Sr: k.Sr, Sd: k.Sd, RankU: k.RankSu, RankR: k.RankSr, RankD: k.RankSd, R: k.R}
		}
	}
	return queries, nil
}

// batches are what an epoch draws its batches from, with the views that an
// objective needs.
func (p *pool) batches(o objective.Objective, set reliableSet) feed.Pools {
	var pools feed.Pools
	add := func(dst *feed.Pool, id string) {
		dst.Example = append(dst.Example, p.example(id))
		dst.Domain = append(dst.Domain, p.sourceOf(id))
	}
	for _, l := range p.Labelled() {
		add(&pools.Labelled, l.ID)
		pools.Labelled.Label = append(pools.Labelled.Label, l.Class)
	}
	for _, id := range p.Unlabelled() {
		add(&pools.Unlabelled, id)
	}
	pools.Labelled.Views = o.Views(objective.Labelled)
	if len(pools.Unlabelled.Example) > 0 { // else everything is labelled
		pools.Unlabelled.Views = o.Views(objective.Unlabelled)
	}
	if o.Uses(objective.Reliable) && len(set.examples) > 0 {
		pools.Reliable.Views = o.Views(objective.Reliable)
		pools.Reliable.Label = set.labels
		for _, x := range set.examples {
			pools.Reliable.Example = append(pools.Reliable.Example, x)
			pools.Reliable.Domain = append(pools.Reliable.Domain, p.source[p.data.Examples[x].Domain])
		}
	}
	return pools
}

// sourceNames are the names of the source domains.
func (p *pool) sourceNames() (names []string) {
	for k := range p.sources {
		names = append(names, p.sourceName(k))
	}
	return names
}

func (p *pool) sourceName(k int) string { return p.data.Domains[p.sources[k]] }

// example returns the data set's index of an example of the pool.
func (p *pool) example(id string) int {
	i, _ := p.data.Index(id) // the pool was made from the data set
	return i
}

func (p *pool) examples(ids []string) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = p.example(id)
	}
	return list
}

// sourceOf returns the source domain of an example of the pool.
func (p *pool) sourceOf(id string) int { return p.source[p.data.Examples[p.example(id)].Domain] }
