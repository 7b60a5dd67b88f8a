package cluster

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// Match is a sample's nearest centroid.
type Match struct {
	// Domain and Class are the centroid's cell; Class is the sample's pseudo-label.
	Domain, Class int
	// Distance is the cosine distance, in [0, 2].
	Distance float64
}

// nearest returns the nearest centroid of the samples in some rows, nil for all, over all domains, as
// in the published code (utils/strategy.py). Ties go to the lower cell index.
func (c *Centroids) nearest(features Matrix, rows []int) ([]Match, error) {
	matches := make([]Match, sampleCount(features, rows))
	err := eachSample(c, features, rows, func(s *sample[float32]) { matches[s.index] = c.match(s.nearest()) })
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

// match describes the live centroid at a distance.
func (c *Centroids) match(live int, distance float64) Match {
	return Match{c.live[live] / c.classes, c.live[live] % c.classes, distance}
}

// MinDistances sets dst[i] to the cosine distance from row i to its nearest centroid: the
// diversity S_d of Yuan et al. 2022 (Eq. 5). rows is row-major with Dim columns and len(dst)
// rows. Errors name a row of rows, from 0. The map of package ceg: (7).
func MinDistances[T dot.Number](dst []float64, c *Centroids, rows []T) error {
	if len(rows) != len(dst)*c.dim {
		return fmt.Errorf("cluster: %d elements are not %d rows of %d", len(rows), len(dst), c.dim)
	}
	return eachRow(c, rows, nil, func(s *sample[T]) { _, dst[s.index] = s.nearest() })
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

// RowError is the error of an invalid row of features.
type RowError struct {
	Row    int    // counted from 0
	Reason string // names the feature and its value
}

func (e *RowError) Error() string { return fmt.Sprintf("row %d: %s", e.Row, e.Reason) }
