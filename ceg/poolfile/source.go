package poolfile

import (
	"context"
	"fmt"
	"math"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/arrays"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// The names of the arrays.
const (
	features         = "features"
	classes          = "class"   // with _logits or _probs
	domains          = "domain"  // with _logits or _probs
	poolDomains      = "domains" // of the samples
	labelledFeatures = "labelled_features"
	labelledLabels   = "labelled_labels"
	labelledDomains  = "labelled_domains"
	labelledClasses  = "labelled_class" // with _logits or _probs
)

// source is an open pool file.
type source struct {
	file *arrays.File
	ctx  context.Context // of the one query that it is open for
	rows int             // N; -1 until the first array of the pool is opened
	from string          // that array
	// unlabelled says that the file has no labelled samples, and the strategy needs
	// none.
	unlabelled bool
}

// errorf returns an error that names the file.
func (s *source) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %w", s.file.Path(), fmt.Errorf(format, args...))
}

// pool opens a matrix with a row for each sample of the pool.
func (s *source) pool(name string, minCols int) (*arrays.Array, int, error) {
	a, err := s.file.Array(name)
	if err != nil {
		return nil, 0, err
	}
	if name == features {
		a = a.View(0) // the clean one of several
	}
	rows, cols, err := a.Matrix()
	if err != nil {
		return nil, 0, err
	}
	if cols < minCols {
		return nil, 0, a.Errorf("%d columns, want at least %d", cols, minCols)
	}
	if s.rows < 0 {
		s.rows, s.from = rows, name
	}
	if rows != s.rows {
		return nil, 0, a.Errorf("%d rows, but %s has %d", rows, s.from, s.rows)
	}
	return a, cols, nil
}

// probs is an array of logits or probabilities.
type probs struct {
	array  *arrays.Array
	cols   int
	logits bool
}

// probs opens NAME_logits, or NAME_probs if there are none.
func (s *source) probs(name string, minCols int) (probs, error) {
	logits := s.file.Has(name + "_logits")
	if !logits && !s.file.Has(name+"_probs") {
		_, err := s.file.Array(name + "_logits") // says which arrays there are
		return probs{}, fmt.Errorf("%w; want %[2]s_logits or %[2]s_probs", err, name)
	}
	full := name + "_probs"
	if logits {
		full = name + "_logits"
	}
	a, cols, err := s.pool(full, minCols)
	return probs{a, cols, logits}, err
}

// each calls fn, from several goroutines, with what the scores of every row are
// made of; probabilities are turned into logits.
func (s *source) each(p probs, fn func(row int, r *active.Row)) error {
	return arrays.Blocks(s.ctx, p.array, func(first int, block []float64) error {
		return dot.Each(len(block)/p.cols, 512, func(begin, end int) error {
			var r active.Row
			for i := begin; i < end; i++ {
				row := block[i*p.cols : (i+1)*p.cols]
				if err := p.check(row); err != nil {
					return p.array.Errorf("row %d: %w", first+i, err)
				}
				if !p.logits {
					active.Logits(row, row)
				}
				r.Set(row)
				fn(first+i, &r)
			}
			return nil
		})
	})
}

func (p probs) check(row []float64) error {
	if !p.logits {
		return active.CheckProbs(row)
	}
	return checkFinite(row)
}

func checkFinite[T arrays.Float](row []T) error {
	for j, v := range row {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("column %d is %v", j, f)
		}
	}
	return nil
}

// matrix reads the logits or the probabilities of all rows as float32.
func (s *source) matrix(p probs, logits, probs *active.Matrix) error {
	m := active.Matrix{Rows: s.rows, Cols: p.cols, Stride: p.cols, Data: make([]float32, s.rows*p.cols)}
	err := arrays.Blocks(s.ctx, p.array, func(first int, block []float64) error {
		for i := range len(block) / p.cols {
			row := block[i*p.cols : (i+1)*p.cols]
			if err := p.check(row); err != nil {
				return p.array.Errorf("row %d: %w", first+i, err)
			}
			for j, v := range row {
				m.Data[(first+i)*p.cols+j] = float32(v)
			}
		}
		return nil
	})
	if p.logits {
		*logits = m
	} else {
		*probs = m
	}
	return err
}

// readFeatures reads a matrix of features as float32.
func (s *source) readFeatures(a *arrays.Array, rows, cols int) (active.Matrix, error) {
	m := active.Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, rows*cols)}
	err := arrays.Blocks(s.ctx, a, func(first int, block []float32) error {
		copy(m.Data[first*cols:], block)
		return dot.Each(len(block)/cols, 512, func(begin, end int) error {
			for i := begin; i < end; i++ {
				if err := checkFinite(block[i*cols : (i+1)*cols]); err != nil {
					return a.Errorf("row %d: %w", first+i, err)
				}
			}
			return nil
		})
	})
	return m, err
}

// labelled opens the features of the labelled samples, which have as many
// columns as the others.
func (s *source) labelled(cols int) (a *arrays.Array, rows int, err error) {
	if a, err = s.file.Array(labelledFeatures); err != nil {
		return nil, 0, err
	}
	rows, got, err := a.Matrix()
	if err != nil {
		return nil, 0, err
	}
	if got != cols {
		return nil, 0, a.Errorf("%d columns, but %s has %d", got, features, cols)
	}
	return a, rows, nil
}

// labels reads a vector of whole numbers in [0, limit) for the rows of the array
// of; where says which array the limit comes from.
func (s *source) labels(name, of string, rows, limit int, where string) ([]int, error) {
	a, err := s.file.Array(name)
	if err != nil {
		return nil, err
	}
	n, err := a.Vector()
	if err != nil {
		return nil, err
	}
	if n != rows {
		return nil, a.Errorf("%d elements, but %s has %d rows", n, of, rows)
	}
	values, err := arrays.Ints(a)
	if err != nil {
		return nil, err
	}
	for i, v := range values {
		if v < 0 && where == "" {
			return nil, a.Errorf("row %d: %d, want 0 or more", i, v)
		}
		if v < 0 || v >= limit {
			return nil, a.Errorf("row %d: %d, want 0 to %d, the columns of %s", i, v, limit-1, where)
		}
	}
	return values, nil
}
