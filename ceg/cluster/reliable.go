package cluster

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// Reliable is a set of samples with their pseudo-labels.
type Reliable struct {
	// Index holds the rows of the chosen samples, each once.
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
func (c *Centroids) Closest(features Matrix, count int) (Reliable, error) {
	if count < 0 {
		return Reliable{}, fmt.Errorf("cluster: %d reliable samples, want 0 or more", count)
	}
	matches, err := c.Nearest(features)
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

// Quota is the number of centroids that the published quota is divided among.
type Quota uint8

const (
	// LiveCells divides among the centroids there are.
	LiveCells Quota = iota
	// PublishedCells divides among the live centroids less the empty cells, which
	// subtracts the empty ones twice, as the published code does; at least 1.
	PublishedCells
)

func (q Quota) String() string {
	switch q {
	case LiveCells:
		return "live"
	case PublishedCells:
		return "code"
	}
	return fmt.Sprintf("Quota(%d)", uint8(q))
}

// PerCentroid returns how many samples [Centroids.QuotaRandom] takes for each
// centroid: count times the over-selection factor 1.5, divided among the
// centroids, rounded up.
func (c *Centroids) PerCentroid(count int, q Quota) (int, error) {
	cells := c.Live()
	switch q {
	case LiveCells:
	case PublishedCells:
		cells = max(cells-c.Empty(), 1)
	default:
		return 0, fmt.Errorf("cluster: unknown quota %v", q)
	}
	return (3*count + 2*cells - 1) / (2 * cells), nil
}

// QuotaRandom returns a random choice of count samples among those that are
// nearest to some centroid, as the published code does (trainers/adg.py): for
// every centroid its [Centroids.PerCentroid] nearest rows, of equal distances the
// lower row, whatever other centroid is nearer to them; the union of these,
// shuffled by r; and of that the first count, or all if there are fewer. There
// is no guarantee that they are close.
func (c *Centroids) QuotaRandom(features Matrix, count int, q Quota, r *rand.Rand) (Reliable, error) {
	if count < 0 {
		return Reliable{}, fmt.Errorf("cluster: %d reliable samples, want 0 or more", count)
	}
	per, err := c.PerCentroid(count, q)
	if err != nil {
		return Reliable{}, err
	}
	per = min(per, features.Rows)
	matches, err := c.Nearest(features)
	if err != nil {
		return Reliable{}, err
	}
	live := c.Live()
	distances := make([]float64, features.Rows*live)
	if err := c.eachDistances(features, func(i int, d []float64) { copy(distances[i*live:], d) }); err != nil {
		return Reliable{}, err
	}
	order := make([]int, features.Rows)
	taken := make([]bool, features.Rows)
	for j := range live {
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(distances[a*live+j], distances[b*live+j]) })
		for _, i := range order[:per] {
			taken[i] = true
		}
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

func reliable(index []int, matches []Match) Reliable {
	set := Reliable{Index: slices.Clone(index), Match: make([]Match, len(index))}
	for i, row := range index {
		set.Match[i] = matches[row]
	}
	return set
}
