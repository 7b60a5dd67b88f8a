package cluster

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// PerCentroid returns the quota of [Centroids.QuotaRandom] for each centroid: 1.5 * count,
// divided by the number of live centroids minus empty cells (at least 1), rounded up. This
// subtracts the empty cells twice, as the published code does.
func (c *Centroids) PerCentroid(count int) int {
	cells := max(c.Live()-c.Empty(), 1)
	return (3*count + 2*cells - 1) / (2 * cells)
}

// QuotaRandom returns a random sample of count samples near the centroids, as the published code
// does (trainers/adg.py); rows are as in [Centroids.Closest]. It takes the [Centroids.PerCentroid] nearest rows of every centroid,
// even if another centroid is nearer; ties go to the lower row. The union is shuffled by r, and
// the first count rows are kept, or all if there are fewer. Their distances have no upper bound.
// Memory is at most a few hundred megabytes for any number of rows and centroids.
// The map of package ceg: (24).
func (c *Centroids) QuotaRandom(features Matrix, rows []int, count int, r *rand.Rand) (Reliable, error) {
	if count < 0 {
		return Reliable{}, fmt.Errorf("cluster: %d reliable samples, want 0 or more", count)
	}
	n := sampleCount(features, rows)
	matches := make([]Match, n)
	taken, err := c.takeNearest(features, rows, min(c.PerCentroid(count), n), matches)
	if err != nil {
		return Reliable{}, err
	}
	var union []int
	for i, t := range taken {
		if t {
			union = append(union, i)
		}
	}
	r.Shuffle(len(union), func(a, b int) { union[a], union[b] = union[b], union[a] })
	return reliable(union[:min(count, len(union))], matches), nil
}

// maxStored limits the estimates stored during the search for the nearest, of four bytes each. It
// is a variable for the tests.
var maxStored = 1 << 26

// takeNearest marks the per nearest samples of every centroid, and matches all of them. Distances
// are compared only where estimates leave open who is among the nearest.
func (c *Centroids) takeNearest(features Matrix, rows []int, per int, matches []Match) ([]bool, error) {
	n := len(matches)
	taken := make([]bool, n)
	group := c.Live()
	switch per {
	case 0, n: // none or all, whatever the distances are
		for i := range taken {
			taken[i] = per > 0
		}
		per = 0
	default:
		group = max(1, min(group, maxStored/n))
	}
	for first := 0; first < c.Live(); first += group {
		block := c.slice(first, min(first+group, c.Live()))
		ranked := block.Live()
		if per == 0 {
			ranked = 0
		}
		cosines := make([]float32, ranked*n) // [ranked, n]
		err := eachSample(block, features, rows, func(s *sample[float32]) {
			if live, d := s.nearest(); first == 0 || d < matches[s.index].Distance {
				matches[s.index] = block.match(live, d)
			}
			for j := range ranked {
				cosines[j*n+s.index] = s.cosine(j)
			}
		})
		if err != nil {
			return nil, err
		}
		for j := range ranked {
			block.take(taken, j, per, cosines[j*n:(j+1)*n], func(i int) []float32 {
				if rows != nil {
					i = rows[i]
				}
				return rowOf(features, i)
			})
		}
	}
	return taken, nil
}

// take marks the per samples that are nearest to a live centroid, of equal distances the lower,
// given all estimated cosines. It computes the distances of those near the last place alone.
func (c *Centroids) take(taken []bool, live, per int, cosines []float32, row func(i int) []float32) {
	const bins = 1 << 11 // of one length of cosine
	bin := func(cosine float32) int { return int(min(max(1-cosine, 0), 2) * bins) }
	var counts [2*bins + 1]int
	for _, v := range cosines {
		counts[bin(v)]++
	}
	last := 0 // the bin with the last place
	for n := counts[0]; n < per; n += counts[last] {
		last++
	}
	// Twice the error of the estimates, and roundings.
	slack := 2 * float32(dot.EstimateError(c.dim+32))
	least, most := 1-float32(last+1)/bins-slack, 1-float32(last)/bins+slack
	type placed struct {
		sample   int
		distance float64
	}
	var open []placed
	for i, v := range cosines {
		if v > most {
			taken[i] = true
			per--
		} else if v >= least {
			x := row(i)
			s := sample[float32]{c: c, row: x, square: dot.Square(x)}
			open = append(open, placed{i, s.distance(live)})
		}
	}
	slices.SortStableFunc(open, func(a, b placed) int { return cmp.Compare(a.distance, b.distance) })
	for _, p := range open[:per] {
		taken[p.sample] = true
	}
}
