package active

import (
	"fmt"
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// CEG is the exploration of Yuan et al. 2022: it selects the samples with the smallest weighted
// sum of ranks by uncertainty, representativeness and diversity (Eq. 6). It needs at least one
// labelled sample.
type CEG struct {
	// Weights weigh the ranks; see [Gammas].
	Weights Weights
	// Space is the feature space of the diversity score: cluster.Raw in the paper,
	// cluster.Augmented in the published code.
	Space cluster.Space
	// SoftmaxTwice applies a second softmax to the probabilities before S_u and S_r, as the
	// published code does by mistake (utils/strategy.py).
	SoftmaxTwice bool
	// TieSeed orders candidates of equal rank sums; see [Ties].
	TieSeed uint64
}

// Scores holds CEG's three scores of each candidate.
type Scores struct {
	Su, Sr, Sd []float64
	// KeyU and KeyR sort like Su and Sr, but also distinguish candidates whose probabilities
	// saturate to the same score. Without keys the scores are compared.
	KeyU, KeyR []float64
}

// NewScores allocates scores of n candidates.
func NewScores(n int) Scores {
	v := make([]float64, 5*n)
	part := func(i int) []float64 { return v[i*n : (i+1)*n : (i+1)*n] }
	return Scores{Su: part(0), Sr: part(1), Sd: part(2), KeyU: part(3), KeyR: part(4)}
}

func (CEG) Name() string { return "ceg" }

// Needs returns all arrays but the domains of the candidates.
func (CEG) Needs() Arrays {
	return Features | ClassProbs | DomainProbs | LabelledFeatures | LabelledCells
}

// Query returns the n candidates with the smallest R (Algorithm 1).
// The map of package ceg: (20).
func (s CEG) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	scores, err := s.scored(c, s.Needs(), n)
	if err != nil {
		return nil, failed(s, err)
	}
	return s.Choose(c.IDs, scores, n)
}

// Score returns the scores of all candidates, for figures and tables (S_d is Eq. 5).
// The map of package ceg: (17).
func (s CEG) Score(c *Candidates) (Scores, error) {
	scores, err := s.scored(c, s.Needs(), 0)
	return named(s, scores, err)
}

// scored scores candidates, n of them to be chosen.
func (s CEG) scored(c *Candidates, needs Arrays, n int) (Scores, error) {
	if err := c.Check(needs, n); err != nil {
		return Scores{}, err
	}
	class, domain := c.class(), c.domain()
	centroids, err := cluster.Compute(c.LabelledFeatures, c.LabelledDomains, c.LabelledClasses, domain.cols(), class.cols(), s.Space)
	if err != nil {
		return Scores{}, err
	}
	scores := NewScores(len(c.IDs))
	_ = dot.Each(len(c.IDs), chunkRows, func(first, last int) error {
		h, k := make([]float64, class.cols()), make([]float64, domain.cols())
		var r Row
		for i := first; i < last; i++ {
			r.Set(class.row(h, i))
			scores.Su[i], scores.KeyU[i] = s.Uncertainty(&r)
			r.Set(domain.row(k, i))
			scores.Sr[i], scores.KeyR[i] = s.Representativeness(&r)
		}
		return nil
	})
	if err := cluster.MinDistances(scores.Sd, centroids, c.Features.Data); err != nil {
		return Scores{}, fmt.Errorf("features: %w", err)
	}
	return scores, nil
}

// Uncertainty returns S_u of a candidate (Eq. 1) and its sort key, from its class logits.
// The map of package ceg: (15).
func (s CEG) Uncertainty(class *Row) (score, key float64) {
	return class.score(MinMargin, s.SoftmaxTwice)
}

// Representativeness returns S_r of a candidate (Eq. 3) and its sort key, from its domain
// logits. The map of package ceg: (16).
func (s CEG) Representativeness(domain *Row) (score, key float64) {
	score, key = domain.score(MinConfidence, s.SoftmaxTwice)
	return 1 - score, 0 - key
}

// Choose returns the n candidates with the smallest R from precomputed scores; [Ties] order
// equal ones.
func (s CEG) Choose(ids []string, scores Scores, n int) ([]Pick, error) {
	picks, err := s.choose(ids, scores, n)
	return named(s, picks, err)
}

func (s CEG) choose(ids []string, scores Scores, n int) ([]Pick, error) {
	ties := Ties{s.TieSeed, ids}
	ranks, err := s.rank(ties, scores)
	if err != nil {
		return nil, err
	}
	wanted := make([]float64, len(ids))
	for i := range wanted {
		wanted[i] = 0 - s.Weights.Combine(ranks.su[i], ranks.sr[i], ranks.sd[i])
	}
	picks, err := best(ties, wanted, wanted, n)
	if err != nil {
		return nil, err
	}
	for k, p := range picks {
		picks[k] = s.explain(p, scores, ranks)
	}
	return picks, nil
}

// ranks are the ranks of each candidate.
type ranks struct{ su, sr, sd []int }

func (s CEG) rank(ties Ties, scores Scores) (ranks, error) {
	if err := s.Weights.Validate(); err != nil {
		return ranks{}, err
	}
	var r ranks
	for _, x := range []struct {
		name         string
		scores, keys []float64
		ranks        *[]int
	}{{"S_u", scores.Su, scores.KeyU, &r.su}, {"S_r", scores.Sr, scores.KeyR, &r.sr}, {"S_d", scores.Sd, nil, &r.sd}} {
		if n := len(ties.IDs); len(x.scores) != n || x.keys != nil && len(x.keys) != n {
			return ranks{}, fmt.Errorf("%d values of %s for %d candidates", len(x.scores), x.name, n)
		}
		if x.keys == nil {
			x.keys = x.scores
		}
		var err error
		if *x.ranks, err = Ranks(x.keys, ties); err != nil {
			return ranks{}, fmt.Errorf("%s: %w", x.name, err)
		}
	}
	return r, nil
}

// explain fills in a pick's scores and ranks.
func (s CEG) explain(p Pick, scores Scores, r ranks) Pick {
	i := p.Index
	p.Scored = true
	p.Su, p.Sr, p.Sd = scores.Su[i], scores.Sr[i], scores.Sd[i]
	p.RankSu, p.RankSr, p.RankSd = r.su[i], r.sr[i], r.sd[i]
	p.R = s.Weights.Combine(p.RankSu, p.RankSr, p.RankSd)
	p.Score = 0 - p.R // never -0
	return p
}
