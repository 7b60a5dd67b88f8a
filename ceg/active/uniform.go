package active

import "math/rand/v2"

// Uniform selects candidates uniformly at random; every order is equally likely.
type Uniform struct{}

func (Uniform) Name() string { return "uniform" }

func (Uniform) Needs() Arrays { return 0 }

// Query draws n candidates from r without replacement.
func (s Uniform) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if err := c.checkDraw(s.Needs(), n, r); err != nil {
		return nil, failed(s, err)
	}
	rows := make([]int, len(c.IDs))
	for i := range rows {
		rows[i] = i
	}
	picks := make([]Pick, n)
	for k := range picks {
		j := k + r.IntN(len(rows)-k)
		rows[k], rows[j] = rows[j], rows[k]
		picks[k] = Pick{Index: rows[k], ID: c.IDs[rows[k]]}
	}
	return picks, nil
}
