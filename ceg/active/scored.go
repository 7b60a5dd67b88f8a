package active

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// Scored is a strategy that picks the n candidates with the highest scores of a function; see
// [NewScored].
type Scored struct {
	// Called is the strategy's name.
	Called string
	// Reads are the arrays that the function reads.
	Reads Arrays
	// Score returns one acquisition score per candidate; higher scores are picked first. It is
	// deterministic.
	Score func(v View) []float64
	// TieSeed orders candidates of equal scores; see [Ties]. In runs it comes from the seed.
	TieSeed uint64
}

// NewScored returns the strategy of a scoring function. It calls the function on twelve random
// candidates to find out which arrays it reads. It is an error if the function panics there, or
// does not return one finite score per candidate.
func NewScored(name string, score func(v View) []float64) (s Scored, err error) {
	s = Scored{Called: name, Score: score}
	if score == nil {
		return s, failed(s, fmt.Errorf("it has no function"))
	}
	defer func() {
		if p := recover(); p != nil {
			err = failed(s, fmt.Errorf("on %d random candidates: %v", sampleRows, p))
		}
	}()
	v := View{c: sample(), read: &s.Reads}
	if _, err := s.scores(v); err != nil {
		return s, failed(s, fmt.Errorf("on %d random candidates: %w", sampleRows, err))
	}
	return s, nil
}

func (s Scored) Name() string { return s.Called }

func (s Scored) Needs() Arrays { return s.Reads }

// Query returns the n candidates with the highest scores.
func (s Scored) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	if err := c.checkCold(s.Reads, n); err != nil {
		return nil, failed(s, err)
	}
	if n == 0 {
		return []Pick{}, nil
	}
	scores, err := s.scores(View{c: c})
	if err != nil {
		return nil, failed(s, err)
	}
	picks, err := best(Ties{s.TieSeed, c.IDs}, scores, scores, n)
	return named(s, picks, err)
}

// scores calls the function and checks what it returns.
func (s Scored) scores(v View) ([]float64, error) {
	scores := s.Score(v)
	if len(scores) != v.Len() {
		return nil, fmt.Errorf("%d scores for %d candidates, want one each", len(scores), v.Len())
	}
	for i, x := range scores {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("the score of row %d (%q) is %v, want a finite number", i, v.c.IDs[i], x)
		}
	}
	return scores, nil
}

// View gives a scoring function the unlabelled candidates, in one order, and the labelled images.
// Rows of features and probabilities must not be modified; other slices are copies.
type View struct {
	c    *Candidates
	read *Arrays
}

func (v View) reads(a Arrays) *Candidates {
	if v.read != nil {
		*v.read |= a
	}
	return v.c
}

// Len returns the number of candidates.
func (v View) Len() int { return len(v.c.IDs) }

// IDs returns the candidates' names: for images, their paths.
func (v View) IDs() []string { return append([]string(nil), v.c.IDs...) }

// Domains returns the index of each candidate's source domain, from 0.
func (v View) Domains() []int { return append([]int(nil), v.reads(Domains).Domains...) }

// Features returns the feature vectors of the candidates, [candidates][D], of the current network.
func (v View) Features() [][]float32 { return rowsOf(v.reads(Features).Features) }

// Probs returns the class probabilities of the candidates, [candidates][C].
func (v View) Probs() [][]float32 { return rowsOf(v.reads(ClassProbs).class().probs()) }

// DomainProbs returns the domain head's probabilities of the candidates, [candidates][K]. A
// strategy that reads them makes runs train that head.
func (v View) DomainProbs() [][]float32 { return rowsOf(v.reads(DomainProbs).domain().probs()) }

// Margin returns the difference of each candidate's two largest class probabilities, in [0, 1]:
// small where the network is unsure.
func (v View) Margin() []float64 {
	return v.measure(func(r *Row) float64 { s, _ := r.score(MinMargin, false); return 1 - s })
}

// Entropy returns the entropy of each candidate's class probabilities, in nats.
func (v View) Entropy() []float64 {
	return v.measure(func(r *Row) float64 { s, _ := r.score(MaxEntropy, false); return s })
}

// Confidence returns each candidate's largest class probability.
func (v View) Confidence() []float64 {
	return v.measure(func(r *Row) float64 { s, _ := r.score(MinConfidence, false); return 1 - s })
}

func (v View) measure(of func(*Row) float64) []float64 {
	class := v.reads(ClassProbs).class()
	scores, z := make([]float64, v.Len()), make([]float64, class.cols())
	var r Row
	for i := range scores {
		r.Set(class.row(z, i))
		scores[i] = of(&r)
	}
	return scores
}

// Density returns each candidate's mean cosine similarity to all candidates, itself among them, in
// [-1, 1] (Settles and Craven, "An Analysis of Active Learning Strategies for Sequence Labeling
// Tasks", EMNLP 2008).
func (v View) Density() []float64 {
	p := unitPoints(v.reads(Features).Features)
	mean := make([]float64, p.Cols)
	order := make([]int, p.Rows)
	for i := range order {
		order[i] = i
	}
	Ties{0, v.c.IDs}.sort(order) // sums do not go by rows
	for _, i := range order {
		for j, x := range rowOf(p.Matrix, i) {
			mean[j] += float64(x)
		}
	}
	scores := make([]float64, p.Rows)
	for i := range scores {
		for j, x := range rowOf(p.Matrix, i) {
			scores[i] += float64(x) * mean[j]
		}
		scores[i] /= float64(p.Rows)
	}
	return scores
}

// Distance returns each candidate's squared Euclidean distance to the nearest labelled image, by
// features; +Inf where nothing is labelled.
func (v View) Distance() []float64 {
	c := v.reads(Features | LabelledFeatures)
	from, to := asPoints(c.Features), asPoints(c.LabelledFeatures)
	nearest := make([]float64, v.Len())
	for i := range nearest {
		nearest[i] = math.Inf(1)
	}
	for k := range to.Rows {
		w := dot.NewVector(rowOf(to.Matrix, k))
		for i := range nearest {
			nearest[i] = min(nearest[i], from.between(i, w, to.squares[k]))
		}
	}
	return nearest
}

// Labelled returns the feature vectors of the labelled images, [labelled][D], their classes, from
// 0, and their source domains, in the order in which they were labelled.
func (v View) Labelled() (features [][]float32, classes, domains []int) {
	c := v.reads(LabelledFeatures | LabelledClasses | LabelledDomains)
	return rowsOf(c.LabelledFeatures), append([]int(nil), c.LabelledClasses...), append([]int(nil), c.LabelledDomains...)
}

func rowsOf(m Matrix) [][]float32 {
	rows := make([][]float32, m.Rows)
	for i := range rows {
		rows[i] = rowOf(m, i)
	}
	return rows
}

// sampleRows is the number of candidates in sample.
const sampleRows = 12

// sample returns random candidates of two domains and three classes, with three labelled images.
func sample() *Candidates {
	r := rand.New(rand.NewPCG(1, 2))
	normal := func(rows, cols int) Matrix {
		m := Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
		for i := range m.Data {
			m.Data[i] = float32(r.NormFloat64())
		}
		return m
	}
	const labelled = 3
	c := &Candidates{Features: normal(sampleRows, 4), ClassLogits: normal(sampleRows, 3), DomainLogits: normal(sampleRows, 2),
		LabelledFeatures: normal(labelled, 4), LabelledClassProbs: head.SoftmaxRows(normal(labelled, 3)),
		LabelledClasses: []int{0, 1, 2}, LabelledDomains: []int{0, 1, 0}}
	for i := range sampleRows {
		c.IDs, c.Domains = append(c.IDs, fmt.Sprint("candidate ", i)), append(c.Domains, i%2)
	}
	return c
}
