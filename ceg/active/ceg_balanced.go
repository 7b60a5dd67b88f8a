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

// Name returns "ceg-balanced".
func (BalancedCEG) Name() string { return "ceg-balanced" }

// Needs returns the arrays of [CEG] and the domains of the candidates.
func (s BalancedCEG) Needs() Arrays { return s.CEG.Needs() | Domains }

// Query returns n candidates, those with the smallest R first.
func (s BalancedCEG) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	if err := c.Check(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	scores, err := s.score(c)
	if err != nil {
		return nil, failed(s, err)
	}
	return s.Choose(c.IDs, c.Domains, scores, n)
}

// Choose returns n picks from precomputed scores and the domains of the candidates.
func (s BalancedCEG) Choose(ids []string, domains []int, scores Scores, n int) ([]Pick, error) {
	picks, err := s.choose(ids, domains, scores, n)
	if err != nil {
		return nil, failed(s, err)
	}
	return picks, nil
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
	take := func(v []float64) []float64 {
		if len(v) != len(ids) {
			return v[:0:0] // CEG reports that they are too few
		}
		out := make([]float64, len(rows))
		for k, i := range rows {
			out[k] = v[i]
		}
		return out
	}
	own := Scores{Su: take(all.Su), Sr: take(all.Sr), Sd: take(all.Sd)}
	if all.KeyU != nil {
		own.KeyU = take(all.KeyU)
	}
	if all.KeyR != nil {
		own.KeyR = take(all.KeyR)
	}
	names := make([]string, len(rows))
	for k, i := range rows {
		names[k] = ids[i]
	}
	picks, err := s.CEG.choose(names, own, len(rows))
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
