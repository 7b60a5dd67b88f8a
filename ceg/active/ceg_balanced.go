package active

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// BalancedCEG is an extension of [CEG] that ranks within each domain and balances labels between
// domains. Each of the three ranks is taken among candidates of the same domain and divided by
// their number, so a domain head that is more confident on one domain does not favour it. Labels
// are divided evenly among domains. Left-over labels go to the domains whose next candidate has
// the smallest R; labels of an exhausted domain go to the others.
type BalancedCEG struct{ CEG }

func (BalancedCEG) Name() string { return "ceg-balanced" }

func (s BalancedCEG) Needs() Arrays { return s.CEG.Needs() | Domains }

// Query returns n candidates, those with the smallest R first.
func (s BalancedCEG) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	scores, err := s.scored(c, s.Needs(), n)
	if err != nil {
		return nil, failed(s, err)
	}
	return s.Choose(c.IDs, c.Domains, scores, n)
}

// Choose returns n picks from precomputed scores and the domains of the candidates.
func (s BalancedCEG) Choose(ids []string, domains []int, scores Scores, n int) ([]Pick, error) {
	picks, err := s.choose(ids, domains, scores, n)
	return named(s, picks, err)
}

func (s BalancedCEG) choose(ids []string, domains []int, scores Scores, n int) ([]Pick, error) {
	if len(domains) != len(ids) {
		return nil, fmt.Errorf("%d domains of %d candidates", len(domains), len(ids))
	}
	if n < 0 || n > len(ids) {
		return nil, fmt.Errorf("%d samples queried from %d candidates", n, len(ids))
	}
	members := map[int][]int{} // of each domain, its rows
	for i, d := range domains {
		members[d] = append(members[d], i)
	}
	ties := Ties{s.TieSeed, ids}
	before := func(a, b Pick) int {
		if c := cmp.Compare(a.R, b.R); c != 0 {
			return c
		}
		if ties.before(a.Index, b.Index) {
			return -1
		}
		return 1
	}
	var queues [][]Pick // of each domain, best first
	for _, rows := range members {
		q, err := s.within(ids, rows, scores)
		if err != nil {
			return nil, err
		}
		queues = append(queues, q)
	}
	picks := make([]Pick, 0, n)
	// In every turn each domain gives its next one; a turn that cannot serve all
	// domains serves those who have the best.
	for turn := 0; len(picks) < n; turn++ {
		var next []Pick
		for _, q := range queues {
			if turn < len(q) {
				next = append(next, q[turn])
			}
		}
		slices.SortFunc(next, before)
		picks = append(picks, next[:min(len(next), n-len(picks))]...)
	}
	slices.SortFunc(picks, before)
	return picks, nil
}

// within orders the rows of one domain, best first, with their ranks within it and R as a share.
func (s BalancedCEG) within(ids []string, rows []int, all Scores) ([]Pick, error) {
	some := func(v []float64) []float64 {
		if len(v) != len(ids) {
			return v[:0:0] // nil stays; CEG reports others, that they are too few
		}
		return take(v, rows)
	}
	own := Scores{some(all.Su), some(all.Sr), some(all.Sd), some(all.KeyU), some(all.KeyR)}
	picks, err := s.CEG.choose(take(ids, rows), own, len(rows))
	if err != nil {
		return nil, err
	}
	for k := range picks {
		p := &picks[k]
		p.Index = rows[p.Index]
		p.R /= float64(len(rows))
		p.Score = 0 - p.R
	}
	return picks, nil
}
