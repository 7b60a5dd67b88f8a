package active

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// KMeans is a cold start: it clusters the features of the candidates into as many
// clusters as samples are asked, and takes the member nearest to each centre, that of
// the largest cluster first (centroid initialisation of Gupte et al. 2024,
// DropQuery). It looks at no label and no prediction, so it can choose the initial
// labels. Features are divided by their lengths. Clusters come from k-means++ and at
// most 50 rounds of Lloyd's algorithm, by Euclidean distance; above 32,768 candidates
// and 64 for each cluster the centres come from a random part of them. Where copies
// leave too few clusters, the rest are chosen as by [CoreSet].
type KMeans struct {
	// Raw leaves the features as they are.
	Raw bool
	// TieSeed orders candidates of equal distance, and clusters of equal size; see
	// [Ties].
	TieSeed uint64
}

// Name returns "kmeans".
func (KMeans) Name() string { return "kmeans" }

// Needs returns [Features].
func (KMeans) Needs() Arrays { return Features }

// Query returns n candidates; the score of each is the size of its cluster.
func (s KMeans) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if err := c.Check(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	if r == nil {
		return nil, failed(s, errNoStream)
	}
	ties := Ties{s.TieSeed, c.IDs}
	p := points{}
	if s.Raw {
		p = asPoints(c.Features)
	} else {
		p = unitPoints(c.Features)
	}
	return representatives(p, ties, n, r), nil
}

// representatives returns the points nearest to the centres of n clusters.
func representatives(p points, ties Ties, n int, r *rand.Rand) []Pick {
	if n == 0 {
		return []Pick{}
	}
	groups := kMeans(p, n, ties, r)
	rows, _ := central(p, groups, ties)
	picks := make([]Pick, groups.n, n)
	for at, size := range groups.sizes() {
		picks[at] = Pick{Index: rows[at], Score: float64(size)}
	}
	slices.SortFunc(picks, func(a, b Pick) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 || a.Index == b.Index {
			return c
		}
		if ties.before(a.Index, b.Index) {
			return -1
		}
		return 1
	})
	if len(picks) < n {
		g := newKCentre(p.Matrix, ties)
		for _, p := range picks {
			g.choose(p.Index)
		}
		for len(picks) < n {
			at := g.farthest()
			g.choose(at)
			picks = append(picks, Pick{Index: at})
		}
	}
	for k := range picks {
		picks[k].ID = ties.IDs[picks[k].Index]
	}
	return picks
}
