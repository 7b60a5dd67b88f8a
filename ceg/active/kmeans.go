package active

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// KMeans is a cold start, an extension: it clusters the features of the candidates
// into as many clusters as samples are asked, and takes the member nearest to each
// centre, that of the largest cluster first. It looks at no label and no
// prediction, so it can choose the initial labels. Clusters come from k-means++
// and at most 25 rounds of Lloyd's algorithm, by Euclidean distance. Where copies
// leave clusters empty, the rest are chosen as by [CoreSet].
type KMeans struct {
	// TieSeed orders candidates of equal distance, and clusters of equal size; see
	// [Ties].
	TieSeed uint64
}

// maxLloyd bounds the rounds; the choice hardly changes after ten.
const maxLloyd = 25

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
	if n == 0 {
		return []Pick{}, nil
	}
	ties := Ties{s.TieSeed, c.IDs}
	l := newLloyd(c.Features, ties, n, r)
	for range maxLloyd {
		if !l.assign() {
			break
		}
		l.recentre()
	}
	picks := l.representatives()
	if len(picks) < n {
		g := newKCentre(c.Features, ties)
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
		picks[k].ID = c.IDs[picks[k].Index]
	}
	return picks, nil
}

// lloyd is the state of k-means.
type lloyd struct {
	features Matrix
	ties     Ties
	centres  []float64 // [k, D]
	cluster  []int     // of each row
	squares  []float64 // squared length of each row
	distance []float64 // squared, of each row to its centre
}

func newLloyd(features Matrix, ties Ties, k int, r *rand.Rand) *lloyd {
	n, d := features.Rows, features.Cols
	squares := newKCentre(features, ties).squares
	l := &lloyd{features, ties, make([]float64, 0, k*d), make([]int, n), squares, make([]float64, n)}
	s := newSeeding(ties)
	for at := r.IntN(n); ; at = s.draw(r) {
		l.centres = append(l.centres, widen(make([]float64, d), rowOf(features, at))...)
		if len(l.centres) == k*d {
			break
		}
		v := dot.NewVector(rowOf(features, at))
		s.choose(at, func(dst []float64, first int) {
			dot.Against(dst, features.Data[first*d:(first+len(dst))*d], v)
			for i, p := range dst {
				dst[i] = max(squares[first+i]+squares[at]-2*p, 0)
			}
		})
	}
	for i := range l.cluster {
		l.cluster[i] = -1
	}
	return l
}

// assign moves every row to its nearest centre, of equal ones the lowest, and
// reports whether one moved.
func (l *lloyd) assign() bool {
	const block = 64
	d := l.features.Cols
	packed := dot.Pack(l.centres, d)
	squares := make([]float64, packed.Len())
	dot.Squares(squares, packed)
	moved := make([]bool, (l.features.Rows+chunkRows-1)/chunkRows)
	_ = dot.Each(l.features.Rows, chunkRows, func(begin, last int) error {
		var rows dot.Packed
		products := make([]float64, block*len(squares))
		for first := begin; first < last; first += block {
			end := min(first+block, last)
			dot.PackInto(&rows, l.features.Data[first*d:end*d], d)
			dot.Products(products, &rows, packed)
			for i := first; i < end; i++ {
				p := products[(i-first)*len(squares) : (i-first+1)*len(squares)]
				at := 0
				for j := range p {
					p[j] = squares[j] - 2*p[j]
					if p[j] < p[at] {
						at = j
					}
				}
				if l.cluster[i] != at {
					l.cluster[i] = at
					moved[begin/chunkRows] = true
				}
				l.distance[i] = max(l.squares[i]+p[at], 0)
			}
		}
		return nil
	})
	return slices.Contains(moved, true)
}

// recentre moves every centre to the mean of its rows; one without rows stays.
func (l *lloyd) recentre() {
	d := l.features.Cols
	sums, counts := make([]float64, len(l.centres)), make([]int, len(l.centres)/d)
	for i, at := range l.cluster {
		counts[at]++
		sum := sums[at*d : (at+1)*d]
		for j, v := range rowOf(l.features, i) {
			sum[j] += float64(v)
		}
	}
	for at, n := range counts {
		for j := range d {
			if n > 0 {
				l.centres[at*d+j] = sums[at*d+j] / float64(n)
			}
		}
	}
}

// representatives returns the row nearest to each centre that has rows, in the
// order of their number and then of ties. Which row is nearest is decided by
// the distances of the last assignment.
func (l *lloyd) representatives() []Pick {
	nearest := map[int]int{}
	sizes := map[int]int{}
	for i, at := range l.cluster {
		j, ok := nearest[at]
		if !ok || l.distance[i] < l.distance[j] || l.distance[i] == l.distance[j] && l.ties.before(i, j) {
			nearest[at] = i
		}
		sizes[at]++
	}
	picks := make([]Pick, 0, len(nearest))
	for at, i := range nearest {
		picks = append(picks, Pick{Index: i, Score: float64(sizes[at])})
	}
	slices.SortFunc(picks, func(a, b Pick) int {
		if c := cmp.Compare(b.Score, a.Score); c != 0 {
			return c
		}
		if l.ties.before(a.Index, b.Index) {
			return -1
		}
		return 1
	})
	return picks
}
