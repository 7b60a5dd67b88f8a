package poolfile

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/arrays"
	"github.com/ledg-go/ledg/ceg/cluster"
)

// Query returns the n samples of the pool in a file that the strategy wants most,
// best first. Index is the row, ID the row in decimal. All draws are from r, which
// may be nil for strategies that draw none. Errors name the file, the array and
// the row; an n below 1 or above the pool is a [*CountError].
func Query(ctx context.Context, path string, strategy active.Strategy, n int, r *rand.Rand) ([]active.Pick, error) {
	file, err := arrays.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := &source{file: file, ctx: ctx, rows: -1}
	s.unlabelled = active.Cold(strategy) && !slices.ContainsFunc(file.Names(), func(name string) bool { return strings.HasPrefix(name, "label") })
	switch strategy := strategy.(type) {
	case active.CEG:
		return s.ceg(strategy, n, func(scores active.Scores) ([]active.Pick, error) {
			return strategy.Choose(s.ids(), scores, n)
		})
	case active.BalancedCEG:
		if _, err := file.Array(poolDomains); err != nil {
			return nil, err // before anything is computed
		}
		return s.ceg(strategy.CEG, n, func(scores active.Scores) ([]active.Pick, error) {
			own, err := s.labels(poolDomains, features, s.rows, math.MaxInt, "")
			if err != nil {
				return nil, err
			}
			return strategy.Choose(s.ids(), own, scores, n)
		})
	case active.Probability:
		return s.probability(strategy, n)
	}
	return s.inMemory(strategy, n, r)
}

// checkN checks n once the number of rows is known.
func (s *source) checkN(n int) error {
	if n < 1 || n > s.rows {
		return &CountError{s.file.Path(), n, s.rows}
	}
	return nil
}

// CountError is a number of samples that the pool does not have.
type CountError struct {
	Path    string // of the file
	N, Rows int    // asked, and there
}

func (e *CountError) Error() string {
	return fmt.Sprintf("%s: %d samples asked of a pool of %d", e.Path, e.N, e.Rows)
}

// wrap names the file in an error that does not come from an array.
func (s *source) wrap(picks []active.Pick, err error) ([]active.Pick, error) {
	if err != nil {
		return nil, s.errorf("%w", err)
	}
	return picks, nil
}

// ceg computes the scores block by block and lets choose choose by them.
func (s *source) ceg(strategy active.CEG, n int, choose func(active.Scores) ([]active.Pick, error)) ([]active.Pick, error) {
	if err := strategy.Weights.Validate(); err != nil {
		return nil, s.errorf("%w", err)
	}
	f, dim, err := s.pool(features, 1)
	if err != nil {
		return nil, err
	}
	if err := s.checkN(n); err != nil {
		return nil, err
	}
	class, err := s.probs(classes, 2)
	if err != nil {
		return nil, err
	}
	domain, err := s.probs(domains, 1)
	if err != nil {
		return nil, err
	}
	centroids, err := s.centroids(dim, class, domain, strategy.Space)
	if err != nil {
		return nil, err
	}
	scores := active.NewScores(s.rows)
	if err := s.each(class, func(i int, r *active.Row) { scores.Su[i], scores.KeyU[i] = strategy.Uncertainty(r) }); err != nil {
		return nil, err
	}
	if err := s.each(domain, func(i int, r *active.Row) { scores.Sr[i], scores.KeyR[i] = strategy.Representativeness(r) }); err != nil {
		return nil, err
	}
	if f.Type() == arrays.Float32 {
		err = diversity[float32](s, f, centroids, scores.Sd)
	} else {
		err = diversity[float64](s, f, centroids, scores.Sd)
	}
	if err != nil {
		return nil, err
	}
	return s.wrap(choose(scores))
}

func diversity[T arrays.Float](s *source, f *arrays.Array, centroids *cluster.Centroids, dst []float64) error {
	dim := centroids.Dim()
	return arrays.Blocks(s.ctx, f, func(first int, block []T) error {
		err := cluster.MinDistances(dst[first:first+len(block)/dim], centroids, block)
		if row := (*cluster.RowError)(nil); errors.As(err, &row) {
			return f.Errorf("row %d: %s", first+row.Row, row.Reason)
		}
		return err
	})
}

// centroids averages the labelled samples in float64.
func (s *source) centroids(dim int, class, domain probs, space cluster.Space) (*cluster.Centroids, error) {
	a, rows, err := s.labelled(dim)
	if err != nil {
		return nil, err
	}
	if rows == 0 {
		return nil, a.Errorf("no rows: diversity needs at least one labelled sample (kmeans and uniform need none)")
	}
	h, err := s.labels(labelledLabels, labelledFeatures, rows, class.cols, class.array.Name())
	if err != nil {
		return nil, err
	}
	k, err := s.labels(labelledDomains, labelledFeatures, rows, domain.cols, domain.array.Name())
	if err != nil {
		return nil, err
	}
	b, err := cluster.NewBuilder(domain.cols, class.cols, dim, space)
	if err != nil {
		return nil, s.errorf("%w", err)
	}
	err = arrays.Blocks(s.ctx, a, func(first int, block []float64) error {
		for i := range len(block) / dim {
			if err := b.Add(block[i*dim:(i+1)*dim], k[first+i], h[first+i]); err != nil {
				return a.Errorf("row %d: %w", first+i, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	centroids, err := b.Centroids()
	if err != nil {
		return nil, s.errorf("%w", err)
	}
	return centroids, nil
}

// probability scores the class probabilities block by block.
func (s *source) probability(strategy active.Probability, n int) ([]active.Pick, error) {
	class, err := s.probs(classes, 2)
	if err != nil {
		return nil, err
	}
	if err := s.checkN(n); err != nil {
		return nil, err
	}
	scores, keys := make([]float64, s.rows), make([]float64, s.rows)
	if err := s.each(class, func(i int, r *active.Row) { scores[i], keys[i] = strategy.Score(r) }); err != nil {
		return nil, err
	}
	return s.wrap(strategy.Choose(s.ids(), scores, keys, n))
}

// inMemory reads what the strategy needs.
func (s *source) inMemory(strategy active.Strategy, n int, r *rand.Rand) ([]active.Pick, error) {
	c, err := s.candidates(strategy.Needs(), n)
	if err != nil {
		return nil, err
	}
	return s.wrap(strategy.Query(c, n, r))
}

func (s *source) candidates(needs active.Arrays, n int) (*active.Candidates, error) {
	c := &active.Candidates{}
	var class, domain probs
	var f *arrays.Array
	var dim int
	var err error
	// First all shapes, then the data.
	if needs.Has(active.Features) {
		if f, dim, err = s.pool(features, 1); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.ClassProbs) {
		if class, err = s.probs(classes, 2); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.DomainProbs) {
		if domain, err = s.probs(domains, 1); err != nil {
			return nil, err
		}
	}
	if s.rows < 0 {
		if err := s.count(); err != nil {
			return nil, err
		}
	}
	if err := s.checkN(n); err != nil {
		return nil, err
	}
	c.IDs = s.ids()
	if needs.Has(active.Domains) {
		if c.Domains, err = s.labels(poolDomains, s.from, s.rows, math.MaxInt, ""); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.LabelledFeatures) && !s.unlabelled {
		if err := s.readLabelled(c, needs, dim, class, domain); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.ClassProbs) {
		if err = s.matrix(class, &c.ClassLogits, &c.ClassProbs); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.DomainProbs) {
		if err = s.matrix(domain, &c.DomainLogits, &c.DomainProbs); err != nil {
			return nil, err
		}
	}
	if needs.Has(active.Features) {
		if c.Features, err = s.readFeatures(f, s.rows, dim); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (s *source) readLabelled(c *active.Candidates, needs active.Arrays, dim int, class, domain probs) error {
	a, rows, err := s.labelled(dim)
	if err != nil {
		return err
	}
	if needs.Has(active.LabelledCells) {
		if c.LabelledClasses, err = s.labels(labelledLabels, labelledFeatures, rows, class.cols, class.array.Name()); err != nil {
			return err
		}
		if c.LabelledDomains, err = s.labels(labelledDomains, labelledFeatures, rows, domain.cols, domain.array.Name()); err != nil {
			return err
		}
	}
	if needs.Has(active.LabelledClasses) {
		limit, where := math.MaxInt, ""
		if needs.Has(active.ClassProbs) {
			limit, where = class.cols, class.array.Name()
		}
		if c.LabelledClasses, err = s.labels(labelledLabels, labelledFeatures, rows, limit, where); err != nil {
			return err
		}
	}
	if needs.Has(active.LabelledDomains) {
		if c.LabelledDomains, err = s.labels(labelledDomains, labelledFeatures, rows, math.MaxInt, ""); err != nil {
			return err
		}
	}
	if needs.Has(active.LabelledProbs) {
		if err := s.labelledProbs(c, rows); err != nil {
			return err
		}
	}
	c.LabelledFeatures, err = s.readFeatures(a, rows, dim)
	return err
}

// labelledProbs reads what the class head says about the labelled samples.
func (s *source) labelledProbs(c *active.Candidates, rows int) error {
	own := &source{file: s.file, ctx: s.ctx, rows: rows, from: labelledFeatures}
	p, err := own.probs(labelledClasses, 2)
	if err != nil {
		return err
	}
	return own.matrix(p, &c.LabelledClassLogits, &c.LabelledClassProbs)
}

// count finds the number of rows for a strategy that needs no array of the pool:
// that of the first one there is.
func (s *source) count() error {
	for _, name := range []string{features, classes + "_logits", classes + "_probs", domains + "_logits", domains + "_probs"} {
		if s.file.Has(name) {
			_, _, err := s.pool(name, 1)
			return err
		}
	}
	_, err := s.file.Array(features) // says which arrays there are
	return err
}

// ids names the rows.
func (s *source) ids() []string {
	ids := make([]string, s.rows)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	return ids
}
