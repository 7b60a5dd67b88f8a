package active

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// ByGroup reorders samples, best first, such that one sample of each group precedes a second of
// any group. The sort is stable, by the number of the group's samples that come earlier or are
// labelled; labelled lists the groups of labelled samples.
func ByGroup[T any](samples []T, group func(T) int, labelled []int) {
	queried := make(map[int]int)
	for _, g := range labelled {
		queried[g]++
	}
	type turn struct {
		sample T
		turn   int
	}
	list := make([]turn, len(samples))
	for i, s := range samples {
		list[i] = turn{s, queried[group(s)]}
		queried[group(s)]++
	}
	slices.SortStableFunc(list, func(a, b turn) int { return cmp.Compare(a.turn, b.turn) })
	for i, t := range list {
		samples[i] = t.sample
	}
}

// Grouped is a strategy that queries one candidate of each group before a second one, by
// Candidates.Groups; groups without a label come first. Strategies that score candidates
// independently (ceg, entropy, bvsb, confidence) and uniform rank all candidates, and the best
// of each group counts. Other strategies select among groups, each represented by one candidate
// drawn by [Ties]; second candidates follow once every group has one.
type Grouped struct {
	Strategy
	// TieSeed seeds the draw of a group's representative.
	TieSeed uint64
}

// Query returns n picks: the first of each group before others.
func (s Grouped) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if len(c.Groups) != len(c.IDs) {
		return nil, failed(s, fmt.Errorf("%d groups of %d candidates", len(c.Groups), len(c.IDs)))
	}
	if err := c.checkCold(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	if Ordered(s.Strategy) {
		picks, err := s.Strategy.Query(c, len(c.IDs), r)
		if err != nil {
			return nil, err
		}
		return c.FirstOfGroups(picks, n), nil
	}
	rows, ties := make([]int, len(c.IDs)), Ties{s.TieSeed, c.IDs}
	for i := range rows {
		rows[i] = i
	}
	ties.sort(rows)
	queried := make(map[int]int)
	for _, g := range c.LabelledGroups {
		queried[g]++
	}
	picks := make([]Pick, 0, n)
	for {
		// One row of each group with the fewest queries.
		var turn []int
		least, seen := 0, make(map[int]bool)
		for k, i := range rows {
			if a := queried[c.Groups[i]]; k == 0 || a < least {
				least = a
			}
		}
		for _, i := range rows {
			if g := c.Groups[i]; queried[g] == least && !seen[g] {
				seen[g] = true
				turn = append(turn, i)
			}
		}
		slices.Sort(turn)
		more, err := s.Strategy.Query(c.take(turn, s.Needs()), min(n-len(picks), len(turn)), r)
		if err != nil {
			return nil, err
		}
		done := make(map[int]bool)
		for _, p := range more {
			p.Index = turn[p.Index]
			queried[c.Groups[p.Index]]++
			done[p.Index] = true
			picks = append(picks, p)
		}
		if len(picks) == n {
			return picks, nil
		}
		rows = slices.DeleteFunc(rows, func(i int) bool { return done[i] })
	}
}

// Ordered reports whether a strategy scores candidates independently or at random, so that
// ranking all of them costs no more than selecting a few.
func Ordered(s Strategy) bool {
	switch s.(type) {
	case CEG, Probability, Uniform:
		return true
	}
	return false
}

// FirstOfGroups returns n of picks, which rank all candidates: the first of each group before a
// second of any.
func (c *Candidates) FirstOfGroups(picks []Pick, n int) []Pick {
	ByGroup(picks, func(p Pick) int { return c.Groups[p.Index] }, c.LabelledGroups)
	return picks[:n:n]
}

// Limits returns the limits of the strategy.
func (s Grouped) Limits(n, candidates, features int) string {
	return limitsOf(s.Strategy, n, candidates, features)
}
