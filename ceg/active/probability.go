package active

import "math/rand/v2"

// Measure is an uncertainty measure of one row of class probabilities.
type Measure uint8

const (
	MaxEntropy    Measure = iota // [Entropy]
	MinMargin                    // 1 - (p1 - p2), the two largest: best versus second best
	MinConfidence                // 1 - p1, the largest
)

// Probability selects the candidates with the most uncertain class probabilities by a measure.
type Probability struct {
	Measure Measure
	// SoftmaxTwice applies a second softmax to the probabilities, as the published code does.
	SoftmaxTwice bool
	// TieSeed orders candidates of equal scores; see [Ties].
	TieSeed uint64
}

// Name returns "entropy", "bvsb" or "confidence".
func (s Probability) Name() string {
	return []string{"entropy", "bvsb", "confidence"}[s.Measure]
}

func (Probability) Needs() Arrays { return ClassProbs }

// Score returns the score of a candidate from its class logits, and a key that sorts like the
// score and does not saturate.
func (s Probability) Score(class *Row) (score, key float64) {
	return class.score(s.Measure, s.SoftmaxTwice)
}

// Query returns the n candidates with the highest scores.
func (s Probability) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	if err := c.Check(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	class := c.class()
	scores, keys := make([]float64, len(c.IDs)), make([]float64, len(c.IDs))
	z := make([]float64, class.cols())
	var r Row
	for i := range scores {
		r.Set(class.row(z, i))
		scores[i], keys[i] = s.Score(&r)
	}
	return s.Choose(c.IDs, scores, keys, n)
}

// Choose returns the n candidates with the highest precomputed keys.
func (s Probability) Choose(ids []string, scores, keys []float64, n int) ([]Pick, error) {
	picks, err := best(Ties{s.TieSeed, ids}, scores, keys, n)
	return named(s, picks, err)
}
