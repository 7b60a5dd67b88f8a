package poolfile

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays"
)

// Query returns the n best samples of the pool in a file by the strategy, best first. Index is
// the row, ID the row in decimal. All randomness comes from r, which may be nil for
// deterministic strategies. Errors name the file, the array and the row; an n below 1 or above
// the pool is a [*CountError]. A strategy that is not [Separable] looks at most rows at most, drawn
// by row number and tie seed; 0 means all.
func Query(ctx context.Context, path string, strategy active.Strategy, n, most int, r *rand.Rand) ([]active.Pick, error) {
	file, err := arrays.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	s := &source{file: file, ctx: ctx, rows: -1}
	if s.keep, err = trained(file); err != nil {
		return nil, err
	}
	s.unlabelled = active.Cold(strategy) && !slices.ContainsFunc(file.Names(), func(name string) bool { return strings.HasPrefix(name, "label") && name != labelledGroups })
	if err := s.readGroups(); err != nil {
		return nil, err
	}
	if Separable(strategy) && (s.with == nil || active.Ordered(strategy)) {
		scored, err := s.score(strategy, n)
		if err != nil {
			return nil, err
		}
		if s.with == nil {
			return s.wrap(s.inFile(scored.choose(strategy, n, r)))
		}
		picks, err := s.wrap(s.inFile(scored.choose(strategy, len(scored.ids), r)))
		if err != nil {
			return nil, err
		}
		return s.with.FirstOfGroups(picks, n), nil
	}
	return s.inMemory(strategy, n, most, r)
}

// Separable reports whether a strategy ranks numbers that every row has by itself, given the
// labelled samples, so that it needs little memory.
func Separable(strategy active.Strategy) bool {
	switch strategy.(type) {
	case active.CEG, active.BalancedCEG, active.Probability, active.Uniform:
		return true
	}
	return false
}

// trained returns the rows of the split train, increasing; nil for all. Others are never queried. Arrays of
// different lengths are an error.
func trained(file *arrays.File) (rows []int, err error) {
	if err := file.CheckRows(); err != nil {
		return nil, err
	}
	name := file.First("splits", "split")
	if name == "" {
		return nil, nil
	}
	a, err := file.Array(name)
	if err != nil {
		return nil, err
	}
	list, err := datasets.ReadSplits(a)
	if err != nil {
		return nil, err
	}
	for i, s := range list {
		if s == datasets.Train {
			rows = append(rows, i)
		}
	}
	switch len(rows) {
	case 0:
		return nil, a.Errorf("no row is of the split train, and others are not queried")
	case len(list):
		return nil, nil
	}
	return rows, nil
}

// inFile gives picks among the rows that are kept their rows in the file.
func (s *source) inFile(picks []active.Pick, err error) ([]active.Pick, error) {
	for i := range picks {
		if s.keep != nil {
			picks[i].Index = s.keep[picks[i].Index]
			picks[i].ID = strconv.Itoa(picks[i].Index)
		}
	}
	return picks, err
}

// scored is what a separable strategy knows of the rows that it chooses from.
type scored struct {
	ids []string // the rows in the file
	// columns are S_u, S_r, S_d and the keys of the first two, a score and its key, or none.
	columns [][]float64
	domains []int // of ceg-balanced
}

// score scores the rows, from which n are to be chosen.
func (s *source) score(strategy active.Strategy, n int) (*scored, error) {
	c := &scored{}
	var err error
	switch strategy := strategy.(type) {
	case active.CEG:
		c.columns, err = s.ceg(strategy, n)
	case active.BalancedCEG:
		if _, err = s.file.Array(poolDomains); err == nil { // before anything is computed
			c.columns, err = s.ceg(strategy.CEG, n)
		}
		if err == nil {
			c.domains, err = s.labels(poolDomains, features, s.rows, MaxClasses, "")
		}
	case active.Probability:
		c.columns, err = s.probability(strategy, n)
	default:
		if err = s.count(); err == nil {
			err = s.checkN(n)
		}
	}
	if err != nil {
		return nil, err
	}
	if c.ids = ids(s.rows); s.keep == nil {
		return c, nil
	}
	c.ids = take(c.ids, s.keep)
	for k := range c.columns {
		c.columns[k] = take(c.columns[k], s.keep)
	}
	if c.domains != nil {
		c.domains = take(c.domains, s.keep)
	}
	return c, nil
}

// choose chooses n of the rows.
func (c *scored) choose(strategy active.Strategy, n int, r *rand.Rand) ([]active.Pick, error) {
	v := c.columns
	switch strategy := strategy.(type) {
	case active.CEG:
		return strategy.Choose(c.ids, c.scores(), n)
	case active.BalancedCEG:
		return strategy.Choose(c.ids, c.domains, c.scores(), n)
	case active.Probability:
		return strategy.Choose(c.ids, v[0], v[1], n)
	}
	return strategy.Query(&active.Candidates{IDs: c.ids}, n, r)
}

func (c *scored) scores() active.Scores {
	v := c.columns
	return active.Scores{Su: v[0], Sr: v[1], Sd: v[2], KeyU: v[3], KeyR: v[4]}
}

// checkN checks n once the number of rows is known, and that every row has a group.
func (s *source) checkN(n int) error {
	if s.with != nil && len(s.with.Groups) != s.rows {
		return s.errorf("%s: %d elements, but %s has %d rows", poolGroups, len(s.with.Groups), s.from, s.rows)
	}
	if rows := s.remaining(); n < 1 || n > rows {
		return &CountError{s.file.Path(), n, rows}
	}
	return nil
}

// CountError is the error of a number of samples that the pool does not have.
type CountError struct {
	Path    string // of the file
	N, Rows int    // queried, and in the file
}

func (e *CountError) Error() string {
	return fmt.Sprintf("%s: %d samples queried from a pool of %d", e.Path, e.N, e.Rows)
}

// wrap names the file in an error that does not come from an array.
func (s *source) wrap(picks []active.Pick, err error) ([]active.Pick, error) {
	if err != nil {
		return nil, s.errorf("%w", err)
	}
	return picks, nil
}

// ceg computes the scores block by block.
func (s *source) ceg(strategy active.CEG, n int) ([][]float64, error) {
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
	return [][]float64{scores.Su, scores.Sr, scores.Sd, scores.KeyU, scores.KeyR}, nil
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
func (s *source) probability(strategy active.Probability, n int) ([][]float64, error) {
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
	return [][]float64{scores, keys}, nil
}
