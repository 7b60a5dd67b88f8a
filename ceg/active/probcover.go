package active

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// ProbCover covers the pool with balls of a fixed radius around labelled samples (Yehuda et al.
// 2022): it repeatedly picks the candidate whose ball contains most uncovered samples, on
// L2-normalised features. It needs no labels, so it can select the initial ones, but it is
// sensitive to the radius; see [MaxHerding]. Once all samples are covered, the rest follow in
// the order of ties. At most maxCovered candidates, drawn by their IDs, are considered.
type ProbCover struct {
	// Radius is the radius of the balls, in (0, 2]. Zero selects it by six bisection steps in [0, 1]:
	// the largest tried radius with purity at least 0.95. Purity is the share of balls whose
	// members share one [KMeans] cluster, with as many clusters as classes. (ALFM's code returns
	// the last midpoint, which it has not tested.)
	Radius float64
	// Classes is the number of classes, for the radius selection.
	Classes int
	// TieSeed orders candidates of equal degree; see [Ties].
	TieSeed uint64
}

const (
	// maxCovered is the largest number of candidates that [ProbCover] considers.
	maxCovered = 30_000
	purityWant = 0.95
	radiiTried = 6
)

func (ProbCover) Name() string { return "probcover" }

// Needs returns [Features] and [LabelledFeatures]; the latter may have no rows.
func (ProbCover) Needs() Arrays { return Features | LabelledFeatures }

// Query returns n candidates in selection order. The score of each is the number of samples that
// its ball newly covers.
func (s ProbCover) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if err := c.checkCold(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	if s.Radius == 0 && r == nil {
		return nil, failed(s, errNoStream)
	}
	if !(s.Radius >= 0 && s.Radius <= 2) {
		return nil, failed(s, fmt.Errorf("radius %v, want 0 to 2", s.Radius))
	}
	if s.Radius == 0 && s.Classes < 2 {
		return nil, failed(s, fmt.Errorf("the number of classes is not known, nor the radius"))
	}
	ties := Ties{s.TieSeed, c.IDs}
	return ties.subsample(maxCovered, n, func(rows []int, own Ties, n int) []Pick {
		p := unitPoints(cluster.SelectRows(c.Features, rows), c.LabelledFeatures)
		radius := s.Radius
		if radius == 0 && n > 0 {
			groups := kMeans(p, s.Classes, labelledLast{own, len(rows)}, r)
			radius = searchRadius(p, groups).pure
		}
		g := newCover(p, radius)
		for i := len(rows); i < p.Rows; i++ {
			g.add(i)
		}
		picks := make([]Pick, n)
		picked := make([]bool, len(rows))
		for k := range picks {
			at := highest(g.degree[:len(rows)], picked, own)
			picks[k] = Pick{Index: at, Score: float64(g.degree[at])}
			picked[at] = true
			g.add(at)
		}
		return picks
	}), nil
}

// radii are the radii that were tried.
type radii struct {
	tried, purity []float64
	next          float64 // what would be tried next
	pure          float64 // the largest tried that is pure, 0 for none
}

// searchRadius looks for the largest radius whose balls are mostly within clusters.
func searchRadius(p points, groups clustering) radii {
	other := nearestOther(p, groups.of)
	r := radii{}
	low, high, at := 0.0, 1.0, 0.5
	for range radiiTried {
		pure := 0
		for _, d := range other {
			if !(d < at*at) {
				pure++
			}
		}
		purity := float64(pure) / float64(p.Rows)
		r.tried, r.purity = append(r.tried, at), append(r.purity, purity)
		if purity < purityWant {
			high, at = at, (low+at)/2
		} else {
			low, at = at, (high+at)/2
		}
	}
	r.next, r.pure = at, low
	return r
}

// nearestOther returns the squared distance of each point to the nearest one of
// another cluster, +Inf where there is none.
func nearestOther(p points, of []int) []float64 {
	least := make([]float64, p.Rows)
	c := newCompared(p)
	bound := float32(2 * c.bound(p))
	c.each(p, func(first, last int, e *estimates) {
		for i := first; i < last; i++ {
			row, nearest := e.row(i), float32(math.Inf(1))
			for j, d := range row {
				if d < nearest && of[j] != of[i] {
					nearest = d
				}
			}
			least[i] = math.Inf(1)
			v := dot.NewVector(rowOf(p.Matrix, i))
			for j, d := range row {
				if d <= nearest+bound && of[j] != of[i] {
					least[i] = min(least[i], p.between(j, v, p.squares[i]))
				}
			}
		}
	})
	return least
}

// cover is the graph of the points that are in each other's balls.
type cover struct {
	words  int      // of a row
	ball   []uint64 // [points, words]: a bit for each point
	left   []uint64 // a bit for each point that is not covered
	degree []int    // of each point, how many of its ball are not covered
}

func newCover(p points, radius float64) *cover {
	words := (p.Rows + 63) / 64
	g := &cover{words, make([]uint64, p.Rows*words), make([]uint64, words), make([]int, p.Rows)}
	for i := range p.Rows {
		g.left[i/64] |= 1 << (i % 64)
	}
	c := newCompared(p)
	square := radius * radius
	below, above := float32(square-c.bound(p)), float32(square+c.bound(p))
	c.each(p, func(first, last int, e *estimates) {
		for i := first; i < last; i++ {
			row := g.row(i)
			var v *dot.Vector // made where it is needed
			for j, d := range e.row(i) {
				in := d < below
				if !in && d <= above {
					if v == nil {
						own := dot.NewVector(rowOf(p.Matrix, i))
						v = &own
					}
					in = p.between(j, *v, p.squares[i]) < square
				}
				if in || i == j {
					row[j/64] |= 1 << (j % 64)
				}
			}
			for _, w := range row {
				g.degree[i] += bits.OnesCount64(w)
			}
		}
	})
	return g
}

func (g *cover) row(i int) []uint64 { return g.ball[i*g.words : (i+1)*g.words] }

// add covers the ball of point i.
func (g *cover) add(i int) {
	fresh := slices.Clone(g.row(i))
	for w := range fresh {
		fresh[w] &= g.left[w]
		g.left[w] &^= fresh[w]
	}
	// Every point is covered once, so that all of this goes once through the graph.
	for w, word := range fresh {
		for ; word != 0; word &= word - 1 {
			j := w*64 + bits.TrailingZeros64(word)
			for k, near := range g.row(j) {
				for ; near != 0; near &= near - 1 {
					g.degree[k*64+bits.TrailingZeros64(near)]--
				}
			}
		}
	}
}
