package cluster

import (
	"fmt"
	"math"
	"sync"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// Match is the centroid nearest to a sample.
type Match struct {
	// Domain and Class are the centroid's; Class is the sample's pseudo-label.
	Domain, Class int
	// Distance is the cosine distance to it, in [0, 2].
	Distance float64
}

// blockRows is how many samples are compared with all centroids at a time.
const blockRows = 64

// Nearest matches every row with its nearest centroid, of any domain: its
// own is not preferred (as in the published code, utils/strategy.py). Among equal
// distances the cell of the lower index wins.
func (c *Centroids) Nearest(features Matrix) ([]Match, error) { return c.nearest(features, nil) }

// nearest matches the samples in some rows, nil for all.
func (c *Centroids) nearest(features Matrix, rows []int) ([]Match, error) {
	matches := make([]Match, sampleCount(features, rows))
	err := c.eachDistances(features, rows, func(i int, distances []float64) { matches[i] = c.nearestOf(distances) })
	if err != nil {
		return nil, err
	}
	return matches, nil
}

// sampleCount is the number of samples in some rows of a matrix, nil for all.
func sampleCount(features Matrix, rows []int) int {
	if rows == nil {
		return features.Rows
	}
	return len(rows)
}

// nearestOf returns the nearest centroid by the distances to all of them.
func (c *Centroids) nearestOf(distances []float64) Match {
	best := 0
	for j, d := range distances {
		if d < distances[best] {
			best = j
		}
	}
	return Match{c.live[best] / c.classes, c.live[best] % c.classes, distances[best]}
}

// MinDistances sets dst[i] to the distance from row i to its nearest centroid:
// the diversity S_d of Yuan et al. 2022. rows is row-major with Dim
// columns and len(dst) rows. Errors name a row of rows, from 0.
func MinDistances[T dot.Number](dst []float64, c *Centroids, rows []T) error {
	if len(rows) != len(dst)*c.dim {
		return fmt.Errorf("cluster: %d elements are not %d rows of %d", len(rows), len(dst), c.dim)
	}
	return eachDistances(c, rows, nil, func(i int, distances []float64) {
		least := distances[0]
		for _, d := range distances[1:] {
			least = min(least, d)
		}
		dst[i] = least
	})
}

func (c *Centroids) eachDistances(features Matrix, rows []int, fn func(i int, distances []float64)) error {
	if err := checkMatrix(features); err != nil {
		return err
	}
	if features.Cols != c.dim {
		return fmt.Errorf("cluster: rows of %d features, centroids of %d", features.Cols, c.dim)
	}
	return eachDistances(c, features.Data, rows, fn)
}

// eachDistances calls fn, from several goroutines, with the distances of every
// sample to the live centroids in their order. The samples are some rows of a
// matrix, or all if these are nil. Errors name the matrix' row.
func eachDistances[T dot.Number](c *Centroids, data []T, rows []int, fn func(i int, distances []float64)) error {
	n := len(data) / c.dim
	if rows != nil {
		n = len(rows)
	}
	live := len(c.live)
	buffers := sync.Pool{New: func() any { return &buffer[T]{products: make([]float64, blockRows*live)} }}
	return dot.Each(n, blockRows, func(first, last int) error {
		b := buffers.Get().(*buffer[T])
		defer buffers.Put(b)
		block := data[first*c.dim:]
		if rows != nil {
			b.rows = b.rows[:0]
			for _, row := range rows[first:last] {
				b.rows = append(b.rows, data[row*c.dim:(row+1)*c.dim]...)
			}
			block = b.rows
		}
		block = block[:(last-first)*c.dim]
		dot.PackInto(&b.block, block, c.dim)
		dot.Squares(b.squares[:], &b.block)
		dot.Products(b.products, &b.block, c.packed)
		for i := first; i < last; i++ {
			square := b.squares[i-first]
			if math.IsNaN(square) || math.IsInf(square, 0) {
				row := i
				if rows != nil {
					row = rows[i]
				}
				return badRow(row, data[row*c.dim:(row+1)*c.dim])
			}
			distances := b.products[(i-first)*live : (i-first+1)*live]
			c.toDistances(distances, square)
			fn(i, distances)
		}
		return nil
	})
}

type buffer[T dot.Number] struct {
	rows     []T // those of the block, side by side
	block    dot.Packed
	squares  [blockRows]float64
	products []float64
}

// toDistances turns the inner products of a row, whose squared length is given,
// with the live centroids into distances. The length of [f,1] is not divided out
// of the products: cosine distance does not depend on it.
func (c *Centroids) toDistances(products []float64, square float64) {
	if c.space == Augmented {
		square++
	}
	for j, p := range products {
		if c.space == Augmented {
			p += c.ones[j]
		}
		products[j] = cosineDistance(p, square, c.squares[j])
	}
}

// cosineDistance returns 1 - p/sqrt(s*t) of two vectors with inner product p and
// squared lengths s and t, and 1 if one of them is zero.
func cosineDistance(p, s, t float64) float64 {
	if s == 0 || t == 0 {
		return 1
	}
	return min(max(1-p/(math.Sqrt(s)*math.Sqrt(t)), 0), 2)
}

// badRow says which value makes a row useless.
func badRow[T dot.Number](i int, row []T) error {
	for j, v := range row {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return &RowError{i, fmt.Sprintf("feature %d is %v", j, v)}
		}
	}
	return &RowError{i, "features are too large: their squares overflow"}
}

// RowError is a row of features that cannot be used.
type RowError struct {
	Row    int    // counted from 0
	Reason string // names the feature and its value
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: %s", e.Row, e.Reason) }
