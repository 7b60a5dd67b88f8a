package active

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
)

// Division names a way to divide a query among the domains of the candidates.
type Division string

const (
	// Pooled selects from all domains together.
	Pooled Division = "pooled"
	// ByStratum selects equally many from each domain: stratified.
	ByStratum Division = "stratified"
	// ByShare selects from each domain in proportion to its candidates: proportional.
	ByShare Division = "proportional"
	// Balanced selects equally many from each domain; left-over labels go one each to the
	// domains whose next candidate has the highest score. It turns ceg into [BalancedCEG].
	Balanced Division = "balanced"
)

// Divisions lists all divisions.
func Divisions() []Division { return []Division{Pooled, ByStratum, ByShare, Balanced} }

// Divide returns a strategy that divides the queries of s among domains; the empty division is
// Pooled.
func Divide(s Strategy, d Division) (Strategy, error) {
	switch {
	case d == "" || d == Pooled:
		return s, nil
	case !slices.Contains(Divisions(), d):
		return nil, fmt.Errorf("division %q among domains, want one of %q", d, Divisions())
	}
	if balanced, ok := s.(BalancedCEG); ok { // it is already
		return balanced, nil
	}
	if ceg, ok := s.(CEG); ok && d == Balanced {
		return BalancedCEG{ceg}, nil
	}
	return Divided{s, d}, nil
}

// Divided is a strategy that queries each domain separately, with the candidates of that domain
// only. It compares with the labelled samples of the same domain, unless the strategy needs the
// labels of all ([LabelledCells]). Heads and temperatures are fitted on all labels.
type Divided struct {
	Strategy
	Division Division
}

// Needs returns the arrays of the strategy and the domains of the candidates, with the domains
// of the labelled samples if it needs any labelled array.
func (s Divided) Needs() Arrays {
	a := s.Strategy.Needs() | Domains
	if a.Has(LabelledFeatures) && !a.Has(LabelledCells) {
		a |= LabelledDomains
	}
	return a
}

// Query returns the picks grouped by domain, in the order of domain indices.
func (s Divided) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if err := c.checkCold(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	members := map[int][]int{}
	for i, d := range c.Domains {
		members[d] = append(members[d], i)
	}
	var strata []stratum
	var sizes []int
	for d, rows := range members {
		strata = append(strata, stratum{domain: d, rows: rows})
	}
	slices.SortFunc(strata, func(a, b stratum) int { return cmp.Compare(a.domain, b.domain) })
	for _, p := range strata {
		sizes = append(sizes, len(p.rows))
	}
	divide := stratified
	if s.Division == ByShare {
		divide = proportional
	}
	counts, err := divide(sizes, n)
	if err != nil {
		return nil, failed(s, err)
	}
	var spare int
	if s.Division == Balanced {
		counts, spare = evenly(sizes, n)
	}
	inner := s.Strategy
	if f, ok := inner.(fitted); ok && n > 0 {
		if inner, err = f.fit(c); err != nil {
			return nil, failed(s, err)
		}
	}
	for k := range strata {
		p := &strata[k]
		n := counts[k]
		if spare > 0 && n < len(p.rows) {
			n++
			p.more = true
		}
		if n == 0 {
			continue
		}
		if p.picks, err = inner.Query(c.within(p.domain, p.rows, inner.Needs()), n, r); err != nil {
			return nil, fmt.Errorf("domain %d: %w", p.domain, err)
		}
		for i, q := range p.picks {
			p.picks[i].Index = p.rows[q.Index]
		}
	}
	if spare > 0 {
		dropSurplus(strata, spare)
	}
	picks := make([]Pick, 0, n)
	for _, p := range strata {
		picks = append(picks, p.picks...)
	}
	return picks, nil
}

// fitted are strategies that fit something on all labelled samples first.
type fitted interface {
	fit(c *Candidates) (Strategy, error)
}

// stratum is the query of one domain.
type stratum struct {
	domain int
	rows   []int
	picks  []Pick
	more   bool // the last pick is one more than its share
}

// evenly gives every domain as many as all can have, and the same again among those
// with more, and returns how many are spare: fewer than the domains with more.
func evenly(sizes []int, labels int) (counts []int, spare int) {
	counts = make([]int, len(sizes))
	for {
		var room []int
		for k, n := range sizes {
			if counts[k] < n {
				room = append(room, k)
			}
		}
		if len(room) == 0 || labels < len(room) {
			return counts, labels
		}
		each := labels / len(room)
		for _, k := range room {
			n := min(each, sizes[k]-counts[k])
			counts[k] += n
			labels -= n
		}
	}
}

// dropSurplus takes the last pick from those that have one more, but for the spare ones
// whose last pick has the highest score.
func dropSurplus(strata []stratum, spare int) {
	var more []int
	for k, p := range strata {
		if p.more {
			more = append(more, k)
		}
	}
	last := func(k int) Pick { return strata[k].picks[len(strata[k].picks)-1] }
	slices.SortStableFunc(more, func(a, b int) int { return cmp.Compare(last(b).Score, last(a).Score) })
	for _, k := range more[spare:] {
		strata[k].picks = strata[k].picks[:len(strata[k].picks)-1]
	}
}

// within returns the candidates of one domain, with the labelled samples of it unless
// those of all are needed.
func (c *Candidates) within(domain int, rows []int, needs Arrays) *Candidates {
	d := c.take(rows, needs)
	if needs.Has(LabelledCells) || !needs.Has(LabelledFeatures) {
		return d
	}
	var own []int
	for i, of := range c.LabelledDomains {
		if of == domain {
			own = append(own, i)
		}
	}
	d.LabelledFeatures = cluster.SelectRows(c.LabelledFeatures, own)
	d.LabelledDomains = take(c.LabelledDomains, own)
	if needs.Has(LabelledClasses) {
		d.LabelledClasses = take(c.LabelledClasses, own)
	}
	if needs.Has(LabelledProbs) {
		d.LabelledClassLogits, d.LabelledClassProbs = takeRows(c.LabelledClassLogits, own), takeRows(c.LabelledClassProbs, own)
	}
	return d
}

// take returns some of the candidates, with all labelled samples.
func (c *Candidates) take(rows []int, needs Arrays) *Candidates {
	d := &Candidates{
		IDs:         take(c.IDs, rows),
		ClassLogits: takeRows(c.ClassLogits, rows), ClassProbs: takeRows(c.ClassProbs, rows),
		DomainLogits: takeRows(c.DomainLogits, rows), DomainProbs: takeRows(c.DomainProbs, rows),
		LabelledFeatures: c.LabelledFeatures, LabelledClasses: c.LabelledClasses, LabelledDomains: c.LabelledDomains,
		LabelledClassLogits: c.LabelledClassLogits, LabelledClassProbs: c.LabelledClassProbs,
	}
	if needs.Has(Features) {
		d.Features = cluster.SelectRows(c.Features, rows)
	}
	if c.Domains != nil {
		d.Domains = take(c.Domains, rows)
	}
	return d
}

func takeRows(m Matrix, rows []int) Matrix {
	if len(m.Data) == 0 {
		return m
	}
	return cluster.SelectRows(m, rows)
}

// take returns some of the values.
func take[T any](v []T, index []int) []T {
	out := make([]T, len(index))
	for k, i := range index {
		out[k] = v[i]
	}
	return out
}
