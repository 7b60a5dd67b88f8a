package ceg

import (
	"context"
	"fmt"
	"runtime"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/seed"
)

// Initials lists the strategies that can choose the initial labels.
func Initials() []string { return active.ColdNames() }

// initialStrategy returns the strategy that chooses the initial labels, nil for the
// draw of [pool.labelInitial].
func (c Config) initialStrategy(classes int) (active.Strategy, error) {
	x := c.Exploration
	if x.Initial == "" && x.Domains == "" {
		return nil, nil
	}
	if x.Strategy = x.Initial; x.Strategy == "" {
		x.Strategy = active.Uniform{}.Name()
	}
	return x.strategy(c.Seed, classes)
}

// labelInitial labels the first part of the budget, before training.
func (x *explorer) labelInitial(ctx context.Context) ([]result.Query, error) {
	p := x.pool
	if x.initial == nil {
		return p.labelInitial(ctx, x.seed)
	}
	c := &active.Candidates{IDs: p.Unlabelled()}
	for _, id := range c.IDs {
		c.Domains = append(c.Domains, p.sourceOf(id))
	}
	if x.initial.Needs().Has(active.Features) {
		if x.blank {
			x.voice.say("initial labels by %s: the network starts from random weights, so its features say little; uniform is about as good", x.initial.Name())
		}
		pu, err := x.look(ctx, p.examples(c.IDs))
		if err != nil {
			return nil, err
		}
		defer release(&pu)
		c.Features = pu.features
	}
	x.warn("initial labels", x.initial, p.initial, c)
	rng := seed.New(x.seed, "initial labels")
	picks, err := x.initial.Query(c, p.initial, rng)
	if err != nil {
		return nil, fmt.Errorf("initial labels: %w", err)
	}
	if picks, err = everyDomain(x.initial, c, picks, len(p.sources), func(of *active.Candidates) ([]active.Pick, error) {
		return x.initial.Query(of, 1, rng)
	}); err != nil {
		return nil, fmt.Errorf("initial labels: %w", err)
	}
	return p.ask(ctx, active.IDs(picks), nil)
}

// everyDomain gives a domain that has no pick the place of the last one from the domain
// with the most, since no batch could be balanced otherwise: to the candidate that the
// strategy picks of it.
func everyDomain(s active.Strategy, c *active.Candidates, picks []active.Pick, domains int, one func(*active.Candidates) ([]active.Pick, error)) ([]active.Pick, error) {
	count := make([]int, domains)
	for _, p := range picks {
		count[c.Domains[p.Index]]++
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
