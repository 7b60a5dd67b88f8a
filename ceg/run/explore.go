package run

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/evaluate"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/learner/trainer"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
	"github.com/ledg-go/ledg/datasets/seed"
)

// explorer is the exploration of Algorithm 1: it runs the current networks on the pool, selects
// the queries and the reliable set.
type explorer struct {
	campaign *campaign.Campaign
	// look asks the networks about examples of the data set.
	look func(ctx context.Context, examples []int) (trainer.Predictions, error)
	// names returns the class logits of names alone; no rows without names.
	names    func(examples []int) (cluster.Matrix, error)
	strategy active.Strategy
	// initial chooses the initial labels; nil for the draw from the pooled sources.
	initial active.Strategy
	// exploration is the config of the two, and shared remembers what initial chose.
	exploration config.Exploration
	shared      *examples.Shared
	// blank is true if the network starts from random weights.
	blank bool
	// mixes is true if training uses reliable sets.
	mixes bool
	g     config.Generalization
	space cluster.Space
	// epochs is the number of epochs of the run.
	epochs   int
	seed     uint64
	reporter *reporter
}

// reliableSet holds examples and their pseudo-labels.
type reliableSet struct{ examples, labels []int }

// newExplorer makes the explorer of a config, with nothing to look with.
func newExplorer(c Config, p *campaign.Campaign, v *reporter) (*explorer, error) {
	strategy, err := c.Exploration.QueryStrategy(c.Seed, p.ClassCount())
	if err != nil {
		return nil, err
	}
	initial, err := c.Exploration.InitialStrategy(c.Seed, p.ClassCount())
	return &explorer{campaign: p, strategy: strategy, initial: initial, exploration: c.Exploration, blank: c.Network.Weights == nil && c.Network.Name != config.Linear, mixes: objective.New(c).Uses(objective.Reliable), g: c.Generalization,
		space: c.Exploration.Space(), epochs: c.Schedule.Epochs, seed: c.Seed, reporter: v}, err
}

// view is what the networks say about the pool as it is, once somebody wants to know.
type view struct {
	unlabelled []string
	labelled   []active.Label
	u, x       trainer.Predictions // of the unlabelled and the labelled examples
	look       func() error
}

// view returns the view of the present pool.
func (x *explorer) view(ctx context.Context) *view {
	v := &view{unlabelled: x.campaign.Unlabelled(), labelled: x.campaign.Labelled()}
	looked := false
	v.look = func() (err error) {
		if looked {
			return nil
		}
		looked = true
		if v.u, err = x.look(ctx, x.campaign.Examples(v.unlabelled)); err != nil {
			return err
		}
		v.x, err = x.look(ctx, x.campaign.Examples(labelledIDs(v.labelled)))
		return err
	}
	return v
}

// explore predicts the pool after an epoch, queries labels if this is a query epoch, and selects
// the reliable set of the next epoch if it needs one.
func (x *explorer) explore(ctx context.Context, epoch int) (queries []result.Query, set reliableSet, err error) {
	n := x.campaign.QueriesAfter(epoch)
	rebuild := x.mixes && epoch+1 < x.epochs
	if n == 0 && !rebuild {
		return nil, set, nil
	}
	v := x.view(ctx)
	defer release(&v.u, &v.x)
	if n > 0 {
		queries, err = x.campaign.Query(ctx, n, func(n int, may func(string) bool) ([]labels.Question, error) { return x.query(v, n, may) })
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

// release gives the memory of predictions back, if it is worth the time: a million feature vectors
// are gigabytes, and would otherwise stay in memory, as garbage, during the next exploration.
func release(list ...*trainer.Predictions) {
	const worth = 1 << 28 // bytes
	size := 0
	for _, p := range list {
		size += 4 * (len(p.Features.Data) + len(p.ClassLogits.Data) + len(p.DomainLogits.Data))
		*p = trainer.Predictions{}
	}
	if size > worth {
		debug.FreeOSMemory()
	}
}

// query selects up to n queries of the next round among the unlabelled examples for which may is
// true; among all that the oracle knows if may is nil.
func (x *explorer) query(v *view, n int, may func(id string) bool) ([]labels.Question, error) {
	p, needs := x.campaign, x.strategy.Needs() != 0
	if needs {
		if err := v.look(); err != nil {
			return nil, err
		}
	}
	c, at := x.candidates(v.unlabelled, may)
	c.LabelledFeatures, c.LabelledClassLogits = v.x.Features, v.x.ClassLogits
	c.LabelledGroups = p.Groups(labelledIDs(v.labelled))
	if needs {
		c.Features, c.ClassLogits, c.DomainLogits = cluster.SelectRows(v.u.Features, at), cluster.SelectRows(v.u.ClassLogits, at), cluster.SelectRows(v.u.DomainLogits, at)
	}
	for _, l := range v.labelled {
		c.LabelledClasses = append(c.LabelledClasses, l.Class)
		c.LabelledDomains = append(c.LabelledDomains, p.SourceOf(l.ID))
	}
	round := p.Round + 1
	picks, err := x.choose(fmt.Sprint("query ", round), x.strategy, c, n, seed.New(x.seed, "query", uint64(round)))
	if err != nil {
		return nil, fmt.Errorf("query %d: %w", round, err)
	}
	list := make([]labels.Question, len(picks))
	own := x.exploration.StrategyCode != "" && slices.ContainsFunc(picks, func(k active.Pick) bool { return k.Score != 0 }) // else it has no scores
	for i, k := range picks {
		if list[i] = campaign.Question(k, own); !needs {
			continue
		}
		if list[i].QueryInfo == nil {
			list[i].QueryInfo = new(labels.QueryInfo)
		}
		list[i].QueryInfo.Predicted, list[i].QueryInfo.Probability = predicted(c.ClassLogits, k.Index, p.Data.Classes)
	}
	return list, nil
}

// candidates returns the examples of ids for which may is true, and their rows in ids.
func (x *explorer) candidates(ids []string, may func(id string) bool) (c *active.Candidates, at []int) {
	c = &active.Candidates{}
	for i, id := range ids {
		if x.campaign.CanQuery(id) && (may == nil || may(id)) {
			at = append(at, i)
			c.IDs, c.Domains = append(c.IDs, id), append(c.Domains, x.campaign.SourceOf(id))
		}
	}
	c.Groups = x.campaign.Groups(c.IDs)
	return c, at
}

// grouped returns a strategy that queries one example of each group before a second, if there
// are groups.
func (x *explorer) grouped(s active.Strategy) active.Strategy {
	if x.campaign.Data.Groups == nil {
		return s
	}
	return active.Grouped{Strategy: s, TieSeed: x.seed}
}

// choose lets a strategy choose up to n candidates, and says before if that takes long.
func (x *explorer) choose(what string, s active.Strategy, c *active.Candidates, n int, r *rand.Rand) ([]active.Pick, error) {
	s = x.grouped(s)
	if n = min(n, len(c.IDs)); n == 0 {
		return nil, nil
	}
	notes := []string{greedyNote(s.Name(), n, len(c.IDs), c.Features.Cols, runtime.GOMAXPROCS(0))}
	if l, ok := s.(active.Limited); ok {
		notes = append(notes, l.Limits(n, len(c.IDs), c.Features.Cols))
	}
	for _, note := range notes {
		if note != "" {
			x.reporter.say("%s: %s", what, note)
		}
	}
	picks, err := s.Query(c, n, r)
	if len(c.IDs)*c.Features.Cols > manyFeatures { // what it computed with is larger than they, and garbage
		debug.FreeOSMemory()
	}
	return picks, err
}

// manyFeatures is the number of candidates' features from which a strategy's memory is returned
// to the system.
const manyFeatures = 1 << 22

// predicted returns the predicted class of a row of logits, and its probability.
func predicted(logits cluster.Matrix, row int, classes []string) (string, float64) {
	v := logits.Data[row*logits.Stride:][:logits.Cols]
	p := calibration.Softmax(v, 1)
	best := evaluate.ArgMax(v)
	return classes[best], p[best]
}

// chooseReliable chooses the reliable set of the epoch after one among the examples
// that are still unlabelled, by their distance to the knowledge centroids.
func (x *explorer) chooseReliable(epoch int, pu, px trainer.Predictions, unlabelled []string, labelled []active.Label) (set reliableSet, err error) {
	p := x.campaign
	// Queried examples have moved to the labelled ones; their features have not
	// changed.
	free, queried := []int{}, []int{} // not nil, which means all
	for i, id := range unlabelled {
		if l, ok := p.Label(id); ok {
			queried, labelled = append(queried, i), append(labelled, l)
		} else if !p.IsGone(id) {
			free = append(free, i)
		}
	}
	features := cluster.Join(px.Features, cluster.SelectRows(pu.Features, queried))
	domains, classes := make([]int, len(labelled)), make([]int, len(labelled))
	for i, l := range labelled {
		domains[i], classes[i] = p.SourceOf(l.ID), l.Class
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
		count, err = t.Count(finished, len(free))
	}
	if err != nil {
		return set, fmt.Errorf("reliable set: %w", err)
	}
	var near cluster.Reliable
	if x.g.Reliable == config.QuotaRandom {
		near, err = centroids.QuotaRandom(pu.Features, free, count, seed.New(x.seed, "reliable set", uint64(epoch)))
	} else {
		near, err = centroids.Closest(pu.Features, free, count)
	}
	if err != nil {
		return set, fmt.Errorf("reliable set: %w", err)
	}
	set.labels = near.Labels()
	for _, i := range near.Index {
		set.examples = append(set.examples, p.Example(unlabelled[free[i]]))
	}
	return set, nil
}

func labelledIDs(labels []active.Label) []string {
	ids := make([]string, len(labels))
	for i, l := range labels {
		ids[i] = l.ID
	}
	return ids
}
