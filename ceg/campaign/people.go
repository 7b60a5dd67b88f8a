package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets/seed"
)

// people label through the ledger in the run's folder.
type people struct {
	queries  Queries
	campaign *Campaign
	truth    func(example int) int // of images labelled before; nil if none
	seed     uint64                // of the run
}

// RunBy names a run in its ledger.
const RunBy = "run"

// ExtendBy names, in the ledger of an extended run, what queried images of none of the old classes
// again.
const ExtendBy = "ledg extend"

// dataSetOracle is who gave the classes that a data set names.
const dataSetOracle = "data set"

// People returns an annotator that queries people through the ledger in a folder, and messages
// for the user. truth maps indices in the data set to classes that existed before the first
// query; it may be nil. The seed draws replacement queries.
func People(dir string, p *Campaign, truth func(example int) int, runSeed uint64) (Oracle, []string, error) {
	ledger, err := labels.Open(dir, p.Data.Classes, labels.Options{Domain: labels.DomainIn(p.Data)})
	if err != nil {
		return nil, nil, err
	}
	again := 0
	ledger.View(func(s *labels.State) {
		for v := range s.Images() {
			if v.Round == 0 && v.QueriedBy == ExtendBy {
				again++
			}
		}
	})
	p.spend(len(p.begun), len(p.begun)+again)
	return &people{Queries{Ledger: ledger, By: RunBy}, p, truth, runSeed}, ledger.Notes(), nil
}

func (o *people) knows(int) bool { return true }
func (o *people) close() error   { return o.queries.Ledger.Close() }

func (o *people) prelabelled() (list []Labelled) {
	if o.truth == nil {
		return nil
	}
	for _, x := range o.campaign.Places {
		if class := o.truth(x); class >= 0 {
			list = append(list, Labelled{labels.Question{ID: o.campaign.Data.Examples[x].ID}, o.campaign.Data.Classes[class], dataSetOracle})
		}
	}
	return list
}

func (o *people) round(_ context.Context, round, n int, choose Chooser) ([]Labelled, error) {
	p := o.campaign
	return o.queries.Round(round, n,
		func(n int, may func(string) bool) ([]labels.Question, error) { return choose(n, may) },
		func(vacant []string, taken func(id string) bool) ([]labels.Question, error) {
			queried := p.takenGroups(taken)
			like, err := o.likeBad()
			if err != nil {
				return nil, err
			}
			return Replace(vacant, p.SourceOf, func(domain, n int) ([]labels.Question, error) {
				free := func(id string) bool { return p.SourceOf(id) == domain && !taken(id) }
				if queried == nil && like == nil {
					return choose(n, free)
				}
				// choose must not see queries of the current round as labels.
				list, err := choose(n, func(id string) bool { return free(id) && !like[id] && (queried == nil || !queried[p.groupOf(id)]) })
				if err != nil || len(list) == n {
					return list, err
				}
				chosen := make(map[string]bool)
				for _, q := range list {
					chosen[q.ID] = true
				}
				more, err := choose(n-len(list), func(id string) bool { return free(id) && !chosen[id] })
				return append(list, more...), err
			})
		})
}

// takenGroups are the groups with an image that is taken; nil where there are no groups.
func (p *Campaign) takenGroups(taken func(id string) bool) map[int]bool {
	if p.Data.Groups == nil {
		return nil
	}
	groups := make(map[int]bool)
	for _, x := range p.Places {
		if taken(p.Data.Examples[x].ID) {
			groups[p.Data.Groups[x]] = true
		}
	}
	return groups
}

// class returns the number of a class, which the ledger has checked.
func (o *people) class(name string) int { return slices.Index(o.campaign.Data.Classes, name) }

func (o *people) sync(p *Campaign) (came []result.Query, err error) {
	if err := o.queries.Ledger.Refresh(); err != nil {
		return nil, err
	}
	current := map[string]labels.Label{}
	var list []labels.Label
	bad := map[string]bool{} // or of none of the classes
	mine := func(id string, round int) bool {
		_, ok := p.Domain(id)
		return ok && round <= p.Round
	}
	o.queries.Ledger.View(func(s *labels.State) {
		for _, l := range s.Labels() {
			if mine(l.ID, l.Round) {
				current[l.ID], list = l, append(list, l)
			}
		}
		for _, v := range append(s.With(labels.IsBad), s.With(labels.IsNone)...) {
			bad[v.ID] = mine(v.ID, v.Round)
		}
	})
	for _, l := range p.Labelled() {
		now, ok := current[l.ID]
		switch class := o.class(now.Class); {
		case bad[l.ID]:
			p.Withdrawn++
			err = p.Drop(l.ID)
		case ok && (class != l.Class || Name(now.By) != l.Oracle):
			err = p.Correct(Name(now.By), l.ID, class)
		case ok || l.Oracle == dataSetOracle:
		case o.truth != nil && o.truth(p.Example(l.ID)) >= 0: // the class that existed before counts again
			err = p.Correct(dataSetOracle, l.ID, o.truth(p.Example(l.ID)))
		default:
			p.Withdrawn++
			err = p.Withdraw(l.ID)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, id := range p.Gone() {
		if !bad[id] {
			err = errors.Join(err, p.Return(id))
		}
	}
	for _, id := range p.Unlabelled() {
		if bad[id] {
			err = errors.Join(err, p.Drop(id))
		}
	}
	var late []Labelled
	for _, l := range list {
		if _, ok := p.Label(l.ID); !ok {
			late = append(late, Labelled{labels.Question{ID: l.ID}, l.Class, l.By})
		}
	}
	p.Unqueried += len(late)
	came, enterErr := p.enter(p.Round, late)
	return came, errors.Join(err, enterErr)
}

func (o *people) another(p *Campaign, domains []int) error {
	free := p.Unlabelled()
	seed.New(o.seed, "another label", uint64(p.Round)).Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
	groups := make([][]string, len(domains))
	for _, id := range free {
		if k := slices.Index(domains, p.SourceOf(id)); k >= 0 {
			groups[k] = append(groups[k], id)
		}
	}
	none, err := o.queries.Another(p.Round, groups)
	if err == nil && len(none) > 0 {
		name := p.sourceName(domains[none[0]])
		err = fmt.Errorf("source %s %s has no label any more, and none of its %d images can be queried: they are bad, or somebody is unsure of them; give one of them a class with ledg label, or take \"bad image\" back",
			p.Data.DomainWord(), name, p.countSource(domains[none[0]]))
	}
	return err
}

func (o *people) marked(status labels.Status) (ids []string) {
	o.queries.Ledger.View(func(s *labels.State) {
		for _, v := range s.With(status) {
			ids = append(ids, v.ID)
		}
	})
	slices.Sort(ids)
	return ids
}
