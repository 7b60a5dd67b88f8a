package active

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// ByGroup orders samples, the most wanted first, such that one of each group comes before a
// second of any: stably by how many of its group come before it in the list or are labelled,
// whose groups labelled has.
func ByGroup[T any](samples []T, group func(T) int, labelled []int) {
	asked := make(map[int]int)
	for _, g := range labelled {
		asked[g]++
	}
	type turn struct {
		sample T
		turn   int
	}
	list := make([]turn, len(samples))
	for i, s := range samples {
		list[i] = turn{s, asked[group(s)]}
		asked[group(s)]++
	}
	slices.SortStableFunc(list, func(a, b turn) int { return cmp.Compare(a.turn, b.turn) })
	for i, t := range list {
		samples[i] = t.sample
	}
}

// Grouped is a strategy that asks about one candidate of a group before a second one, by
// Candidates.Groups, and first about groups without a label. Strategies that order candidates by
// scores of their own (ceg, entropy, bvsb, confidence), and uniform, order all, and the first of
// each group counts. The others choose among groups, each with one candidate, which is drawn by
// [Ties]; among those of a second one once all groups have one, and so on.
type Grouped struct {
	Strategy
	// TieSeed draws the candidate of a group.
	TieSeed uint64
}

// Query returns the picks, those that are the first of their group before others.
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
	asked := make(map[int]int)
	for _, g := range c.LabelledGroups {
		asked[g]++
	}
	picks := make([]Pick, 0, n)
	for {
		// One row of each group of which the fewest have been asked.
		var turn []int
		least, seen := 0, make(map[int]bool)
		for k, i := range rows {
			if a := asked[c.Groups[i]]; k == 0 || a < least {
				least = a
			}
		}
		for _, i := range rows {
			if g := c.Groups[i]; asked[g] == least && !seen[g] {
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
			asked[c.Groups[p.Index]]++
			done[p.Index] = true
			picks = append(picks, p)
		}
		if len(picks) == n {
			return picks, nil
		}
		rows = slices.DeleteFunc(rows, func(i int) bool { return done[i] })
	}
}

// Ordered reports whether a strategy orders candidates by scores of their own, or by a draw, so
// that asking for all of them costs no more than asking for some.
func Ordered(s Strategy) bool {
	switch s.(type) {
	case CEG, Probability, Uniform:
		return true
	}
	return false
}

// FirstOfGroups returns n of the picks of all candidates: the first of each group before a
// second of any.
func (c *Candidates) FirstOfGroups(picks []Pick, n int) []Pick {
	ByGroup(picks, func(p Pick) int { return c.Groups[p.Index] }, c.LabelledGroups)
	return picks[:n:n]
}

// Limits is that of the strategy.
func (s Grouped) Limits(n, candidates, features int) string {
	if l, ok := s.Strategy.(Limited); ok {
		return l.Limits(n, candidates, features)
	}
	return ""
}
