package run

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/campaign"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/registers"
	"github.com/ledg-go/ledg/datasets/seed"
)

// labelInitial labels the first part of the budget, before training: by a strategy, or
// drawn from the pooled sources.
func (x *explorer) labelInitial(ctx context.Context) ([]result.Query, error) {
	p, s := x.campaign, x.initial
	f := p.First()
	if s == nil {
		drawn, err := p.Drawn(f, x.seed)
		if err != nil {
			return nil, err
		}
		return p.Enter(ctx, f, x.suggested(drawn))
	}
	looks := s.Needs().Has(active.Features)
	var features, have cluster.Matrix // of f.IDs and f.Existing
	if looks {
		if x.blank {
			x.reporter.say("initial labels by %s: the network starts from random weights, so its features say little; uniform is about as good", s.Name())
		}
		pu, err := x.look(ctx, p.Examples(f.IDs))
		if err != nil {
			return nil, err
		}
		defer release(&pu)
		features = pu.Features
		if x.exploration.Initial == config.InitialNames {
			if features, err = x.withNames(f.IDs, features); err != nil {
				return nil, err
			}
		}
		if s.Needs().Has(active.LabelledFeatures) && len(f.Existing) > 0 {
			px, err := x.look(ctx, p.Examples(f.Existing))
			if err != nil {
				return nil, err
			}
			have = px.Features
		}
	}
	return p.Enter(ctx, f, x.suggested(func(n int, may func(string) bool) ([]labels.Question, error) {
		c, at := x.candidates(f.IDs, may)
		if looks {
			c.Features, c.LabelledFeatures = cluster.SelectRows(features, at), have
		}
		c.LabelledGroups = p.Groups(f.Existing)
		of := choice{Exploration: x.exploration, Seed: x.seed, Classes: p.ClassCount(), N: n, Have: f.Have}
		ids, err := x.shared.Choice(func() ([sha256.Size]byte, error) { return of.key(c) }, func() ([]string, error) { return x.chooseInitial(c, n, f.Have) })
		if err != nil {
			return nil, fmt.Errorf("initial labels: %w", err)
		}
		list := make([]labels.Question, len(ids))
		for i, id := range ids {
			list[i].ID = id
		}
		return list, nil
	}))
}

// chooseInitial lets the strategy of the initial labels choose up to n candidates, and at
// least one of each domain that has none yet.
func (x *explorer) chooseInitial(c *active.Candidates, n int, have []int) (ids []string, err error) {
	rng := seed.New(x.seed, "initial labels")
	picks, err := x.choose("initial labels", x.initial, c, n, rng)
	if err == nil {
		err = cover(x.grouped(x.initial), c, picks, have, rng)
	}
	for _, k := range picks {
		ids = append(ids, c.IDs[k.Index])
	}
	if x.exploration.Initial == config.InitialNames {
		x.rarestFirst(ids, c.IDs, c.Features)
	}
	return ids, err
}

// cover gives a domain that has candidates but no pick, and no labels yet, the one that
// the strategy picks of it; see [campaign.Cover].
func cover(s active.Strategy, c *active.Candidates, picks []active.Pick, have []int, rng *rand.Rand) error {
	of := func(p active.Pick) int { return c.Domains[p.Index] }
	return campaign.Cover(picks, have, of, func(k int, _ active.Pick) (none active.Pick, err error) {
		var own []int
		part := &active.Candidates{LabelledGroups: slices.Clone(c.LabelledGroups)}
		if c.Groups != nil {
			for _, p := range picks {
				part.LabelledGroups = append(part.LabelledGroups, c.Groups[p.Index])
			}
		}
		for i, d := range c.Domains {
			if d == k {
				own = append(own, i)
				part.IDs, part.Domains = append(part.IDs, c.IDs[i]), append(part.Domains, k)
				if c.Groups != nil {
					part.Groups = append(part.Groups, c.Groups[i])
				}
			}
		}
		if own == nil {
			return none, nil
		}
		if s.Needs().Has(active.Features) {
			part.Features = cluster.SelectRows(c.Features, own)
		}
		in, err := s.Query(part, 1, rng)
		if err != nil {
			return none, err
		}
		in[0].Index = own[in[0].Index]
		return in[0], nil
	})
}

// choice is all that the choice of initial labels depends on, but for the features.
type choice struct {
	Exploration                     config.Exploration
	Seed                            uint64
	Classes, N                      int
	IDs                             []string
	Domains, Groups, Labelled, Have []int
	Cols, LabelledRows              int
}

// key is the digest of a choice and of the features that it looks at.
func (c choice) key(in *active.Candidates) (key [sha256.Size]byte, err error) {
	c.IDs, c.Domains, c.Groups, c.Labelled = in.IDs, in.Domains, in.Groups, in.LabelledGroups
	c.Cols, c.LabelledRows = in.Features.Cols, in.LabelledFeatures.Rows
	h := registers.SHA256()
	if err := json.NewEncoder(h).Encode(c); err != nil {
		return key, err
	}
	var row []byte
	for _, m := range []cluster.Matrix{in.Features, in.LabelledFeatures} {
		for i := range m.Rows {
			row = safetensors.AppendFloats(row[:0], m.Data[i*m.Stride:][:m.Cols])
			h.Write(row)
		}
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
