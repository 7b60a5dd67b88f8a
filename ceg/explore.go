package ceg

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/cluster"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/seed"
)

// explorer is the exploration of Algorithm 1: it looks at the pool with the networks
// as they are, chooses what to ask about, and the reliable set.
type explorer struct {
	pool *pool
	// look asks the networks about examples of the data set.
	look     func(ctx context.Context, examples []int) (predictions, error)
	strategy active.Strategy
	// initial chooses the initial labels; nil for the draw from the pooled sources.
	initial active.Strategy
	// blank says that the network starts from random weights.
	blank bool
	// mixes says that training calls for reliable sets.
	mixes bool
	g     config.Generalization
	space cluster.Space
	// epochs is the number of epochs of the run.
	epochs int
	seed   uint64
	voice  *voice
}

// reliableSet holds examples and their pseudo-labels.
type reliableSet struct{ examples, labels []int }

// newExplorer makes the explorer of a config, with nothing to look with.
func newExplorer(c Config, p *pool, v *voice) (*explorer, error) {
	strategy, err := c.Exploration.QueryStrategy(c.Seed, p.ClassCount())
	if err != nil {
		return nil, err
	}
	initial, err := c.Exploration.InitialStrategy(c.Seed, p.ClassCount())
	return &explorer{pool: p, strategy: strategy, initial: initial, blank: c.Network.Weights == nil && c.Network.Name != "linear", mixes: objective.New(c).Uses(objective.Reliable), g: c.Generalization,
		space: c.Exploration.Space(), epochs: c.Schedule.Epochs, seed: c.Seed, voice: v}, err
}

// view is what the networks say about the pool as it is, once somebody wants to know.
type view struct {
	unlabelled []string
	labelled   []active.Label
	u, x       predictions // of the unlabelled and the labelled examples
	look       func() error
}

// view returns that of the present pool.
func (x *explorer) view(ctx context.Context) *view {
	v := &view{unlabelled: x.pool.Unlabelled(), labelled: x.pool.Labelled()}
	looked := false
	v.look = func() (err error) {
		if looked {
			return nil
		}
		looked = true
		if v.u, err = x.look(ctx, x.pool.examples(v.unlabelled)); err != nil {
			return err
		}
		v.x, err = x.look(ctx, x.pool.examples(labelledIDs(v.labelled)))
		return err
	}
	return v
}

// explore looks at the pool after an epoch: it asks for labels if this is an epoch
// to do so, and chooses the reliable set of the next one, if that needs one.
func (x *explorer) explore(ctx context.Context, epoch int) (queries []result.Query, set reliableSet, err error) {
	n := x.pool.asksAfter(epoch)
	rebuild := x.mixes && epoch+1 < x.epochs
	if n == 0 && !rebuild {
		return nil, set, nil
	}
	v := x.view(ctx)
	defer release(&v.u, &v.x)
	if n > 0 {
		queries, err = x.pool.ask(ctx, n, func(n int, may func(string) bool) ([]question, error) { return x.query(v, n, may) })
		if err != nil {
			return nil, set, err
		}
	}
	if rebuild {
		if err := v.look(); err != nil {
			return nil, set, err
		}
		set, err = x.chooseReliable(epoch, v.u, v.x, v.unlabelled, v.labelled)
	}
	return queries, set, err
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

// query chooses up to n questions of the next round among the unlabelled examples
// that may be asked about; of all that the oracle knows if may is nil.
func (x *explorer) query(v *view, n int, may func(id string) bool) ([]question, error) {
	p, needs := x.pool, x.strategy.Needs() != 0
	round := p.round + 1
	if needs {
		if err := v.look(); err != nil {
			return nil, err
		}
	}
	var at []int // rows of the candidates
	c := &active.Candidates{LabelledFeatures: v.x.features, LabelledClassLogits: v.x.classLogits}
	for i, id := range v.unlabelled {
		if p.oracle.knows(p.example(id)) && (may == nil || may(id)) {
			at = append(at, i)
			c.IDs, c.Domains = append(c.IDs, id), append(c.Domains, p.sourceOf(id))
		}
	}
	if len(c.IDs) == 0 {
		return nil, nil
	}
	if needs {
		c.Features, c.ClassLogits, c.DomainLogits = pickRows(v.u.features, at), pickRows(v.u.classLogits, at), pickRows(v.u.domainLogits, at)
	}
	for _, l := range v.labelled {
		c.LabelledClasses = append(c.LabelledClasses, l.Class)
		c.LabelledDomains = append(c.LabelledDomains, p.sourceOf(l.ID))
	}
	n = min(n, len(c.IDs))
	x.warn(fmt.Sprint("query ", round), x.strategy, n, c)
	picks, err := x.strategy.Query(c, n, seed.New(x.seed, "query", uint64(round)))
	if err != nil {
		return nil, fmt.Errorf("query %d: %w", round, err)
	}
	list := make([]question, len(picks))
	for i, k := range picks {
		list[i].Pick = k
		if needs {
			list[i].guess, list[i].probability = guess(c.ClassLogits, k.Index, p.data.Classes)
		}
		list[i].Index = p.example(k.ID)
	}
	return list, nil
}

// guess returns the class that a row of logits speaks for, and its probability.
func guess(logits cluster.Matrix, row int, classes []string) (string, float64) {
	v := logits.Data[row*logits.Stride:][:logits.Cols]
	p := make([]float64, len(v))
	for j, z := range v {
		p[j] = float64(z)
	}
	active.Softmax(p, p)
	best := argMax(v)
	return classes[best], p[best]
}

// pickRows is rows, but for all of them the matrix itself.
func pickRows(m cluster.Matrix, index []int) cluster.Matrix {
	if len(index) == m.Rows {
		return m
	}
	return rows(m, index)
}

// chooseReliable chooses the reliable set of the epoch after one among the examples
// that are still unlabelled, by their distance to the knowledge centroids.
func (x *explorer) chooseReliable(epoch int, pu, px predictions, unlabelled []string, labelled []active.Label) (set reliableSet, err error) {
	p := x.pool
	// Queried examples have moved to the labelled ones; their features have not
	// changed.
	free, asked := []int{}, []int{} // not nil, which means all
	for i, id := range unlabelled {
		if l, ok := p.Label(id); ok {
			asked, labelled = append(asked, i), append(labelled, l)
		} else if !p.IsGone(id) {
			free = append(free, i)
		}
	}
	features := join(px.features, rows(pu.features, asked))
	domains, classes := make([]int, len(labelled)), make([]int, len(labelled))
	for i, l := range labelled {
		domains[i], classes[i] = p.sourceOf(l.ID), l.Class
	}
	centroids, err := cluster.Compute(features, domains, classes, p.DomainCount(), p.ClassCount(), x.space)
	if err != nil {
		return set, fmt.Errorf("centroids: %w", err)
	}
	t := cluster.Threshold{Start: x.g.ThresholdStart, End: x.g.ThresholdEnd, Epochs: x.epochs}
	finished := epoch + 1
	var count int
	if x.g.Base == config.OfAll {
		count, err = t.CountPublished(finished, p.Len())
	} else {
		count, err = t.Count(finished, len(free), cluster.HalfEven)
	}
	if err != nil {
		return set, fmt.Errorf("reliable set: %w", err)
	}
	var near cluster.Reliable
	if x.g.Reliable == config.QuotaRandom {
		near, err = centroids.QuotaRandomOf(pu.features, free, count, seed.New(x.seed, "reliable set", uint64(epoch)))
	} else {
		near, err = centroids.ClosestOf(pu.features, free, count)
	}
	if err != nil {
		return set, fmt.Errorf("reliable set: %w", err)
	}
	set.labels = near.Labels()
	for _, i := range near.Index {
		set.examples = append(set.examples, p.example(unlabelled[free[i]]))
	}
	return set, nil
}

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
