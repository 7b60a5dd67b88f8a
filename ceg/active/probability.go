package active

import "math/rand/v2"

// Measure is a score of one row of class probabilities.
type Measure uint8

const (
	MaxEntropy    Measure = iota // [Entropy]
	MinMargin                    // [Margin], known as best versus second best
	MinConfidence                // [LeastConfidence]
)

// Score applies the measure.
func (m Measure) Score(p []float64) float64 {
	switch m {
	case MaxEntropy:
		return Entropy(p)
	case MinMargin:
		return Margin(p)
	case MinConfidence:
		return LeastConfidence(p)
	}
	panic("active: unknown measure")
}

// Probability takes the candidates whose class probabilities are least certain by
// a measure.
type Probability struct {
	Measure Measure
	// SoftmaxTwice applies softmax to the probabilities before they are measured,
	// as the published code does.
	SoftmaxTwice bool
}

// Name returns "entropy", "bvsb" or "confidence".
func (s Probability) Name() string {
	return []string{"entropy", "bvsb", "confidence"}[s.Measure]
}

// Needs returns [ClassProbs].
func (Probability) Needs() Arrays { return ClassProbs }

// Score returns the score of one candidate; p, its class probabilities, may be
// overwritten.
func (s Probability) Score(p []float64) float64 {
	if s.SoftmaxTwice {
		Softmax(p, p)
	}
	return s.Measure.Score(p)
}

// Query returns the n candidates with the highest scores.
func (s Probability) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	if err := c.Check(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	scores := make([]float64, len(c.IDs))
	p := make([]float64, c.ClassProbs.Cols)
	for i := range scores {
		scores[i] = s.Score(widen(p, rowOf(c.ClassProbs, i)))
	}
	return s.Choose(c.IDs, scores, n)
}

// Choose returns the n candidates with the highest scores, for callers that have
// scored them one by one.
func (s Probability) Choose(ids []string, scores []float64, n int) ([]Pick, error) {
	picks, err := best(ids, scores, n)
	if err != nil {
		return nil, failed(s, err)
	}
	return picks, nil
}
