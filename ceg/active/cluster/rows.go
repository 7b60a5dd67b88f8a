package cluster

import (
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// Rows computes distances between samples.
type Rows struct {
	features Matrix
	space    Space
	squares  []float64
}

// NewRows prepares the rows of a matrix, which must not be modified afterwards.
func NewRows(features Matrix, space Space) (*Rows, error) {
	if err := checkMatrix(features); err != nil {
		return nil, err
	}
	r := &Rows{features, space, make([]float64, features.Rows)}
	return r, dot.Each(features.Rows, chunkRows, func(first, last int) error {
		for i := first; i < last; i++ {
			square := dot.Square(rowOf(features, i))
			if math.IsNaN(square) || math.IsInf(square, 0) {
				return badRow(i, rowOf(features, i))
			}
			if space == Augmented {
				square++
			}
			r.squares[i] = square
		}
		return nil
	})
}

const chunkRows = 1024

// DistancesTo sets dst[i] to the distance between rows i and j, for every i. The distance of j
// to itself is 0 up to rounding, and 1 for a zero row.
func (r *Rows) DistancesTo(dst []float64, j int) {
	v := dot.NewVector(rowOf(r.features, j))
	d := r.features.Cols
	// No chunk fails, so neither does Each.
	_ = dot.Each(r.features.Rows, chunkRows, func(first, last int) error {
		dot.Against(dst[first:last], r.features.Data[first*d:last*d], v)
		for i := first; i < last; i++ {
			if r.space == Augmented {
				dst[i]++
			}
			dst[i] = cosineDistance(dst[i], r.squares[i], r.squares[j])
		}
		return nil
	})
}

// Join returns the rows of a, followed by those of b; both are without gaps.
func Join(a, b Matrix) Matrix {
	cols := max(a.Cols, b.Cols)
	return Matrix{Rows: a.Rows + b.Rows, Cols: cols, Stride: cols, Data: slices.Concat(a.Data, b.Data)}
}

// SelectRows returns a matrix of the given rows: m itself if these are all rows in order.
func SelectRows(m Matrix, rows []int) Matrix {
	same := len(rows) == m.Rows
	for k, i := range rows {
		same = same && i == k
	}
	if same {
		return m
	}
	out := Matrix{Rows: len(rows), Cols: m.Cols, Stride: m.Cols, Data: make([]float32, len(rows)*m.Cols)}
	for k, i := range rows {
		copy(rowOf(out, k), rowOf(m, i))
	}
	return out
}
