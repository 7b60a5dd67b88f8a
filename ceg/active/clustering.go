package active

import (
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

const (
	// maxLloyd bounds the rounds of k-means; it mostly ends before.
	maxLloyd = 50
	// Centres are found on a sample of the rows, of at least trainRows and of
	// trainPerCentre for each centre; then all rows are given to their nearest.
	trainRows      = 1 << 15
	trainPerCentre = 64
)

// clustering are groups of points, numbered from 0, none of them empty.
type clustering struct {
	of []int // the cluster of each point
	n  int   // how many there are
}

// sizes returns the number of points of each cluster.
func (c clustering) sizes() []int {
	sizes := make([]int, c.n)
	for _, at := range c.of {
		sizes[at]++
	}
	return sizes
}

// compact numbers the clusters that have points in the order of their numbers.
func compact(of []int, k int) clustering {
	number := make([]int, k)
	for _, at := range of {
		number[at] = 1
	}
	n := 0
	for at, has := range number {
		number[at] = n
		n += has
	}
	for i, at := range of {
		of[i] = number[at]
	}
	return clustering{of, n}
}

// kMeans clusters points into at most k groups, at least 1, by k-means++ and at
// most maxLloyd rounds of Lloyd's algorithm; fewer where there are fewer different
// points. Which centre is nearest is decided in float64, of equal ones the lowest.
func kMeans(p points, k int, ties precedence, r *rand.Rand) clustering {
	k = min(k, p.Rows)
	train := p
	if n := max(trainRows, trainPerCentre*k); n < p.Rows {
		index := r.Perm(p.Rows)[:n]
		slices.Sort(index)
		train = p.rows(index)
	}
	l := &lloyd{points: train, centres: seedCentres(train, k, ties, r), cluster: make([]int, train.Rows)}
	for i := range l.cluster {
		l.cluster[i] = -1
	}
	for range maxLloyd {
		if !l.assign() {
			break
		}
		l.recentre()
	}
	if train.Rows < p.Rows {
		l.points, l.cluster = p, make([]int, p.Rows)
		l.assign()
	}
	return compact(l.cluster, len(l.centres)/p.Cols)
}

// seedCentres draws the first centres by k-means++.
func seedCentres(p points, k int, ties precedence, r *rand.Rand) []float64 {
	d := p.Cols
	centres := make([]float64, 0, k*d)
	s := newSeeding(p.Rows, ties)
	for at := r.IntN(p.Rows); ; at = s.draw(r) {
		centres = append(centres, widen(make([]float64, d), rowOf(p.Matrix, at))...)
		if len(centres) == k*d {
			return centres
		}
		v := dot.NewVector(rowOf(p.Matrix, at))
		s.choose(at, func(dst []float64, first int) {
			dot.Against(dst, p.Data[first*d:(first+len(dst))*d], v)
			for i, x := range dst {
				dst[i] = max(p.squares[first+i]+p.squares[at]-2*x, 0)
			}
		})
	}
}

// lloyd is the state of k-means.
type lloyd struct {
	points
	centres []float64 // [k, D]
	cluster []int     // of each row
}

// assign moves every row to its nearest centre, of equal ones the lowest, and
// reports whether one moved.
func (l *lloyd) assign() bool {
	d := l.Cols
	k := len(l.centres) / d
	panels := dot.NewPanels(l.centres, d)
	vectors, squares := make([]dot.Vector, k), make([]float64, k)
	longest := 0.0
	for j := range vectors {
		c := l.centres[j*d : (j+1)*d]
		vectors[j], squares[j] = dot.NewVector(c), dot.Square(c)
		longest = max(longest, squares[j])
	}
	// Twice, since two estimates are compared.
	bound := float32(2 * max(longest, l.longest()) * (2*dot.EstimateError(d) + 8*0x1p-24))
	size, stride := dot.EstimateSize(blockRows, k)
	moved := make([]bool, (l.Rows+chunkRows-1)/chunkRows)
	_ = dot.Each(l.Rows, chunkRows, func(begin, last int) error {
		var strips dot.Strips
		products := make([]float32, size)
		for first := begin; first < last; first += blockRows {
			end := min(first+blockRows, last)
			dot.SetStrips(&strips, l.Data[first*d:end*d], d)
			dot.Estimate(products, &strips, panels)
			for i := first; i < end; i++ {
				p := products[(i-first)*stride:][:k]
				least := float32(squares[0]) - 2*p[0]
				for j, v := range p {
					p[j] = float32(squares[j]) - 2*v
					least = min(least, p[j])
				}
				at, nearest := -1, 0.0
				for j, v := range p {
					if v > least+bound {
						continue
					}
					if e := squares[j] - 2*dot.Product(rowOf(l.Matrix, i), vectors[j]); at < 0 || e < nearest {
						at, nearest = j, e
					}
				}
				if l.cluster[i] != at {
					l.cluster[i] = at
					moved[begin/chunkRows] = true
				}
			}
		}
		return nil
	})
	return slices.Contains(moved, true)
}

// recentre moves every centre to the mean of its rows; one without rows stays.
func (l *lloyd) recentre() {
	for at, c := range means(l.points, clustering{l.cluster, len(l.centres) / l.Cols}) {
		if c != nil {
			copy(l.centres[at*l.Cols:(at+1)*l.Cols], c)
		}
	}
}

// means returns the mean of the points of each cluster, nil for one without.
func means(p points, c clustering) [][]float64 {
	sums, counts := make([][]float64, c.n), make([]int, c.n)
	for i, at := range c.of {
		if sums[at] == nil {
			sums[at] = make([]float64, p.Cols)
		}
		counts[at]++
		sum := sums[at]
		for j, v := range rowOf(p.Matrix, i) {
			sum[j] += float64(v)
		}
	}
	for at, sum := range sums {
		for j := range sum {
			sum[j] /= float64(counts[at])
		}
	}
	return sums
}

// central returns of each cluster the point nearest to the mean, of equally near
// ones the first in the order of ties, with its squared distance.
func central(p points, c clustering, ties precedence) (rows []int, distances []float64) {
	rows, distances = make([]int, c.n), make([]float64, c.n)
	for at := range rows {
		rows[at] = -1
	}
	vectors, squares := make([]dot.Vector, c.n), make([]float64, c.n)
	for at, mean := range means(p, c) {
		vectors[at], squares[at] = dot.NewVector(mean), dot.Square(mean)
	}
	for i, at := range c.of {
		d := p.between(i, vectors[at], squares[at])
		if rows[at] < 0 || d < distances[at] || d == distances[at] && ties.before(i, rows[at]) {
			rows[at], distances[at] = i, d
		}
	}
	return rows, distances
}
