package cluster

import (
	"cmp"
	"fmt"
	"slices"
)

// Reliable is a set of pseudo-labelled samples.
type Reliable struct {
	// Index holds the distinct rows of the samples; see Closest.
	Index []int
	// Match holds their nearest centroids, with the pseudo-label in Class.
	Match []Match
}

// Labels returns the pseudo-labels, parallel to Index.
func (r Reliable) Labels() []int {
	labels := make([]int, len(r.Match))
	for i, m := range r.Match {
		labels[i] = m.Class
	}
	return labels
}

// Closest returns the count samples nearest to a centroid, nearest first; ties go to the lower
// row. This is dist < T of Yuan et al. 2022 (Eq. 7 and 8), with T read as a share of samples. A
// count above the number of rows returns all. It reads only the given rows of the matrix, nil for
// all; the result's Index refers to positions in rows. The map of package ceg: (9).
func (c *Centroids) Closest(features Matrix, rows []int, count int) (Reliable, error) {
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
