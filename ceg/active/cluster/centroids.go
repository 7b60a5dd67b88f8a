package cluster

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/ceg/internal/dot"
	"gonum.org/v1/gonum/blas/blas32"
)

// Matrix is a row-major float32 matrix with one sample a row; Stride equals Cols.
type Matrix = blas32.General

// Space is the feature space in which centroids are averaged and distances measured.
type Space uint8

const (
	// Raw uses unchanged features: centroids are means of F(x), as in Yuan et al. 2022 (Eq. 4).
	Raw Space = iota
	// Augmented maps a feature f to [f, 1] / |[f, 1]|, as the published code does
	// (utils/strategy.py). The mean of these is not normalised again.
	Augmented
)

func (s Space) String() string {
	switch s {
	case Raw:
		return "raw"
	case Augmented:
		return "augmented"
	}
	return fmt.Sprintf("Space(%d)", uint8(s))
}

// Centroids are the knowledge centroids: the mean feature of the labelled samples of each
// (domain, class) cell.
type Centroids struct {
	space                 Space
	domains, classes, dim int
	counts                []int // per cell

	live    []int       // cells that have a centroid, ascending
	rows    [][]float64 // the centroids of live, complete
	ones    []float64   // mean of the appended coordinate; zeros in Raw space
	squares []float64   // squared lengths, the appended coordinate included

	// vectors are the centroids without the appended coordinate, and units those of
	// length 1 with it, for estimates; see setUnits.
	vectors []dot.Vector
	units   *dot.Panels
}

// Compute averages the labelled features of each cell (Eq. 4): row i has domain domains[i] in
// [0, K) and class classes[i] in [0, C), with K = domainCount and C = classCount. It needs at
// least one row. Errors name the row. The map of package ceg: (6).
func Compute(features Matrix, domains, classes []int, domainCount, classCount int, space Space) (*Centroids, error) {
	if err := checkMatrix(features); err != nil {
		return nil, err
	}
	if len(domains) != features.Rows || len(classes) != features.Rows {
		return nil, fmt.Errorf("cluster: %d feature rows with %d domains and %d classes", features.Rows, len(domains), len(classes))
	}
	b, err := NewBuilder(domainCount, classCount, features.Cols, space)
	if err != nil {
		return nil, err
	}
	row := make([]float64, features.Cols)
	for i := range features.Rows {
		for j, v := range rowOf(features, i) {
			row[j] = float64(v)
		}
		if err := b.Add(row, domains[i], classes[i]); err != nil {
			return nil, fmt.Errorf("cluster: labelled row %d: %w", i, err)
		}
	}
	return b.Centroids()
}

// Builder accumulates labelled samples one at a time, in float64.
type Builder struct {
	c    Centroids
	sums [][]float64 // per cell; nil while empty
}

// NewBuilder returns a Builder for features of dim elements.
func NewBuilder(domainCount, classCount, dim int, space Space) (*Builder, error) {
	if domainCount < 1 || classCount < 1 || dim < 1 {
		return nil, fmt.Errorf("cluster: %d domains, %d classes, %d features; want at least one of each", domainCount, classCount, dim)
	}
	if space != Raw && space != Augmented {
		return nil, fmt.Errorf("cluster: unknown space %v", space)
	}
	cells := domainCount * classCount
	return &Builder{
		c:    Centroids{space: space, domains: domainCount, classes: classCount, dim: dim, counts: make([]int, cells)},
		sums: make([][]float64, cells),
	}, nil
}

// Add accumulates the feature of one labelled sample, without retaining the slice.
func (b *Builder) Add(feature []float64, domain, class int) error {
	c := &b.c
	switch {
	case len(feature) != c.dim:
		return fmt.Errorf("%d features, want %d", len(feature), c.dim)
	case domain < 0 || domain >= c.domains:
		return fmt.Errorf("domain %d, want 0 to %d", domain, c.domains-1)
	case class < 0 || class >= c.classes:
		return fmt.Errorf("class %d, want 0 to %d", class, c.classes-1)
	}
	square := 0.0
	for j, v := range feature {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("feature %d is %v", j, v)
		}
		square += v * v
	}
	if math.IsInf(square, 0) {
		return fmt.Errorf("features are too large: their squares overflow")
	}
	cell := domain*c.classes + class
	if b.sums[cell] == nil {
		b.sums[cell] = make([]float64, c.dim+1) // the last is the appended coordinate
	}
	sum, scale := b.sums[cell], 1.0
	if c.space == Augmented {
		scale = math.Sqrt(square + 1)
		sum[c.dim] += 1 / scale
	}
	for j, v := range feature {
		sum[j] += v / scale
	}
	c.counts[cell]++
	return nil
}

// Centroids returns the means of all added samples. It is an error if none was added.
func (b *Builder) Centroids() (*Centroids, error) {
	c := b.c
	c.counts = append([]int(nil), b.c.counts...)
	for cell, n := range c.counts {
		if n == 0 {
			continue
		}
		mean := make([]float64, c.dim+1)
		square := 0.0
		for j, s := range b.sums[cell] {
			mean[j] = s / float64(n)
			square += mean[j] * mean[j]
		}
		c.live = append(c.live, cell)
		c.ones = append(c.ones, mean[c.dim])
		c.squares = append(c.squares, square)
		if c.space == Raw {
			mean = mean[:c.dim:c.dim]
		}
		c.rows = append(c.rows, mean)
	}
	if len(c.live) == 0 {
		return nil, fmt.Errorf("cluster: no labelled sample, so no centroid")
	}
	c.setUnits()
	return &c, nil
}

// slice returns the centroids of the live cells from first to last, exclusive.
func (c *Centroids) slice(first, last int) *Centroids {
	if first == 0 && last == len(c.live) {
		return c
	}
	p := *c
	p.live, p.ones, p.squares, p.rows = c.live[first:last], c.ones[first:last], c.squares[first:last], c.rows[first:last]
	p.setUnits()
	return &p
}

// Dim returns the length of a feature, without the element that Augmented appends.
func (c *Centroids) Dim() int { return c.dim }

// Live returns the number of cells with a centroid.
func (c *Centroids) Live() int { return len(c.live) }

// Empty returns the number of cells without a labelled sample.
func (c *Centroids) Empty() int { return len(c.counts) - len(c.live) }

func rowOf(m Matrix, i int) []float32 { return m.Data[i*m.Stride : i*m.Stride+m.Cols] }

// checkMatrix checks a matrix' layout, not its values.
func checkMatrix(m Matrix) error {
	if m.Rows < 0 || m.Cols < 1 || m.Stride != m.Cols || len(m.Data) != m.Rows*m.Cols {
		return fmt.Errorf("cluster: matrix of %d x %d has stride %d and %d elements; want rows without gaps", m.Rows, m.Cols, m.Stride, len(m.Data))
	}
	return nil
}
