package cluster

import (
	"cmp"
	"fmt"
	"slices"
)

// Reliable is a set of samples with their pseudo-labels.
type Reliable struct {
	// Index holds the rows of the chosen samples, each once; see ClosestOf.
	Index []int
	// Match holds the nearest centroid of each; its Class is the pseudo-label.
	Match []Match
}

// Labels returns the pseudo-labels, one for each of Index.
func (r Reliable) Labels() []int {
	labels := make([]int, len(r.Match))
	for i, m := range r.Match {
		labels[i] = m.Class
	}
	return labels
}

// Closest returns the count samples that are nearest to a centroid, nearest
// first, and of equal distances the lower row first: dist < T of
// Yuan et al. 2022, with T read as a share of samples. A count above the number of
// rows takes all.
// The map of package ceg: (9).
func (c *Centroids) Closest(features Matrix, count int) (Reliable, error) {
	return c.ClosestOf(features, nil, count)
}

// ClosestOf is [Centroids.Closest] of the samples in some rows of the matrix,
// which is not copied. Rows are in range; nil means all. The Index of the result
// holds places in rows, and of equal distances the lower place comes first.
func (c *Centroids) ClosestOf(features Matrix, rows []int, count int) (Reliable, error) {
	if count < 0 {
		return Reliable{}, fmt.Errorf("cluster: %d reliable samples, want 0 or more", count)
	}
	matches, err := c.nearest(features, rows)
	if err != nil {
		return Reliable{}, err
	}
	order := make([]int, len(matches))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(matches[a].Distance, matches[b].Distance) })
	return reliable(order[:min(count, len(order))], matches), nil
}

func reliable(index []int, matches []Match) Reliable {
	set := Reliable{Index: slices.Clone(index), Match: make([]Match, len(index))}
	for i, row := range index {
		set.Match[i] = matches[row]
	}
	return set
}
