package active

import (
	"fmt"
	"math/rand/v2"
)

// Strategy selects the candidates to label. Package activetest tests that an implementation
// keeps this contract.
type Strategy interface {
	// Name is the strategy's name in configs and tables.
	Name() string
	// Needs returns the arrays of Candidates that the strategy reads.
	Needs() Arrays
	// Query returns n distinct candidates, best first. [Ties], never row order, decide between
	// equal scores. All randomness comes from r; deterministic strategies accept nil. The same
	// candidates and random stream give the same picks. Query does not modify the candidates. An
	// n below 0 or above the number of candidates is an error, and so are NaN and missing
	// arrays; n = 0 returns no picks.
	Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error)
}

// Pick is a selected candidate with its scores.
type Pick struct {
	// Index is the candidate's row, ID its name.
	Index int
	ID    string
	// Score is the strategy's score; higher is better. It is -R for ceg, the squared distance to
	// the nearest pick for badge (the squared norm for the first), the distance for coreset, the
	// cluster size for kmeans, and 0 for uniform. The other strategies document theirs.
	Score float64
	// Scored is true if the fields below are set, as by the CEG strategies.
	Scored bool
	// Su, Sr and Sd are uncertainty, representativeness and diversity, followed by their ranks
	// among the candidates and the weighted sum R of the ranks. For ceg-balanced, ranks are
	// within the domain, and R sums ranks divided by the domain's number of candidates.
	Su, Sr, Sd             float64
	RankSu, RankSr, RankSd int
	R                      float64
}

// Limited is a strategy that subsamples large pools or is slow on them.
type Limited interface {
	Strategy
	// Limits describes this in one sentence before a query of n from that many candidates with
	// that many features; it is empty if no limit applies.
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

func failed(s Strategy, err error) error { return fmt.Errorf("%s: %w", s.Name(), err) }

// errNoStream is for strategies that draw.
var errNoStream = fmt.Errorf("no random stream")

// best returns the n candidates with the highest keys, which have the order of
// their scores.
func best(ties Ties, scores, keys []float64, n int) ([]Pick, error) {
	if n < 0 || n > len(ties.IDs) {
		return nil, fmt.Errorf("%d samples queried from %d candidates", n, len(ties.IDs))
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

// named names the strategy in an error, if there is one.
func named[T any](s Strategy, v T, err error) (T, error) {
	if err != nil {
		var none T
		return none, failed(s, err)
	}
	return v, nil
}

// limitsOf returns the limits of a strategy within another.
func limitsOf(s Strategy, n, candidates, features int) string {
	if l, ok := s.(Limited); ok {
		return l.Limits(n, candidates, features)
	}
	return ""
}
