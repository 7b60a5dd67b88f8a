package cluster

import (
	"fmt"
	"math"
	"sync"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// blockRows is how many samples are compared with all centroids at a time.
const blockRows = 64

// sample is one sample beside all centroids. Which of these can be the nearest, or
// near enough, is found out in float32; the distances that count are then computed
// in float64, so that no result depends on the estimates.
type sample[T dot.Number] struct {
	// index is the sample's place among the samples.
	index int

	c      *Centroids
	row    []T
	square float64 // its squared length
	// The estimates are the inner products with the centroids of length 1, in the
	// order of the live ones, within the error. They are nil if the lengths do not
	// allow any. In Augmented space they include the appended coordinate.
	estimates []float32
	length    float32
	error     float32
}

// distance returns the distance to a live centroid. The length of [f,1] is not
// divided out of the product: cosine distance does not depend on it.
func (s *sample[T]) distance(live int) float64 {
	c, product, square := s.c, dot.Product(s.row, s.c.vectors[live]), s.square
	if c.space == Augmented {
		product += c.ones[live]
		square++
	}
	return cosineDistance(product, square, c.squares[live])
}

// nearest returns the nearest centroid, of equal distances the lower, and its
// distance.
func (s *sample[T]) nearest() (live int, distance float64) {
	longest := float32(math.Inf(-1))
	for _, e := range s.estimates {
		longest = max(longest, e)
	}
	live, distance = -1, math.Inf(1)
	s.atLeast(longest-2*s.error, func(j int) {
		if d := s.distance(j); live < 0 || d < distance {
			live, distance = j, d
		}
	})
	return live, distance
}

// atLeast calls fn, in their order, with the centroids whose estimates are not
// below a bound, or with all if there are none.
func (s *sample[T]) atLeast(bound float32, fn func(live int)) {
	if s.estimates == nil {
		for j := range s.c.live {
			fn(j)
		}
		return
	}
	for j, e := range s.estimates {
		if e >= bound {
			fn(j)
		}
	}
}

// cosine estimates the cosine of the angle to a live centroid, within the error of estimates of
// vectors of length 1.
func (s *sample[T]) cosine(live int) float32 {
	if s.estimates == nil {
		return float32(1 - s.distance(live))
	}
	return s.estimates[live] / s.length
}

// eachSample calls fn, from several goroutines, with the samples in some rows of a
// matrix, or in all if these are nil. A sample is valid until fn returns.
func eachSample(c *Centroids, features Matrix, rows []int, fn func(s *sample[float32])) error {
	if err := checkMatrix(features); err != nil {
		return err
	}
	if features.Cols != c.dim {
		return fmt.Errorf("cluster: rows of %d features, centroids of %d", features.Cols, c.dim)
	}
	return eachRow(c, features.Data, rows, fn)
}

// eachRow is eachSample of a row-major matrix with Dim columns. Errors name the
// matrix' row.
func eachRow[T dot.Number](c *Centroids, data []T, rows []int, fn func(s *sample[T])) error {
	n := len(data) / c.dim
	if rows != nil {
		n = len(rows)
	}
	size, stride := dot.EstimateSize(blockRows, len(c.live))
	buffers := sync.Pool{New: func() any { return &buffer[T]{estimates: make([]float32, size)} }}
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
		if c.units != nil {
			dot.SetStrips(&b.strips, block, c.dim, c.appended()...)
			dot.Estimate(b.estimates, &b.strips, c.units)
		}
		for i := range last - first {
			s := sample[T]{index: first + i, c: c, row: block[i*c.dim : (i+1)*c.dim]}
			s.square = dot.Square(s.row)
			if math.IsNaN(s.square) || math.IsInf(s.square, 0) {
				row := s.index
				if rows != nil {
					row = rows[row]
				}
				return badRow(row, s.row)
			}
			s.estimate(b.estimates[i*stride : i*stride+len(c.live)])
			fn(&s)
		}
		return nil
	})
}

type buffer[T dot.Number] struct {
	rows      []T // the block's rows, contiguous
	strips    dot.Strips
	estimates []float32
}

// appended is what follows the features of a sample in the space.
func (c *Centroids) appended() []float32 {
	if c.space == Augmented {
		return []float32{1}
	}
	return nil
}

// Lengths between these leave float32 room for products and their sums.
const (
	shortest = 1e-15
	longest  = 1e15
)

// estimate sets the estimates, which are of no use for a sample whose length is
// near the limits of float32.
func (s *sample[T]) estimate(estimates []float32) {
	square := s.square
	if s.c.space == Augmented {
		square++
	}
	length := math.Sqrt(square)
	if s.c.units == nil || length < shortest || length > longest {
		return
	}
	s.estimates, s.length = estimates, float32(length)
	// The centroids have length 1 up to rounding, and computing with the estimates rounds a few
	// times more.
	s.error = float32(length * dot.EstimateError(s.c.dim+16))
}

// setUnits makes the centroids ready to be compared with samples.
func (c *Centroids) setUnits() {
	var rows []float64
	c.vectors = nil
	estimable := true
	for i, row := range c.rows {
		c.vectors = append(c.vectors, dot.NewVector(row[:c.dim]))
		length := math.Sqrt(c.squares[i])
		estimable = estimable && (length == 0 || length > 1e-100 && length < 1e100)
		for _, v := range row {
			if length > 0 {
				v /= length
			}
			rows = append(rows, v)
		}
	}
	if c.units = nil; estimable {
		c.units = dot.NewPanels(rows, len(c.rows[0]))
	}
}
