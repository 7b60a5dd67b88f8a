package active

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// UHerding is [MaxHerding] weighted by uncertainty (Bae et al. 2025, "Uncertainty Herding"): the
// gain of a candidate i is
//
//	sum over j of u_j max(k(i, j) - m_j, 0),  k(i, j) = exp(-|z_i - z_j|^2 / s^2)
//
// with u_j = 1 - (p1 - p2) for p = softmax(logits / T), and s the smallest positive distance
// between two labelled samples. Without labels, u and s are 1.
//
// T is selected as by the authors. A head is fitted on all but the latest 30% of the labels. T
// is the first of 1.0, 1.1, ..., 19.9 that minimises the head's expected calibration error on
// these 30%, with as many bins as classes. The head here is a logistic regression on the
// features.
type UHerding struct {
	// Radius is s; zero uses the smallest distance. With weak features and few labels 1 is
	// better, since a small radius reduces the strategy to margin sampling.
	Radius float64
	// Temperature is T; zero selects it.
	Temperature float64
	// TieSeed orders candidates of equal gain; see [Ties].
	TieSeed uint64
}

// Name returns "uherding", and "uherding-s1" with a radius of 1.
func (s UHerding) Name() string {
	if s.Radius == 1 {
		return "uherding-s1"
	}
	return "uherding"
}

// Needs returns [Features], [ClassProbs], [LabelledFeatures] and [LabelledClasses];
// LabelledFeatures may have no rows.
func (UHerding) Needs() Arrays { return Features | ClassProbs | LabelledFeatures | LabelledClasses }

// Query returns n candidates in selection order. The score of each is its gain divided by the
// number of samples considered.
func (s UHerding) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	if err := c.checkCold(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	class, labelled := c.class(), unitPoints(c.LabelledFeatures)
	f, err := s.fit(c)
	if err != nil {
		return nil, failed(s, err)
	}
	sigma, temperature := s.Radius, f.(UHerding).Temperature
	if sigma == 0 {
		sigma = smallestDistance(labelled)
	}
	ties := Ties{s.TieSeed, c.IDs}
	return ties.subsample(maxHerded, n, func(rows []int, own Ties, n int) []Pick {
		var u []float64
		if labelled.Rows > 0 {
			u = make([]float64, len(rows))
			z := make([]float64, class.cols())
			for k, i := range rows {
				u[k] = tempered(class.row(z, i), temperature)
			}
		}
		return herd(unitRows(c.Features, rows), labelled, u, sigma, own, n)
	}), nil
}

// fit chooses the temperature, unless it is there.
func (s UHerding) fit(c *Candidates) (Strategy, error) {
	if s.Temperature != 0 || c.LabelledFeatures.Rows == 0 {
		return s, nil
	}
	var err error
	s.Temperature, err = heldOutTemperature(c.LabelledFeatures, c.LabelledClasses, c.class().cols())
	return s, err
}

// tempered returns 1 - (p1 - p2) of the softmax of z / t, which may overwrite z. It
// does not vanish where p1 rounds to 1.
func tempered(z []float64, t float64) float64 {
	for j := range z {
		z[j] /= t
	}
	var r Row
	r.Set(z)
	return 1 / (1 + math.Exp(-r.margin()))
}

// smallestDistance returns the smallest distance above 0 between two points, 1 if
// there is none.
func smallestDistance(p points) float64 {
	least := math.Inf(1)
	for i := range p.Rows {
		for j := range i {
			if d := p.distance(i, j); d > 0 {
				least = min(least, d)
			}
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return math.Sqrt(least)
}

// temperatures are those that are tried.
func temperatures() []float64 {
	t := make([]float64, 190)
	for i := range t {
		t[i] = float64(10+i) / 10
	}
	return t
}

// coolest returns the first of the temperatures with the smallest expected
// calibration error in a number of bins, and the errors.
func coolest(logits [][]float64, classes []int, bins int) (temperature float64, errors []float64) {
	list := temperatures()
	for _, t := range list {
		errors = append(errors, calibrationError(logits, classes, t, bins))
	}
	return list[slices.Index(errors, slices.Min(errors))], errors
}

// calibrationError is the expected calibration error of the softmax of logits / t:
// the mean over samples of the difference between confidence and accuracy of their
// bin, (b/bins, (b+1)/bins] of the confidence.
func calibrationError(logits [][]float64, classes []int, t float64, bins int) float64 {
	gaps := make([]float64, bins) // sum of confidence - hit
	for i, z := range logits {
		top, sum := 0, 0.0
		for j, v := range z {
			if v > z[top] {
				top = j
			}
		}
		for _, v := range z {
			sum += math.Exp((v - z[top]) / t)
		}
		confidence := 1 / sum
		b := min(max(int(math.Ceil(confidence*float64(bins)))-1, 0), bins-1)
		gaps[b] += confidence
		if top == classes[i] {
			gaps[b]--
		}
	}
	sum := 0.0
	for _, g := range gaps {
		sum += math.Abs(g)
	}
	return sum / float64(len(logits))
}

// heldOutTemperature returns the temperature of a head that is fitted on all labels
// but the latest 30%, by these; 1 where these are none.
func heldOutTemperature(features Matrix, classes []int, classN int) (float64, error) {
	held := 3 * len(classes) / 10
	fit := len(classes) - held
	if held == 0 || fit == 0 {
		return 1, nil
	}
	for i, h := range classes {
		if h >= classN {
			return 0, fmt.Errorf("labelled row %d: class %d, want 0 to %d", i, h, classN-1)
		}
	}
	h, err := fitHead(firstRows(features, fit), classes[:fit], classN)
	if err != nil {
		return 0, err
	}
	logits := make([][]float64, held)
	for i := range logits {
		logits[i] = h.LogitsOf(make([]float64, classN), rowOf(features, fit+i))
	}
	t, _ := coolest(logits, classes[fit:], classN)
	return t, nil
}

func firstRows(m Matrix, n int) Matrix {
	m.Rows, m.Data = n, m.Data[:n*m.Cols]
	return m
}
