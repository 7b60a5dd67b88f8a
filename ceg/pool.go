package ceg

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
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
	oracle oracle
	judge  judge

	// budget is the number of labels to spend, initial the part of it before
	// training, and rounds that of each query epoch, which queryAfter lists.
	budget, initial    int
	rounds, queryAfter []int
	// round is the number of query rounds so far.
	round int
	// unasked and withdrawn are the numbers of labels that were given without being
	// asked for, and of those that were taken back.
	unasked, withdrawn int
}

// newPool finds sources and target in a data set, and resolves the budget. Nothing
// is labelled.
func newPool(c Config, data *datasets.Dataset, truth datasets.Truth) (*pool, error) {
	if len(data.Classes) < 2 {
		return nil, &config.Error{Path: "data.classes", Err: fmt.Errorf("data set %s has %d classes: where folders and labels do not name two at least, give their names, as a,b,c or a file", data.Name, len(data.Classes))}
	}
	target, err := targetOf(c.Data, data)
	if err != nil {
		return nil, &config.Error{Path: "data.target", Err: err}
	}
	p := &pool{data: data, source: map[int]int{}, queryAfter: c.Schedule.QueryAfter, judge: judge{data, truth, target},
		oracle: simulated{truth.Class}}
	for d := range data.Domains {
		if d != target {
			p.source[d] = len(p.sources)
			p.sources = append(p.sources, d)
		}
	}
	if len(p.sources) == 0 {
		return nil, &config.Error{Path: "data.target", Err: fmt.Errorf("data set %s has the domain %s alone: nothing to train on", data.Name, c.Data.Target)}
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
		return nil, &config.Error{Path: "exploration.budget", Err: err}
	}
	return p, nil
}

// targetOf returns the number of the target domain, -1 for none.
func targetOf(d config.Data, data *datasets.Dataset) (int, error) {
	named := slices.Index(data.Domains, d.Target)
	switch {
	case d.Target != config.NoTarget:
		return data.Domain(d.Target)
	case named >= 0:
		return 0, fmt.Errorf("data set %s has a domain called %s, which as a target means that there is none; give the domain another name", data.Name, d.Target)
	}
	return -1, nil
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
	if p.initial, p.rounds, err = c.DivideBudget(p.budget); err != nil {
		return err
	}
	return nil
}

// open lets an oracle answer, and finds out whether the budget makes sense with it.
func (p *pool) open(o oracle, budget string) error {
	p.oracle = o
	known, need := 0, len(p.sources)
	for _, x := range p.places {
		if o.knows(x) {
			known++
		}
	}
	if known < p.budget {
		return &config.Error{Path: "exploration.budget", Err: fmt.Errorf("budget %s is %d labels, and the class of only %d of the %d source training images is known; with the oracle %s people are asked",
			budget, p.budget, known, p.Len(), config.People)}
	}
	have := make([]int, len(p.sources))
	for _, a := range o.given() {
		if k := p.sourceOf(a.ID); have[k] == 0 {
			have[k]++
			need--
		}
	}
	if p.initial < need {
		return &config.Error{Path: "exploration.budget", Err: fmt.Errorf("budget %s of %d images leaves %d initial labels for %d source domains, and every domain needs one",
			budget, p.Len(), p.initial, need)}
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
	p.round, p.unasked, p.withdrawn = c.Round, c.Unasked, c.Withdrawn
	return nil
}

// first is what the initial labels begin with: those that are given, with the number of
// them in every domain; the examples that may be asked about; and how many to ask for.
type first struct {
	given []answer
	have  []int
	ids   []string
	n     int
}

func (p *pool) first() first {
	f := first{given: p.oracle.given(), have: make([]int, len(p.sources))}
	skip := make(map[string]bool, len(f.given))
	for _, a := range f.given {
		skip[a.ID] = true
		f.have[p.sourceOf(a.ID)]++
	}
	need := 0
	for _, n := range f.have {
		if n == 0 {
			need++
		}
	}
	f.ids = slices.DeleteFunc(p.Unlabelled(), func(id string) bool { return skip[id] || !p.oracle.knows(p.example(id)) })
	f.n = min(max(p.initial-len(f.given), need), len(f.ids))
	return f
}

// begin enters the initial labels, those that are given and those that are asked for.
func (p *pool) begin(ctx context.Context, f first, choose chooser) ([]result.Query, error) {
	answers, err := p.oracle.round(ctx, 0, f.n, choose)
	if err != nil {
		return nil, err
	}
	p.unasked = len(f.given)
	return p.record(0, append(f.given, answers...))
}

// labelInitial labels the first part of the budget: what is given, and for the rest
// examples drawn uniformly from the pooled sources. A domain that the draw has left
// out gets the place of the last one drawn from the domain with the most, since no
// batch could be balanced otherwise.
func (p *pool) labelInitial(ctx context.Context, runSeed uint64) ([]result.Query, error) {
	f := p.first()
	rng := seed.New(runSeed, "initial labels")
	rng.Shuffle(len(f.ids), func(i, j int) { f.ids[i], f.ids[j] = f.ids[j], f.ids[i] })
	if err := p.cover(f.ids, f.n, f.have); err != nil {
		return nil, err
	}
	return p.begin(ctx, f, func(n int, may func(string) bool) (list []question, err error) {
		for _, id := range f.ids {
			if len(list) == n {
				break
			}
			if may == nil || may(id) {
				list = append(list, question{Pick: active.Pick{Index: p.example(id), ID: id}})
			}
		}
		return list, nil
	})
}

// cover changes the first n of ids such that every domain is among them that has no
// labels yet.
func (p *pool) cover(ids []string, n int, have []int) error {
	drawn := make([]int, len(have))
	for _, id := range ids[:n] {
		drawn[p.sourceOf(id)]++
	}
	for k := range have {
		if have[k]+drawn[k] > 0 {
			continue
		}
		most := -1
		for j := range drawn {
			if drawn[j] > 0 && have[j]+drawn[j] > 1 && (most < 0 || drawn[j] > drawn[most]) {
				most = j
			}
		}
		out := lastIndex(ids[:n], func(id string) bool { return p.sourceOf(id) == most })
		in := n + lastIndex(ids[n:], func(id string) bool { return p.sourceOf(id) == k })
		if in < n || out < 0 {
			return fmt.Errorf("source domain %s has no training images that can be asked for", p.sourceName(k))
		}
		ids[out], ids[in] = ids[in], ids[out]
		drawn[most]--
		drawn[k]++
	}
	return nil
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

// ask asks for n labels in the next round and enters the answers into the pool.
func (p *pool) ask(ctx context.Context, n int, choose chooser) ([]result.Query, error) {
	answers, err := p.oracle.round(ctx, p.round+1, n, choose)
	if err != nil {
		return nil, err
	}
	p.round++
	return p.record(p.round, answers)
}

// record enters answers into the pool.
func (p *pool) record(round int, answers []answer) ([]result.Query, error) {
	queries := make([]result.Query, len(answers))
	for first := 0; first < len(answers); {
		last := first
		var ids []string
		var classes []int
		for ; last < len(answers) && answers[last].by == answers[first].by; last++ {
			a := answers[last]
			ids, classes = append(ids, a.ID), append(classes, a.class)
			q := &queries[last]
			*q = result.Query{Round: round, ID: a.ID, Domain: p.sourceName(p.sourceOf(a.ID)), Class: p.data.Classes[max(a.class, 0)]}
			if a.Scored {
				q.Scores = &result.Scores{Su: a.Su, Sr: a.Sr, Sd: a.Sd, RankU: a.RankSu, RankR: a.RankSr, RankD: a.RankSd, R: a.R}
			}
		}
		if err := p.Record(answers[first].by, round, ids, classes); err != nil {
			return nil, err
		}
		first = last
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

// bare returns the source domains without a label, of which no batch can be balanced.
func (p *pool) bare() (domains []int) {
	have := make([]bool, len(p.sources))
	for _, l := range p.Labelled() {
		have[p.sourceOf(l.ID)] = true
	}
	for k, ok := range have {
		if !ok {
			domains = append(domains, k)
		}
	}
	return domains
}

// countSource returns the number of examples of a source domain.
func (p *pool) countSource(k int) (n int) {
	for _, x := range p.places {
		if p.data.Examples[x].Domain == p.sources[k] {
			n++
		}
	}
	return n
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
