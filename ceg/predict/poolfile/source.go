package poolfile

import (
	"context"
	"fmt"
	"math"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/internal/dot"
	"github.com/ledg-go/ledg/datasets/arrays"
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
	poolGroups       = "groups"
	labelledGroups   = "labelled_groups"
)

// MaxClasses bounds the number of classes and of domains that a file numbers but does not name: a
// head has weights for each, so that one stray number would fill the memory.
const MaxClasses = 10_000

// source is an open pool file.
type source struct {
	file *arrays.File
	ctx  context.Context // of the one query that it is open for
	rows int             // N; -1 until the first array of the pool is opened
	from string          // that array
	keep []int           // of the rows those that matrices have, increasing; nil for all
	// unlabelled says that the file has no labelled samples, and the strategy needs
	// none.
	unlabelled bool
	// with has the groups, nil for none.
	with *active.Candidates
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

// matrix reads the logits or the probabilities of the selected rows as float32.
func (s *source) matrix(p probs, logits, probs *active.Matrix) (err error) {
	to := probs
	if p.logits {
		to = logits
	}
	*to, err = read(s, p.array, s.rows, p.cols, s.keep, p.check)
	return err
}

// remaining returns the number of rows of the matrices.
func (s *source) remaining() int {
	if s.keep != nil {
		return len(s.keep)
	}
	return s.rows
}

// readFeatures reads a matrix of features as float32: the rows in keep, nil for all.
func (s *source) readFeatures(a *arrays.Array, rows, cols int, keep []int) (active.Matrix, error) {
	return read(s, a, rows, cols, keep, checkFinite[float32])
}

// read reads rows of a matrix as float32: those in keep, which increase, nil for all. check
// returns an error for a row that cannot be used.
func read[T arrays.Float](s *source, a *arrays.Array, rows, cols int, keep []int, check func(row []T) error) (active.Matrix, error) {
	at := func(k int) int { return k } // the row of the array that is row k of the matrix
	if keep != nil {
		rows, at = len(keep), func(k int) int { return keep[k] }
	}
	m := active.Matrix{Rows: rows, Cols: cols, Stride: cols, Data: make([]float32, 0, rows*cols)}
	k := 0
	err := arrays.Blocks(s.ctx, a, func(first int, block []T) error {
		for ; k < rows && at(k) < first+len(block)/cols; k++ {
			row := block[(at(k)-first)*cols:][:cols]
			if err := check(row); err != nil {
				return a.Errorf("row %d: %w", at(k), err)
			}
			for _, v := range row {
				m.Data = append(m.Data, float32(v))
			}
		}
		return nil
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
		switch {
		case v >= 0 && v < limit:
		case where == "":
			return nil, a.Errorf("row %d: %d, want 0 to %d", i, v, limit-1)
		default:
			return nil, a.Errorf("row %d: %d, want 0 to %d, the columns of %s", i, v, limit-1, where)
		}
	}
	return values, nil
}
