package active

import (
	"fmt"
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/cluster"
)

// CEG asks for the samples with the smallest weighted sum of ranks by
// uncertainty, representativeness and diversity: the exploration of Yuan et al.
// 2022. It needs at least one labelled sample.
type CEG struct {
	// Weights of the ranks; see [Gammas].
	Weights Weights
	// Space is where diversity is measured: cluster.Raw for the paper,
	// cluster.Augmented for the published code.
	Space cluster.Space
	// SoftmaxTwice applies softmax to the probabilities before S_u and S_r are
	// taken, as the published code does (utils/strategy.py), by oversight.
	SoftmaxTwice bool
}

// Scores are CEG's three scores of each candidate.
type Scores struct{ Su, Sr, Sd []float64 }

// Name returns "ceg".
func (CEG) Name() string { return "ceg" }

// Needs returns everything.
func (CEG) Needs() Arrays {
	return Features | ClassProbs | DomainProbs | LabelledFeatures | LabelledCells
}

// Query returns the n candidates with the smallest R.
func (s CEG) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	if err := c.Check(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	scores, err := s.score(c)
	if err != nil {
		return nil, failed(s, err)
	}
	return s.Choose(c.IDs, scores, n)
}

// Score returns the scores of all candidates, for figures and tables.
func (s CEG) Score(c *Candidates) (Scores, error) {
	if err := c.Check(s.Needs(), 0); err != nil {
		return Scores{}, failed(s, err)
	}
	scores, err := s.score(c)
	if err != nil {
		return Scores{}, failed(s, err)
	}
	return scores, nil
}

// score scores candidates that have been checked.
func (s CEG) score(c *Candidates) (Scores, error) {
	centroids, err := cluster.Compute(c.LabelledFeatures, c.LabelledDomains, c.LabelledClasses, c.DomainProbs.Cols, c.ClassProbs.Cols, s.Space)
	if err != nil {
		return Scores{}, err
	}
	n := len(c.IDs)
	scores := Scores{make([]float64, n), make([]float64, n), make([]float64, n)}
	p, q := make([]float64, c.ClassProbs.Cols), make([]float64, c.DomainProbs.Cols)
	for i := range n {
		scores.Su[i] = s.Uncertainty(widen(p, rowOf(c.ClassProbs, i)))
		scores.Sr[i] = s.Representativeness(widen(q, rowOf(c.DomainProbs, i)))
	}
	if err := cluster.MinDistances(scores.Sd, centroids, c.Features.Data); err != nil {
		return Scores{}, fmt.Errorf("features: %w", err)
	}
	return scores, nil
}

// Uncertainty returns S_u of one row of class probabilities, which may be
// overwritten.
func (s CEG) Uncertainty(p []float64) float64 {
	if s.SoftmaxTwice {
		Softmax(p, p)
	}
	return Margin(p)
}

// Representativeness returns S_r of one row of domain probabilities, which may be
// overwritten.
func (s CEG) Representativeness(p []float64) float64 {
	if s.SoftmaxTwice {
		Softmax(p, p)
	}
	return Confidence(p)
}

// Choose returns the n candidates with the smallest R by scores that are known
// already; of equal R the lower index first.
func (s CEG) Choose(ids []string, scores Scores, n int) ([]Pick, error) {
	picks, err := s.choose(ids, scores, n)
	if err != nil {
		return nil, failed(s, err)
	}
	return picks, nil
}

func (s CEG) choose(ids []string, scores Scores, n int) ([]Pick, error) {
	if n < 0 || n > len(ids) {
		return nil, fmt.Errorf("%d samples asked of %d candidates", n, len(ids))
	}
	ranks, err := s.rank(len(ids), scores)
	if err != nil {
		return nil, err
	}
	wanted := make([]float64, len(ids))
	for i := range wanted {
		wanted[i] = 0 - s.Weights.Combine(ranks.su[i], ranks.sr[i], ranks.sd[i])
	}
	picks, err := best(ids, wanted, n)
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

func (s CEG) rank(n int, scores Scores) (ranks, error) {
	if err := s.Weights.Validate(); err != nil {
		return ranks{}, err
	}
	var r ranks
	for _, x := range []struct {
		name   string
		scores []float64
		ranks  *[]int
	}{{"S_u", scores.Su, &r.su}, {"S_r", scores.Sr, &r.sr}, {"S_d", scores.Sd, &r.sd}} {
		if len(x.scores) != n {
			return ranks{}, fmt.Errorf("%d values of %s for %d candidates", len(x.scores), x.name, n)
		}
		var err error
		if *x.ranks, err = Ranks(x.scores); err != nil {
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
