package active

import (
	"fmt"
	"math/rand/v2"
)

// Strategy chooses which candidates to ask labels for. Package activetest checks
// that an implementation keeps to this contract.
type Strategy interface {
	// Name is the strategy's in configs and tables.
	Name() string
	// Needs says which arrays of the candidates it looks at.
	Needs() Arrays
	// Query returns n distinct candidates, most wanted first. Where scores are
	// equal, [Ties] decide: never the row. All draws are from r; strategies that
	// draw none accept nil. The same candidates and stream give the same picks.
	// Candidates are not written to. An n below 0 or above the candidates is an
	// error, and so are NaN and missing arrays; n = 0 gives no picks.
	Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error)
}

// Pick is a candidate that a strategy chose, and why.
type Pick struct {
	// Index is the candidate's row, ID its name.
	Index int
	ID    string
	// Score is the strategy's own: higher is more wanted. It is -R for ceg, the
	// squared distance to what was chosen before for badge (the squared length for
	// the first), the distance for coreset, the size of the cluster for kmeans, and
	// 0 for uniform; the others say theirs.
	Score float64
	// Scored tells whether the rest is set, as the strategies do that explore with
	// CEG's scores.
	Scored bool
	// Su, Sr, Sd are uncertainty, representativeness and diversity, and then come
	// their ranks among the candidates (of ceg-balanced, of the same domain) and the
	// weighted sum of these (of ceg-balanced, of the ranks over their number).
	Su, Sr, Sd             float64
	RankSu, RankSr, RankSd int
	R                      float64
}

// Limited is a strategy that looks at a part of a large pool, or takes long for one.
type Limited interface {
	Strategy
	// Limits says so in a sentence, before the query; empty if it does not matter for
	// n of that many candidates with that many features.
	Limits(n, candidates, features int) string
}

// IDs returns the IDs of picks, in their order.
func IDs(picks []Pick) []string {
	ids := make([]string, len(picks))
	for i, p := range picks {
		ids[i] = p.ID
	}
	return ids
}

// failed names the strategy in an error.
func failed(s Strategy, err error) error { return fmt.Errorf("%s: %w", s.Name(), err) }

// errNoStream is for strategies that draw.
var errNoStream = fmt.Errorf("no random stream")

// best returns the n candidates with the highest keys, which have the order of
// their scores.
func best(ties Ties, scores, keys []float64, n int) ([]Pick, error) {
	if n < 0 || n > len(ties.IDs) {
		return nil, fmt.Errorf("%d samples asked of %d candidates", n, len(ties.IDs))
	}
	order, err := Order(keys, ties)
	if err != nil {
		return nil, err
	}
	picks := make([]Pick, n)
	for k, i := range order[:n] {
		picks[k] = Pick{Index: i, ID: ties.IDs[i], Score: scores[i]}
	}
	return picks, nil
}
