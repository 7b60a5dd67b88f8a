package active

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
)

// BatchCEG is an extension of [CEG] that diversifies within a batch: after each pick, S_d
// becomes the distance to the nearest centroid or pick and is ranked again. This avoids querying
// near-duplicates together. The first pick is CEG's. The ranks of S_u and S_r stay fixed, and a
// picked sample, with S_d = 0, stays in the ranking.
type BatchCEG struct{ CEG }

func (BatchCEG) Name() string { return "ceg-batch" }

// Query returns n candidates with their scores at the time of the pick.
func (s BatchCEG) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	picks, err := s.query(c, n)
	return named(s, picks, err)
}

func (s BatchCEG) query(c *Candidates, n int) ([]Pick, error) {
	scores, err := s.scored(c, s.Needs(), n)
	if err != nil {
		return nil, err
	}
	ties := Ties{s.TieSeed, c.IDs}
	r, err := s.rank(ties, scores)
	if err != nil {
		return nil, err
	}
	rows, err := cluster.NewRows(c.Features, s.Space)
	if err != nil {
		return nil, err
	}
	order, err := newOrdering(scores.Sd, ties)
	if err != nil {
		return nil, err
	}
	distances := make([]float64, len(c.IDs))
	picked := make([]bool, len(c.IDs))
	picks := make([]Pick, n)
	for k := range picks {
		if k > 0 {
			rows.DistancesTo(distances, picks[k-1].Index)
			distances[picks[k-1].Index] = 0 // but for rounding
			order.lower(distances)
			order.ranks(r.sd)
		}
		least, at := 0.0, -1
		for i, done := range picked {
			if done {
				continue
			}
			if v := s.Weights.Combine(r.su[i], r.sr[i], r.sd[i]); at < 0 || v < least || v == least && ties.before(i, at) {
				least, at = v, i
			}
		}
		picked[at] = true
		picks[k] = s.explain(Pick{Index: at, ID: c.IDs[at]}, scores, r)
	}
	return picks, nil
}

// ordering is the order of scores that only ever get lower. It keeps its buffers,
// to leave no garbage.
type ordering struct {
	scores               []float64
	place                []int // of each row in the order of ties
	order, stayed, moved []int
}

func newOrdering(scores []float64, ties Ties) (*ordering, error) {
	order, err := Order(scores, ties)
	if err != nil {
		return nil, err
	}
	place, err := Ranks(make([]float64, len(scores)), ties)
	if err != nil {
		return nil, err
	}
	return &ordering{scores: scores, place: place, order: order}, nil
}

// ranks sets dst to the rank of each score.
func (o *ordering) ranks(dst []int) {
	for rank, i := range o.order {
		dst[i] = rank
	}
}

// lower sets each score to the value if that is smaller. It sorts only what moved.
func (o *ordering) lower(values []float64) {
	o.stayed, o.moved = o.stayed[:0], o.moved[:0]
	for _, i := range o.order {
		if values[i] < o.scores[i] {
			o.scores[i] = values[i]
			o.moved = append(o.moved, i)
		} else {
			o.stayed = append(o.stayed, i)
		}
	}
	before := func(a, b int) int {
		if c := cmp.Compare(o.scores[b], o.scores[a]); c != 0 {
			return c
		}
		return cmp.Compare(o.place[a], o.place[b])
	}
	slices.SortFunc(o.moved, before)
	stayed, moved := o.stayed, o.moved
	o.order = o.order[:0]
	for len(stayed) > 0 && len(moved) > 0 {
		if before(stayed[0], moved[0]) < 0 {
			o.order, stayed = append(o.order, stayed[0]), stayed[1:]
		} else {
			o.order, moved = append(o.order, moved[0]), moved[1:]
		}
	}
	o.order = append(append(o.order, stayed...), moved...)
}
