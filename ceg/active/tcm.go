package active

import "math/rand/v2"

// TCM starts with [TypiClust] and switches to [MinMargin] (Doucet et al. 2024, "Bridging
// Diversity and Uncertainty in Active Learning with Self-Supervised Pre-Training"). It selects
// typical samples while fewer than 3 n are labelled: three rounds if all have size n and none is
// labelled before (dal-toolbox's constant).
type TCM struct {
	// TieSeed orders candidates of equal score; see [Ties].
	TieSeed uint64
}

// typicalRounds is for how many rounds TCM begins with TypiClust.
const typicalRounds = 3

func (TCM) Name() string { return "tcm" }

// Needs returns [Features], [LabelledFeatures] and [ClassProbs]; LabelledFeatures may have no
// rows.
func (TCM) Needs() Arrays { return Features | LabelledFeatures | ClassProbs }

// Query returns n candidates with the scores of the strategy in use.
func (s TCM) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if err := c.checkCold(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	now := s.turn(c.LabelledFeatures.Rows, n)
	if r == nil && now.Name() == (TypiClust{}).Name() {
		return nil, failed(s, errNoStream)
	}
	return now.Query(c, n, r)
}

// turn returns the strategy in use for a number of labels and of queries.
func (s TCM) turn(labelled, n int) Strategy {
	if labelled < typicalRounds*n {
		return TypiClust(s)
	}
	return Probability{MinMargin, false, s.TieSeed}
}
