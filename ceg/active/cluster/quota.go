package cluster

import (
	"container/heap"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
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

// maxStored limits the number of samples stored for all centroids together during the search for
// the nearest, at twelve bytes each. It is a variable for the tests.
var maxStored = 1 << 24

// takeNearest marks the per nearest samples of every centroid, and matches all of
// them.
func (c *Centroids) takeNearest(features Matrix, rows []int, per int, matches []Match) ([]bool, error) {
	taken := make([]bool, len(matches))
	group := c.Live()
	switch per {
	case 0, len(matches): // none or all, whatever the distances are
		for i := range taken {
			taken[i] = per > 0
		}
		per = 0
	default:
		group = max(1, min(group, maxStored/per))
	}
	for first := 0; first < c.Live(); first += group {
		block := c.slice(first, min(first+group, c.Live()))
		closest := make([]nearest, block.Live())
		// Those below which nothing is taken any more, as bits of a float32.
		cosines := make([]atomic.Uint32, block.Live())
		for j := range closest {
			closest[j].size = per
			cosines[j].Store(math.Float32bits(float32(math.Inf(-1))))
		}
		err := eachSample(block, features, rows, func(s *sample[float32]) {
			if live, d := s.nearest(); first == 0 || d < matches[s.index].Distance {
				matches[s.index] = block.match(live, d)
			}
			if per == 0 {
				return
			}
			s.within(cosines, func(j int) {
				// Of two stores the looser may come last, which costs time only.
				if cosine, full := closest[j].offer(int32(s.index), s.distance(j)); full {
					cosines[j].Store(math.Float32bits(cosine))
				}
			})
		})
		if err != nil {
			return nil, err
		}
		for j := range closest {
			for _, i := range closest[j].samples {
				taken[i] = true
			}
		}
	}
	return taken, nil
}

// nearest holds the samples that are nearest to a centroid, of those that it was
// offered: of equal distances the lower ones. It may be used from several
// goroutines; what it holds in the end does not depend on their order. It is a
// heap with the farthest on top.
type nearest struct {
	mu        sync.Mutex
	size      int
	samples   []int32
	distances []float64
}

// offer adds sample i if it is among the nearest so far. It returns the cosine of the farthest
// one once there are enough.
func (k *nearest) offer(i int32, distance float64) (cosine float32, full bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.samples) < k.size {
		heap.Push(k, placed{i, distance})
	} else if top := (placed{k.samples[0], k.distances[0]}); (placed{i, distance}).before(top) {
		k.samples[0], k.distances[0] = i, distance
		heap.Fix(k, 0)
	}
	return float32(1 - k.distances[0]), len(k.samples) == k.size
}

// placed is a sample at a distance.
type placed struct {
	sample   int32
	distance float64
}

func (p placed) before(q placed) bool {
	return p.distance < q.distance || p.distance == q.distance && p.sample < q.sample
}

// Len, Less, Swap, Push and Pop are for package heap.
func (k *nearest) Len() int { return len(k.samples) }

func (k *nearest) Less(a, b int) bool {
	return placed{k.samples[b], k.distances[b]}.before(placed{k.samples[a], k.distances[a]})
}

func (k *nearest) Swap(a, b int) {
	k.samples[a], k.samples[b] = k.samples[b], k.samples[a]
	k.distances[a], k.distances[b] = k.distances[b], k.distances[a]
}

func (k *nearest) Push(x any) {
	p := x.(placed)
	k.samples, k.distances = append(k.samples, p.sample), append(k.distances, p.distance)
}

func (k *nearest) Pop() any { panic("cluster: nothing is ever taken out") }
