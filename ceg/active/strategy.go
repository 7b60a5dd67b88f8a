package active

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/cluster"
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
	// 0 for uniform.
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

// IDs returns the IDs of picks, in their order.
func IDs(picks []Pick) []string {
	ids := make([]string, len(picks))
	for i, p := range picks {
		ids[i] = p.ID
	}
	return ids
}

// Options are the settings of all strategies; each takes those it knows.
type Options struct {
	// Weights are those of ceg, ceg-batch and ceg-balanced.
	Weights Weights
	// Space is where these measure diversity.
	Space cluster.Space
	// SoftmaxTwice is for them and for entropy, bvsb and confidence: softmax of the
	// probabilities once more, as in the published code, by oversight.
	SoftmaxTwice bool
	// WithoutBias is for badge: the variant of the original paper.
	WithoutBias bool
	// TieSeed is for all that rank or compare: see [Ties].
	TieSeed uint64
}

// Strategies returns every strategy of this package with the options, in the
// order in which they are listed to people.
func Strategies(o Options) []Strategy {
	ceg := CEG{Weights: o.Weights, Space: o.Space, SoftmaxTwice: o.SoftmaxTwice, TieSeed: o.TieSeed}
	return []Strategy{
		ceg,
		BatchCEG{ceg},
		BalancedCEG{ceg},
		Uniform{},
		Probability{MaxEntropy, o.SoftmaxTwice, o.TieSeed},
		Probability{MinMargin, o.SoftmaxTwice, o.TieSeed},
		Probability{MinConfidence, o.SoftmaxTwice, o.TieSeed},
		CoreSet{TieSeed: o.TieSeed},
		BADGE{WithoutBias: o.WithoutBias, TieSeed: o.TieSeed},
		KMeans{TieSeed: o.TieSeed},
	}
}

// Names lists the names of [Strategies].
func Names() []string {
	var names []string
	for _, s := range Strategies(Options{}) {
		names = append(names, s.Name())
	}
	return names
}

// ByName returns the strategy of that name with the options.
func ByName(name string, o Options) (Strategy, error) {
	all := Strategies(o)
	i := slices.IndexFunc(all, func(s Strategy) bool { return s.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("query strategy %q, want one of %s", name, strings.Join(Names(), ", "))
	}
	return all[i], nil
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
