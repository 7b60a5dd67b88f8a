package active

import (
	"cmp"
	"math/rand/v2"
	"slices"
)

// KMeans is a cold-start strategy: it clusters the candidates' L2-normalised features into n
// clusters and picks the member nearest to each centroid, largest cluster first (centroid
// initialisation of DropQuery, Gupte et al. 2024). It needs neither labels nor predictions, so
// it can select the initial labels. Clustering is k-means++ and at most 50 Lloyd iterations with
// Euclidean distance. Pools above 32,768 candidates and 64 n are subsampled at random to compute
// the centroids. If duplicates leave fewer than n clusters, [CoreSet] picks the rest.
type KMeans struct {
	// Raw skips the normalisation of features.
	Raw bool
	// TieSeed orders candidates of equal distance, and clusters of equal size; see
	// [Ties].
	TieSeed uint64
}

func (KMeans) Name() string { return "kmeans" }

func (KMeans) Needs() Arrays { return Features }

// Query returns n candidates. The score of each is the size of its cluster.
func (s KMeans) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if err := c.checkDraw(s.Needs(), n, r); err != nil {
		return nil, failed(s, err)
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
