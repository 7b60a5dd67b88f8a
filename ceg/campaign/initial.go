package campaign

import (
	"context"
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/labels"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets/seed"
)

// First describes the initial labels: existing ones, with their number in every source domain;
// the candidates; and the number to query.
type First struct {
	existing      []Labelled
	Have          []int
	Existing, IDs []string
	N             int
}

// First returns the description for a pool without labels.
func (p *Campaign) First() First {
	f := First{existing: p.existing(), Have: make([]int, len(p.sources))}
	skip := make(map[string]bool, len(f.existing))
	for _, a := range f.existing {
		skip[a.ID] = true
		f.Have[p.SourceOf(a.ID)]++
		f.Existing = append(f.Existing, a.ID)
	}
	need := 0
	for _, n := range f.Have {
		if n == 0 {
			need++
		}
	}
	for _, id := range p.Unlabelled() {
		if !skip[id] && p.CanQuery(id) {
			f.IDs = append(f.IDs, id)
		}
	}
	f.N = min(max(p.initial-len(f.existing), need), len(f.IDs))
	return f
}

// Enter adds the initial labels to the pool, existing and queried ones.
func (p *Campaign) Enter(ctx context.Context, f First, choose Chooser) ([]result.Query, error) {
	labelled, err := p.oracle.round(ctx, 0, f.N, choose)
	if err != nil {
		return nil, err
	}
	p.Unqueried = len(f.existing)
	return p.enter(0, append(f.existing, labelled...))
}

// Drawn returns a chooser that draws initial labels uniformly from the pooled source domains,
// one of each group before a second. Every domain gets a label; see Cover.
func (p *Campaign) Drawn(f First, runSeed uint64) (Chooser, error) {
	rng := seed.New(runSeed, "initial labels")
	rng.Shuffle(len(f.IDs), func(i, j int) { f.IDs[i], f.IDs[j] = f.IDs[j], f.IDs[i] })
	drawn, rest := f.IDs[:f.N], f.IDs[f.N:]
	if p.Data.Groups != nil {
		active.ByGroup(f.IDs, p.groupOf, p.Groups(f.Existing))
		slices.Reverse(rest) // added last
	}
	err := Cover(drawn, f.Have, p.SourceOf, func(k int, out string) (string, error) {
		for i := len(rest) - 1; i >= 0 && out != ""; i-- {
			if in := rest[i]; p.SourceOf(in) == k {
				rest[i] = out
				return in, nil
			}
		}
		return "", fmt.Errorf("source %s %s has no training images that can be queried", p.Data.DomainWord(), p.sourceName(k))
	})
	if p.Data.Groups != nil {
		slices.Reverse(rest)
	}
	return func(n int, may func(string) bool) (list []labels.Question, err error) {
		for _, id := range f.IDs {
			if len(list) == n {
				break
			}
			if may == nil || may(id) {
				list = append(list, labels.Question{ID: id})
			}
		}
		return list, nil
	}, err
}

// Cover replaces picks so that every domain has a label, since every batch needs all domains. A
// domain without labels takes the place of the last pick of the domain with most. have counts
// the labels of every domain; in returns the new pick of domain k in place of out, or the zero
// value to leave it.
func Cover[T comparable](picks []T, have []int, domain func(T) int, in func(k int, out T) (T, error)) error {
	count := make([]int, len(have))
	for _, p := range picks {
		count[domain(p)]++
	}
	for k := range have {
		if have[k]+count[k] > 0 {
			continue
		}
		most := -1
		for j := range count {
			if count[j] > 0 && have[j]+count[j] > 1 && (most < 0 || count[j] > count[most]) {
				most = j
			}
		}
		last := len(picks) - 1
		for last >= 0 && domain(picks[last]) != most {
			last--
		}
		var none, out T
		if last >= 0 {
			out = picks[last]
		}
		chosen, err := in(k, out)
		if err != nil {
			return err
		}
		if last < 0 || chosen == none { // fewer picks than domains
			continue
		}
		picks[last] = chosen
		count[most]--
		count[k]++
	}
	return nil
}
