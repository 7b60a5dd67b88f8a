package active

import (
	"math"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// points are rows of features with their squared lengths, between which distances
// are taken.
type points struct {
	Matrix
	squares []float64
}

// asPoints takes the rows as they are.
func asPoints(m Matrix) points {
	p := points{m, make([]float64, m.Rows)}
	_ = dot.Each(m.Rows, chunkRows, func(first, last int) error {
		for i := first; i < last; i++ {
			p.squares[i] = dot.Square(rowOf(m, i))
		}
		return nil
	})
	return p
}

// unitPoints returns the rows of matrices of as many columns, one below the other
// and each divided by its length. A row of zeros stays.
func unitPoints(list ...Matrix) points {
	all := Matrix{}
	for _, m := range list {
		all.Rows += m.Rows
		all.Cols = max(all.Cols, m.Cols)
	}
	all.Stride = all.Cols
	all.Data = make([]float32, all.Rows*all.Cols)
	at := all.Data
	for _, m := range list {
		unit(at, m, nil)
		at = at[m.Rows*m.Cols:]
	}
	return asPoints(all)
}

// unitRows is unitPoints for some rows of a matrix, without another copy of them.
func unitRows(m Matrix, rows []int) points {
	out := Matrix{Rows: len(rows), Cols: m.Cols, Stride: m.Cols, Data: make([]float32, len(rows)*m.Cols)}
	unit(out.Data, m, rows)
	return asPoints(out)
}

// unit writes the rows of m, or some, each divided by its length, where dst has zeros.
func unit(dst []float32, m Matrix, rows []int) {
	n := m.Rows
	if rows != nil {
		n = len(rows)
	}
	_ = dot.Each(n, chunkRows, func(first, last int) error {
		for k := first; k < last; k++ {
			i := k
			if rows != nil {
				i = rows[k]
			}
			length := math.Sqrt(dot.Square(rowOf(m, i)))
			if length == 0 {
				continue
			}
			row := dst[k*m.Cols : (k+1)*m.Cols]
			for j, v := range rowOf(m, i) {
				row[j] = float32(float64(v) / length)
			}
		}
		return nil
	})
}

func (p points) rows(index []int) points {
	q := points{cluster.SelectRows(p.Matrix, index), make([]float64, len(index))}
	for k, i := range index {
		q.squares[k] = p.squares[i]
	}
	return q
}

// distance returns the squared distance of points i and j, exactly 0 between copies.
func (p points) distance(i, j int) float64 {
	if i == j {
		return 0
	}
	return p.between(i, dot.NewVector(rowOf(p.Matrix, j)), p.squares[j])
}

// between returns the squared distance of point i to a vector of a squared length.
func (p points) between(i int, v dot.Vector, square float64) float64 {
	return max(p.squares[i]+square-2*dot.Product(rowOf(p.Matrix, i), v), 0)
}

// longest returns the largest squared length.
func (p points) longest() float64 {
	most := 0.0
	for _, s := range p.squares {
		most = max(most, s)
	}
	return most
}

// blockRows is how many rows are compared with all others at a time.
const blockRows = 64

// estimates are float32 estimates of the squared distances of some points to all.
type estimates struct {
	first, stride int
	rows, cols    int
	data          []float32
}

// row returns the estimates of the distances of point i to all points.
func (e *estimates) row(i int) []float32 { return e.data[(i-e.first)*e.stride:][:e.cols] }

// compared are points that others are compared with.
type compared struct {
	to     points
	panels *dot.Panels
}

func newCompared(to points) *compared {
	return &compared{to, dot.NewPanels(to.Data, to.Cols)}
}

// each calls fn for blocks of the rows of p, from several goroutines, with the
// estimates of their squared distances to the points; bound is how far these may be
// from the distances.
func (c *compared) each(p points, fn func(first, last int, e *estimates)) (bound float64) {
	size, stride := dot.EstimateSize(blockRows, c.to.Rows)
	_ = dot.Each(p.Rows, max(blockRows, (p.Rows/64+blockRows-1)/blockRows*blockRows), func(begin, end int) error {
		var strips dot.Strips
		e := &estimates{stride: stride, cols: c.to.Rows, data: make([]float32, size)}
		for first := begin; first < end; first += blockRows {
			last := min(first+blockRows, end)
			dot.SetStrips(&strips, p.Data[first*p.Cols:last*p.Cols], p.Cols)
			dot.Estimate(e.data, &strips, c.panels)
			e.first, e.rows = first, last-first
			for i := first; i < last; i++ {
				row, s := e.row(i), float32(p.squares[i])
				for j, v := range row {
					row[j] = max(s+float32(c.to.squares[j])-2*v, 0)
				}
			}
			fn(first, last, e)
		}
		return nil
	})
	return c.bound(p)
}

// bound is how far an estimate may be from the squared distance.
func (c *compared) bound(p points) float64 {
	most := max(p.longest(), c.to.longest())
	// Twice the product's error, and the errors of the three terms and of two sums.
	return most * (2*dot.EstimateError(p.Cols) + 8*0x1p-24)
}
