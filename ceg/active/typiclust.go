package active

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// TypiClust picks the most typical sample of the clusters with fewest labels (Hacohen et al.
// 2022, as in the authors' typiclust.py). It clusters the L2-normalised features of candidates
// and labelled samples into min(labelled + n, 500) clusters, skips clusters of at most five
// samples, and sorts the others by labels (fewest first) and size (largest first). It cycles
// through them; each pick is the candidate of the cluster with the largest typicality
//
//	1 / (1e-5 + mean squared distance to the min(20, m/2) nearest)
//
// among the cluster's m unlabelled members. It needs no labels, so it can select the initial
// ones. Exhausted clusters are skipped; small clusters come last. Clusters above 8,192 members
// are subsampled to that size by their IDs.
type TypiClust struct {
	// TieSeed orders candidates of equal typicality and subsamples large clusters; see [Ties].
	TieSeed uint64
}

const (
	maxTypicalClusters = 500
	smallCluster       = 5 // and below
	typicalNeighbours  = 20
	typicalMembers     = 1 << 13
)

func (TypiClust) Name() string { return "typiclust" }

// Needs returns [Features] and [LabelledFeatures]; the latter may have no rows.
func (TypiClust) Needs() Arrays { return Features | LabelledFeatures }

// Query returns n candidates in selection order. The score of each is its typicality.
func (s TypiClust) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if err := c.checkDraw(s.Needs(), n, r); err != nil {
		return nil, failed(s, err)
	}
	if n == 0 {
		return []Pick{}, nil
	}
	p := unitPoints(c.Features, c.LabelledFeatures)
	ties := Ties{s.TieSeed, c.IDs}
	t := &typical{points: p, ties: ties, place: ties.hash, labelled: make([]bool, p.Rows)}
	for i := c.Features.Rows; i < p.Rows; i++ {
		t.labelled[i] = true
	}
	k := min(c.LabelledFeatures.Rows+n, maxTypicalClusters)
	// Ties between points are between candidates only: copies of labelled samples
	// come from seeding alone, where everything is equal.
	t.group(kMeans(p, k, labelledLast{ties, len(c.IDs)}, r))
	picks := make([]Pick, n)
	for i := range picks {
		at, value := t.next()
		picks[i] = Pick{Index: at, ID: c.IDs[at], Score: value}
	}
	return picks, nil
}

// labelledLast is the order of ties, and after it rows that have no ID.
type labelledLast struct {
	precedence
	n int // rows with IDs
}

func (l labelledLast) before(a, b int) bool {
	if a >= l.n || b >= l.n {
		return a < b
	}
	return l.precedence.before(a, b)
}

// typical goes round clusters.
type typical struct {
	points
	ties     precedence
	labelled []bool // or picked
	// place, if not nil, orders the members of large clusters; the first of them represent the
	// cluster.
	place   func(i int) uint64
	members [][]int // of each cluster, without a label
	order   []int   // of the clusters that are not small
	small   []int   // and of the others
	turn    int     // of the next pick
	visited int     // the cluster of the last pick
	knn     int     // and the number of neighbours there
}

// group takes the clusters, whose order stays.
func (t *typical) group(groups clustering) {
	sizes, labels := groups.sizes(), make([]int, groups.n)
	t.members = make([][]int, groups.n)
	for i, at := range groups.of {
		if t.labelled[i] {
			labels[at]++
		} else {
			t.members[at] = append(t.members[at], i)
		}
	}
	for at, size := range sizes {
		if size > smallCluster {
			t.order = append(t.order, at)
		} else {
			t.small = append(t.small, at)
		}
	}
	before := func(a, b int) int {
		return cmp.Or(cmp.Compare(labels[a], labels[b]), cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b))
	}
	slices.SortFunc(t.order, before)
	slices.SortFunc(t.small, before)
}

// next picks a point.
func (t *typical) next() (at int, value float64) {
	cluster := t.nextCluster()
	t.visited = cluster
	members := t.standing(t.members[cluster])
	values, k := t.typicality(members)
	t.knn = k
	best := 0
	for i, v := range values {
		if v > values[best] || i > 0 && v == values[best] && t.ties.before(members[i], members[best]) {
			best = i
		}
	}
	at = members[best]
	t.labelled[at] = true
	left := t.members[cluster]
	t.members[cluster] = slices.Delete(left, slices.Index(left, at), slices.Index(left, at)+1)
	return at, values[best]
}

// nextCluster returns the cluster whose turn it is, of those that have members left.
func (t *typical) nextCluster() int {
	for range t.order {
		at := t.order[t.turn%len(t.order)]
		t.turn++
		if len(t.members[at]) > 0 {
			return at
		}
	}
	for _, at := range t.small {
		if len(t.members[at]) > 0 {
			return at
		}
	}
	panic("active: more picks than candidates")
}

func (t *typical) standing(members []int) []int {
	if len(members) <= typicalMembers || t.place == nil {
		return members
	}
	few := slices.Clone(members)
	slices.SortFunc(few, func(a, b int) int { return cmp.Compare(t.place(a), t.place(b)) })
	few = few[:typicalMembers]
	slices.Sort(few)
	return few
}

// typicality returns the typicality of each point among the others, and the number of neighbours
// used; 0 for a single one. Which are nearest is decided by estimates, how far they are in
// float64.
func (t *typical) typicality(members []int) (values []float64, k int) {
	m := len(members)
	values = make([]float64, m)
	k = min(typicalNeighbours, m/2)
	if k == 0 {
		return values, 0
	}
	p := t.rows(members)
	newCompared(p).each(p, func(first, last int, e *estimates) {
		var nearest neighbours
		for i := first; i < last; i++ {
			nearest.find(e.row(i), i, k)
			v, sum := dot.NewVector(rowOf(p.Matrix, i)), 0.0
			for _, j := range nearest.rows {
				sum += p.between(j, v, p.squares[i])
			}
			values[i] = 1 / (1e-5 + sum/float64(k))
		}
	})
	return values, k
}

// neighbours finds the smallest of many distances.
type neighbours struct {
	rows      []int
	distances []float32
}

// find keeps the k rows with the smallest distances, all but one, sorted by them.
func (n *neighbours) find(distances []float32, but, k int) {
	n.rows, n.distances = n.rows[:0], n.distances[:0]
	for j, d := range distances {
		if j == but || len(n.rows) == k && d >= n.distances[k-1] {
			continue
		}
		at, _ := slices.BinarySearch(n.distances, d)
		if len(n.rows) == k {
			n.rows, n.distances = n.rows[:k-1], n.distances[:k-1]
		}
		n.rows, n.distances = slices.Insert(n.rows, at, j), slices.Insert(n.distances, at, d)
	}
}
