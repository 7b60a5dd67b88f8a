package ceg

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/cluster"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/seed"
)

// labelInitial labels the first part of the budget, before training.
func (x *explorer) labelInitial(ctx context.Context) ([]result.Query, error) {
	p := x.pool
	if x.initial == nil {
		return p.labelInitial(ctx, x.seed)
	}
	f := p.first()
	var features cluster.Matrix // of f.ids
	if x.initial.Needs().Has(active.Features) {
		if x.blank {
			x.voice.say("initial labels by %s: the network starts from random weights, so its features say little; uniform is about as good", x.initial.Name())
		}
		pu, err := x.look(ctx, p.examples(f.ids))
		if err != nil {
			return nil, err
		}
		defer release(&pu)
		features = pu.features
	}
	return p.begin(ctx, f, func(n int, may func(string) bool) ([]question, error) {
		list, err := x.chooseInitial(f, features, n, may)
		if err != nil {
			return nil, fmt.Errorf("initial labels: %w", err)
		}
		return list, nil
	})
}

// chooseInitial chooses n questions before training.
func (x *explorer) chooseInitial(f first, features cluster.Matrix, n int, may func(string) bool) ([]question, error) {
	p := x.pool
	c := &active.Candidates{}
	var at []int
	for i, id := range f.ids {
		if may == nil || may(id) {
			at = append(at, i)
			c.IDs, c.Domains = append(c.IDs, id), append(c.Domains, p.sourceOf(id))
		}
	}
	if n = min(n, len(c.IDs)); n == 0 {
		return nil, nil
	}
	if x.initial.Needs().Has(active.Features) {
		c.Features = pickRows(features, at)
	}
	x.warn("initial labels", x.initial, n, c)
	rng := seed.New(x.seed, "initial labels")
	picks, err := x.initial.Query(c, n, rng)
	if err != nil {
		return nil, err
	}
	if picks, err = everyDomain(x.initial, c, picks, f.have, func(of *active.Candidates) ([]active.Pick, error) {
		return x.initial.Query(of, 1, rng)
	}); err != nil {
		return nil, err
	}
	list := make([]question, len(picks))
	for i, k := range picks {
		id := c.IDs[k.Index]
		list[i] = question{Pick: active.Pick{Index: p.example(id), ID: id}}
	}
	return list, nil
}

// everyDomain gives a domain that has candidates but no pick, and no labels yet, the
// place of the last one from the domain with the most, since no batch could be balanced
// otherwise: to the candidate that the strategy picks of it. have are the labels of
// every domain.
func everyDomain(s active.Strategy, c *active.Candidates, picks []active.Pick, have []int, one func(*active.Candidates) ([]active.Pick, error)) ([]active.Pick, error) {
	count := make([]int, len(have))
	for _, p := range picks {
		count[c.Domains[p.Index]]++
	}
	for k := range count {
		if have[k]+count[k] > 0 || !slices.Contains(c.Domains, k) {
			continue
		}
		most := -1
		for j := range count {
			if count[j] > 0 && have[j]+count[j] > 1 && (most < 0 || count[j] > count[most]) {
				most = j
			}
		}
		if most < 0 {
			continue // fewer picks than domains
		}
		var own []int
		part := &active.Candidates{}
		for i, d := range c.Domains {
			if d == k {
				own = append(own, i)
				part.IDs, part.Domains = append(part.IDs, c.IDs[i]), append(part.Domains, k)
			}
		}
		if s.Needs().Has(active.Features) {
			part.Features = rows(c.Features, own)
		}
		in, err := one(part)
		if err != nil {
			return nil, err
		}
		in[0].Index = own[in[0].Index]
		for i := len(picks) - 1; i >= 0; i-- {
			if c.Domains[picks[i].Index] == most {
				picks[i] = in[0]
				break
			}
		}
		count[most]--
		count[k]++
	}
	return picks, nil
}

// warn announces a query that takes long, or looks at a part of the pool.
func (x *explorer) warn(what string, s active.Strategy, n int, c *active.Candidates) {
	notes := []string{greedyNote(s.Name(), n, len(c.IDs), c.Features.Cols, runtime.GOMAXPROCS(0))}
	if l, ok := s.(active.Limited); ok {
		notes = append(notes, l.Limits(n, len(c.IDs), c.Features.Cols))
	}
	for _, note := range notes {
		if note != "" {
			x.voice.say("%s: %s", what, note)
		}
	}
}
