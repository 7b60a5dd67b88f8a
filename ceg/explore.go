package ceg

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/cluster"
	"github.com/ledg-go/ledg/ceg/feed"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/seed"
)

// labelInitial labels the first part of the budget, drawn uniformly from the
// pooled sources. A domain that the draw has left out gets the place of the
// last one drawn from the domain with the most, since no batch could be balanced
// otherwise.
func (r *run) labelInitial(ctx context.Context) ([]result.Query, error) {
	ids := r.pool.Unlabelled()
	rng := seed.New(r.c.Seed, "initial labels")
	rng.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	count := make([]int, len(r.sources))
	for _, id := range ids[:r.initial] {
		count[r.sourceOf(id)]++
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
		out := lastIndex(ids[:r.initial], func(id string) bool { return r.sourceOf(id) == most })
		in := r.initial + lastIndex(ids[r.initial:], func(id string) bool { return r.sourceOf(id) == k })
		if in < r.initial {
			return nil, fmt.Errorf("source domain %s has no training images", r.data.Domains[r.sources[k]])
		}
		ids[out], ids[in] = ids[in], ids[out]
		count[most]--
		count[k]++
	}
	return r.ask(ctx, ids[:r.initial], nil)
}

func lastIndex(ids []string, match func(string) bool) int {
	for i := len(ids) - 1; i >= 0; i-- {
		if match(ids[i]) {
			return i
		}
	}
	return -1
}

// explore looks at the pool with the new weights: it asks for labels if this is
// an epoch to do so, and chooses the reliable set of the next one.
func (r *run) explore(ctx context.Context) ([]result.Query, error) {
	n := r.queryNow()
	rebuild := r.mixes() && r.epoch+1 < r.c.Schedule.Epochs
	if n == 0 && !rebuild {
		return nil, nil
	}
	unlabelled, labelled := r.pool.Unlabelled(), r.pool.Labelled()
	var u, x predictions
	var err error
	if rebuild || r.strategy.Needs() != 0 {
		if u, err = r.predict(ctx, unlabelled); err != nil {
			return nil, err
		}
		if x, err = r.predict(ctx, labelledIDs(labelled)); err != nil {
			return nil, err
		}
	}
	defer release(&u, &x)
	var queries []result.Query
	if n > 0 {
		if queries, err = r.query(ctx, n, unlabelled, labelled, u, x); err != nil {
			return nil, err
		}
	}
	if rebuild {
		return queries, r.chooseReliable(u, x, unlabelled, labelled)
	}
	return queries, nil
}

// release gives the memory of predictions back, if it is worth the time: a million
// feature vectors are gigabytes, and would otherwise still be there, as garbage,
// beside those of the next exploration.
func release(list ...*predictions) {
	const worth = 1 << 28 // bytes
	size := 0
	for _, p := range list {
		size += 4 * (len(p.features.Data) + len(p.classLogits.Data) + len(p.domainLogits.Data))
		*p = predictions{}
	}
	if size > worth {
		debug.FreeOSMemory()
	}
}

// queryNow returns how many labels to ask for after this epoch.
func (r *run) queryNow() int {
	i := slices.Index(r.c.Schedule.QueryAfter, r.epoch)
	if i < 0 {
		return 0
	}
	return r.rounds[i]
}

// query asks for the labels of n of the unlabelled examples, which the strategy
// chooses.
func (r *run) query(ctx context.Context, n int, unlabelled []string, labelled []active.Label, u, x predictions) ([]result.Query, error) {
	r.round++
	c := &active.Candidates{
		IDs:              unlabelled,
		Features:         u.features,
		ClassLogits:      u.classLogits,
		DomainLogits:     u.domainLogits,
		LabelledFeatures: x.features,
	}
	for _, id := range unlabelled {
		c.Domains = append(c.Domains, r.sourceOf(id))
	}
	for _, l := range labelled {
		c.LabelledClasses = append(c.LabelledClasses, l.Class)
		c.LabelledDomains = append(c.LabelledDomains, r.sourceOf(l.ID))
	}
	r.sayGreedy(n, len(unlabelled), u.features.Cols)
	picks, err := r.strategy.Query(c, n, seed.New(r.c.Seed, "query", uint64(r.round)))
	if err != nil {
		return nil, fmt.Errorf("query %d: %w", r.round, err)
	}
	return r.ask(ctx, active.IDs(picks), picks)
}

// ask puts examples to the oracle and enters the answers into the pool. The
// picks, if any, say why they were chosen.
func (r *run) ask(ctx context.Context, ids []string, picks []active.Pick) ([]result.Query, error) {
	if err := r.pool.Ask(ctx, r.oracle, r.round, ids); err != nil {
		return nil, err
	}
	queries := make([]result.Query, len(ids))
	for i, id := range ids {
		label, _ := r.pool.Label(id)
		queries[i] = result.Query{Round: r.round, ID: id, Domain: r.data.Domains[r.sources[r.sourceOf(id)]], Class: r.data.Classes[label.Class]}
		if picks != nil && picks[i].Scored {
			p := picks[i]
			queries[i].Scores = &result.Scores{Su: p.Su, Sr: p.Sr, Sd: p.Sd, RankU: p.RankSu, RankR: p.RankSr, RankD: p.RankSd, R: p.R}
		}
	}
	return queries, nil
}

// chooseReliable chooses the reliable set of the next epoch among the examples
// that are still unlabelled, by their distance to the knowledge centroids.
func (r *run) chooseReliable(u, x predictions, unlabelled []string, labelled []active.Label) error {
	g := r.c.Generalization
	// Queried examples have moved to the labelled ones; their features have not
	// changed.
	free, asked := []int{}, []int{} // not nil, which means all
	for i, id := range unlabelled {
		if l, ok := r.pool.Label(id); ok {
			asked, labelled = append(asked, i), append(labelled, l)
		} else {
			free = append(free, i)
		}
	}
	features := join(x.features, rows(u.features, asked))
	domains, classes := make([]int, len(labelled)), make([]int, len(labelled))
	for i, l := range labelled {
		domains[i], classes[i] = r.sourceOf(l.ID), l.Class
	}
	centroids, err := cluster.Compute(features, domains, classes, len(r.sources), len(r.data.Classes), r.c.Exploration.space())
	if err != nil {
		return fmt.Errorf("centroids: %w", err)
	}
	t := cluster.Threshold{Start: g.ThresholdStart, End: g.ThresholdEnd, Epochs: r.c.Schedule.Epochs}
	finished := r.epoch + 1
	var count int
	if g.Base == OfAll {
		count, err = t.CountPublished(finished, r.pool.Len())
	} else {
		count, err = t.Count(finished, len(free), cluster.HalfEven)
	}
	if err != nil {
		return fmt.Errorf("reliable set: %w", err)
	}
	var set cluster.Reliable
	if g.Reliable == QuotaRandom {
		set, err = centroids.QuotaRandomOf(u.features, free, count, cluster.PublishedCells, seed.New(r.c.Seed, "reliable set", uint64(r.epoch)))
	} else {
		set, err = centroids.ClosestOf(u.features, free, count)
	}
	if err != nil {
		return fmt.Errorf("reliable set: %w", err)
	}
	r.reliable = reliableSet{labels: set.Labels()}
	for _, i := range set.Index {
		r.reliable.examples = append(r.reliable.examples, r.example(unlabelled[free[i]]))
	}
	return nil
}

// mixes reports whether the objective trains with reliable images.
func (r *run) mixes() bool { return r.objective.Uses(objective.Reliable) }

// pools are what the next epoch draws its batches from, with the views that the
// losses need.
func (r *run) pools() feed.Pools {
	var p feed.Pools
	add := func(dst *feed.Pool, id string) {
		dst.Example = append(dst.Example, r.example(id))
		dst.Domain = append(dst.Domain, r.sourceOf(id))
	}
	for _, l := range r.pool.Labelled() {
		add(&p.Labelled, l.ID)
		p.Labelled.Label = append(p.Labelled.Label, l.Class)
	}
	for _, id := range r.pool.Unlabelled() {
		add(&p.Unlabelled, id)
	}
	p.Labelled.Views = r.objective.Views(objective.Labelled)
	if len(p.Unlabelled.Example) > 0 { // else everything is labelled
		p.Unlabelled.Views = r.objective.Views(objective.Unlabelled)
	}
	if r.mixes() && len(r.reliable.examples) > 0 {
		p.Reliable.Views = r.objective.Views(objective.Reliable)
		p.Reliable.Label = r.reliable.labels
		for _, x := range r.reliable.examples {
			p.Reliable.Example = append(p.Reliable.Example, x)
			p.Reliable.Domain = append(p.Reliable.Domain, r.source[r.data.Examples[x].Domain])
		}
	}
	return p
}

// predict runs the networks over examples of the pool.
func (r *run) predict(ctx context.Context, ids []string) (predictions, error) {
	examples := make([]int, len(ids))
	for i, id := range ids {
		examples[i] = r.example(id)
	}
	return r.look(ctx, examples)
}

// example returns the data set's index of an example of the pool.
func (r *run) example(id string) int {
	i, _ := r.data.Index(id) // the pool was made from the data set
	return i
}

// sourceOf returns the source domain of an example of the pool.
func (r *run) sourceOf(id string) int { return r.source[r.data.Examples[r.example(id)].Domain] }

// rows copies some rows of a matrix.
func rows(m cluster.Matrix, index []int) cluster.Matrix {
	out := cluster.Matrix{Rows: len(index), Cols: m.Cols, Stride: m.Cols, Data: make([]float32, 0, len(index)*m.Cols)}
	for _, i := range index {
		out.Data = append(out.Data, m.Data[i*m.Stride:i*m.Stride+m.Cols]...)
	}
	return out
}

// join puts the rows of b under those of a.
func join(a, b cluster.Matrix) cluster.Matrix {
	return cluster.Matrix{Rows: a.Rows + b.Rows, Cols: a.Cols, Stride: a.Cols, Data: append(append([]float32{}, a.Data...), b.Data...)}
}

func labelledIDs(labels []active.Label) []string {
	ids := make([]string, len(labels))
	for i, l := range labels {
		ids[i] = l.ID
	}
	return ids
}

// softmaxRows turns logits into probabilities, row by row, in float64.
func softmaxRows(logits cluster.Matrix) cluster.Matrix {
	out := cluster.Matrix{Rows: logits.Rows, Cols: logits.Cols, Stride: logits.Cols, Data: make([]float32, logits.Rows*logits.Cols)}
	row := make([]float64, logits.Cols)
	for i := range logits.Rows {
		for j := range row {
			row[j] = float64(logits.Data[i*logits.Stride+j])
		}
		active.Softmax(row, row)
		for j, v := range row {
			out.Data[i*out.Stride+j] = float32(v)
		}
	}
	return out
}
