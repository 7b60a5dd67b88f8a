package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// Campaign manages the labels of a run: the pool of candidates (training examples of the source
// domains), the annotator, and the budget with its schedule. It does not use networks.
type Campaign struct {
	*active.Pool
	Data *datasets.Dataset
	// Target is the index of the target domain in Data, or -1.
	Target int
	// sources are the source domains, as numbers of Data, and source their positions in
	// it.
	sources []int
	source  map[int]int
	// Places maps positions in the pool to indices in Data.
	Places []int
	oracle Oracle
	// begun are the labels that another run has left.
	begun []Labelled

	// Budget is the total number of labels; initial is the part before training, and rounds the
	// part of each query epoch in queryAfter.
	Budget, initial    int
	rounds, queryAfter []int
	budgetText         string
	// Progress is what the checkpoint of a run has to remember besides the pool.
	Progress
}

// Progress is the progress of a campaign.
type Progress struct {
	// Round is the number of query rounds so far.
	Round int
	// Unqueried counts labels added without a query, Withdrawn labels that were withdrawn.
	Unqueried, Withdrawn int
}

// New returns a campaign without labels for a config and a data set, with the budget as a
// number. SetOracle sets the annotator.
func New(c config.Config, data *datasets.Dataset) (*Campaign, error) {
	if len(data.Classes) < 2 {
		return nil, config.Errorf("data.classes", "data set %s has %d classes: where folders and labels do not name two at least, give their names, as a,b,c or a file", data.Name, len(data.Classes))
	}
	target, err := targetOf(c.Data, data)
	if err != nil {
		return nil, &config.Error{Path: "data.target", Err: err}
	}
	p := &Campaign{Data: data, Target: target, source: map[int]int{}, queryAfter: c.Schedule.QueryAfter, budgetText: c.Exploration.Budget}
	for d := range data.Domains {
		if d != target {
			p.source[d] = len(p.sources)
			p.sources = append(p.sources, d)
		}
	}
	if len(p.sources) == 0 {
		return nil, config.Errorf("data.target", "data set %s has the %s %s alone: nothing to train on", data.Name, data.DomainWord(), c.Data.Target)
	}
	if err := groupsApart(c.Data, data, target); err != nil {
		return nil, err
	}
	var ids []string
	var domains []int
	p.Places = Places(c, data)
	for _, i := range p.Places {
		e := data.Examples[i]
		ids, domains = append(ids, e.ID), append(domains, p.source[e.Domain])
	}
	if len(ids) == 0 {
		return nil, config.Errorf("data.target", "data set %s has no image to train on: outside %s all are in the validation split (val), which no run trains on; name images of the split train, or choose another target",
			data.Name, c.Data.Target)
	}
	if p.Pool, err = active.NewPool(ids, domains, len(p.sources), len(data.Classes)); err != nil {
		return nil, err
	}
	if err := p.divideBudget(c); err != nil {
		return nil, &config.Error{Path: "exploration.budget", Err: err}
	}
	return p, nil
}

// groupsApart returns an error if a group has images of the target and of a source: validation and
// target images would be trained on.
func groupsApart(d config.Data, data *datasets.Dataset, target int) error {
	for k, members := range data.GroupMembers() {
		in, out := -1, -1
		for _, i := range members {
			if data.Examples[i].Domain == target {
				in = i
			} else {
				out = i
			}
		}
		if target >= 0 && in >= 0 && out >= 0 {
			path := "data.group"
			if d.Group == "" {
				path = "data.labels"
			}
			return config.Errorf(path, "group %s has images of the target, as %s, and of a source, as %s: accuracy would be measured on images that were trained on",
				data.GroupNames[k], data.Examples[in].ID, data.Examples[out].ID)
		}
	}
	return nil
}

// Groups returns the group of each pool example in ids; nil without groups.
func (p *Campaign) Groups(ids []string) []int {
	if p.Data.Groups == nil {
		return nil
	}
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = p.groupOf(id)
	}
	return list
}

// GroupCounts counts the groups of the pool and of its labels; nil without groups.
func (p *Campaign) GroupCounts() *result.GroupCounts {
	if p.Data.Groups == nil {
		return nil
	}
	pool, labelled := map[int]bool{}, map[int]bool{}
	for _, i := range p.Places {
		pool[p.Data.Groups[i]] = true
	}
	for _, l := range p.Labelled() {
		labelled[p.groupOf(l.ID)] = true
	}
	return &result.GroupCounts{Pool: len(pool), Labels: len(labelled)}
}

func (p *Campaign) groupOf(id string) int { return p.Data.Groups[p.Example(id)] }

// targetOf returns the number of the target domain, -1 for none.
func targetOf(d config.Data, data *datasets.Dataset) (int, error) {
	named := slices.Index(data.Domains, d.Target)
	switch {
	case d.Target != config.NoTarget:
		return data.Domain(d.Target)
	case named >= 0:
		return 0, fmt.Errorf("data set %s has a %s called %s, which as a target means that there is none; give it another name", data.Name, data.DomainWord(), d.Target)
	}
	return -1, nil
}

// divideBudget resolves the budget into initial labels and rounds of queries.
func (p *Campaign) divideBudget(c config.Config) error {
	budget, err := active.ParseBudget(p.budgetText)
	if err != nil {
		return err
	}
	if p.Budget, err = budget.Labels(p.Len()); err != nil {
		return err
	}
	p.initial, p.rounds, err = c.DivideBudget(p.Budget)
	return err
}

// SetOracle sets the annotator and checks that the budget can be met. Close closes it.
func (p *Campaign) SetOracle(o Oracle) error {
	p.oracle = o
	known, need := 0, len(p.sources)
	for _, x := range p.Places {
		if o.knows(x) {
			known++
		}
	}
	if known < p.Budget {
		return config.Errorf("exploration.budget", "budget %s is %d labels, and the class of only %d of the %d source training images is known; with the oracle %s people are asked",
			p.budgetText, p.Budget, known, p.Len(), config.People)
	}
	have := make([]int, len(p.sources))
	for _, a := range p.existing() {
		if k := p.SourceOf(a.ID); have[k] == 0 {
			have[k]++
			need--
		}
	}
	if p.initial < need {
		return config.Errorf("exploration.budget", "budget %s of %d images leaves %d initial labels for %d source %ss, and every %[5]s needs one",
			p.budgetText, p.Len(), p.initial, need, p.Data.DomainWord())
	}
	return nil
}

// Begin adds labels taken over from another run, before the first query. They count towards the
// budget. The error names a label of an unknown image or class.
func (p *Campaign) Begin(list []Labelled) error {
	for _, a := range list {
		if _, ok := p.Domain(a.ID); !ok {
			return fmt.Errorf("the run begins with the label %s of %s, which is no image to train on in data set %s", a.Class, a.ID, p.Data.Name)
		}
		if !slices.Contains(p.Data.Classes, a.Class) {
			return fmt.Errorf("the run begins with %s labelled %s, which is none of the classes %s", a.ID, a.Class, strings.Join(p.Data.Classes, ", "))
		}
	}
	p.begun = list
	p.spend(0, len(list))
	return nil
}

// spend takes labels that are needed before the first round from the rounds, as far as they are
// more than the initial ones: to labels; before are taken already.
func (p *Campaign) spend(before, to int) {
	over := max(to-p.initial, 0) - max(before-p.initial, 0)
	for i, n := range p.rounds {
		less := min(n, over)
		p.rounds[i], over = n-less, over-less
	}
}

// existing returns the labels that exist before the first query.
func (p *Campaign) existing() []Labelled {
	list, begun := slices.Clone(p.begun), make(map[string]bool, len(p.begun))
	for _, a := range p.begun {
		begun[a.ID] = true
	}
	for _, a := range p.oracle.prelabelled() {
		if !begun[a.ID] {
			list = append(list, a)
		}
	}
	return list
}

// Close closes the annotator.
func (p *Campaign) Close() error {
	if p.oracle == nil {
		return nil
	}
	return p.oracle.close()
}

// Restore loads the labels of a snapshot into the empty pool. A snapshot of other examples is an
// error; path names it.
func (p *Campaign) Restore(path string, s active.Snapshot, progress Progress) error {
	err := p.Pool.Restore(s)
	var other *active.OtherSamplesError
	switch {
	case errors.As(err, &other):
		return fmt.Errorf("%s: the run began with other source training images than data set %s has now (%d then, %d now): %s",
			path, p.Data.Name, other.Then, other.Now, other.Change)
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	}
	p.Progress = progress
	return nil
}

// QueriesAfter returns the number of labels to query after an epoch.
func (p *Campaign) QueriesAfter(epoch int) int {
	i := slices.Index(p.queryAfter, epoch)
	if i < 0 {
		return 0
	}
	return p.rounds[i]
}

// HasQueries reports whether there are queries after the start of training.
func (p *Campaign) HasQueries() bool { return len(p.rounds) > 0 }

// CanQuery reports whether the annotator can label an example of the pool.
func (p *Campaign) CanQuery(id string) bool { return p.oracle.knows(p.Example(id)) }

// Query queries n labels in the next round and adds them to the pool.
func (p *Campaign) Query(ctx context.Context, n int, choose Chooser) ([]result.Query, error) {
	labelled, err := p.oracle.round(ctx, p.Round+1, n, choose)
	if err != nil {
		return nil, err
	}
	p.Round++
	return p.enter(p.Round, labelled)
}

// Sync updates the labels of finished rounds with later changes by annotators, and returns
// labels that were added without a query.
func (p *Campaign) Sync() ([]result.Query, error) { return p.oracle.sync(p) }

// Unsure lists the examples marked unsure.
func (p *Campaign) Unsure() []string { return p.oracle.marked(labels.IsUnsure) }

// None lists the examples marked as showing none of the classes.
func (p *Campaign) None() []string {
	return slices.DeleteFunc(p.oracle.marked(labels.IsNone), func(id string) bool { _, ok := p.Domain(id); return !ok })
}

// Another queries one label of each source domain without any, since a batch needs every domain.
// It returns nil if all have one, and otherwise an *Awaiting, or an error that names a domain
// without candidates. It does not use the budget.
func (p *Campaign) Another() error {
	have := make([]bool, len(p.sources))
	for _, l := range p.Labelled() {
		have[p.SourceOf(l.ID)] = true
	}
	var bare []int
	for k, ok := range have {
		if !ok {
			bare = append(bare, k)
		}
	}
	if len(bare) == 0 {
		return nil
	}
	return p.oracle.another(p, bare)
}

// enter adds labels to the pool and returns their records.
func (p *Campaign) enter(round int, labelled []Labelled) ([]result.Query, error) {
	queries := make([]result.Query, len(labelled))
	for first := 0; first < len(labelled); {
		last := first
		var ids []string
		var classes []int
		for ; last < len(labelled) && labelled[last].By == labelled[first].By; last++ {
			a := labelled[last]
			ids, classes = append(ids, a.ID), append(classes, slices.Index(p.Data.Classes, a.Class))
			queries[last] = result.Query{Round: round, ID: a.ID, Domain: p.sourceName(p.SourceOf(a.ID)), Class: a.Class}
			recorded(a.Question, &queries[last])
		}
		if err := p.Record(Name(labelled[first].By), round, ids, classes); err != nil {
			return nil, err
		}
		first = last
	}
	return queries, nil
}

// countSource returns the number of examples of a source domain.
func (p *Campaign) countSource(k int) (n int) {
	for _, x := range p.Places {
		if p.Data.Examples[x].Domain == p.sources[k] {
			n++
		}
	}
	return n
}

// SourceNames lists the names of the source domains.
func (p *Campaign) SourceNames() (names []string) {
	for k := range p.sources {
		names = append(names, p.sourceName(k))
	}
	return names
}

func (p *Campaign) sourceName(k int) string { return p.Data.Domains[p.sources[k]] }

// Example returns the index in the data set of a pool example.
func (p *Campaign) Example(id string) int {
	i, _ := p.Data.Index(id) // the pool was made from the data set
	return i
}

// Examples is Example for several IDs.
func (p *Campaign) Examples(ids []string) []int {
	list := make([]int, len(ids))
	for i, id := range ids {
		list[i] = p.Example(id)
	}
	return list
}

// SourceOf returns the source domain of a pool example.
func (p *Campaign) SourceOf(id string) int { return p.SourceAt(p.Example(id)) }

// SourceAt is SourceOf by the index in the data set.
func (p *Campaign) SourceAt(example int) int { return p.source[p.Data.Examples[example].Domain] }
