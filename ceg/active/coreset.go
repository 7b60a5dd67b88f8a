package active

import (
	"math"
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// CoreSet is the greedy k-centre selection of Sener & Savarese 2018: repeatedly the candidate
// farthest from all labelled and picked samples, by Euclidean distance of unnormalised features.
// Without labelled samples the first pick is random. Time is O(n * candidates * D), memory
// O(candidates).
type CoreSet struct {
	// TieSeed orders candidates of equal distance; see [Ties].
	TieSeed uint64
}

func (CoreSet) Name() string { return "coreset" }

// Needs returns [Features] and [LabelledFeatures]; the latter may have no rows.
func (CoreSet) Needs() Arrays { return Features | LabelledFeatures }

// Query returns n candidates in selection order. The score of each is its distance at the pick,
// 0 for a random first pick.
func (s CoreSet) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	// Without labelled samples their number of columns does not matter.
	none := c.LabelledFeatures.Rows == 0
	needs := s.Needs()
	if none {
		needs = Features
	}
	if err := c.Check(needs, n); err != nil {
		return nil, failed(s, err)
	}
	g := newKCentre(c.Features, Ties{s.TieSeed, c.IDs})
	if !none {
		g.addAll(c.LabelledFeatures)
	} else if r == nil {
		return nil, failed(s, errNoStream)
	}
	picks := make([]Pick, n)
	for k := range picks {
		at, score := 0, 0.0
		if none && k == 0 {
			at = r.IntN(len(c.IDs))
		} else {
			at = g.farthest()
			score = math.Sqrt(g.least[at])
		}
		picks[k] = Pick{Index: at, ID: c.IDs[at], Score: score}
		if k+1 < n {
			g.choose(at)
		}
	}
	return picks, nil
}

// chunkRows is the number of rows that a processor handles at a time.
const chunkRows = 1024

// kCentre keeps every row's squared distance to the nearest centre.
type kCentre struct {
	features Matrix
	ties     Ties
	squares  []float64 // squared lengths
	least    []float64 // squared distances; +Inf without centres, -1 for chosen rows
	products []float64 // with the newest centre; reused to avoid garbage
}

func newKCentre(features Matrix, ties Ties) *kCentre {
	n := features.Rows
	g := &kCentre{features, ties, make([]float64, n), make([]float64, n), make([]float64, n)}
	g.each(func(first, last int) {
		for i := first; i < last; i++ {
			g.squares[i] = dot.Square(rowOf(features, i))
			g.least[i] = math.Inf(1)
		}
	})
	return g
}

// each calls fn for chunks of rows, in parallel.
func (g *kCentre) each(fn func(first, last int)) {
	_ = dot.Each(g.features.Rows, chunkRows, func(first, last int) error {
		fn(first, last)
		return nil
	})
}

// update lowers the distance of row i to its distance from a new centre, given the centre's
// squared length and their inner product. Equal rows are at exactly 0.
func (g *kCentre) update(i int, product, square float64) {
	if d := max(g.squares[i]+square-2*product, 0); d < g.least[i] {
		g.least[i] = d
	}
}

// addAll adds centres from outside.
func (g *kCentre) addAll(centres Matrix) {
	const block = 64
	d := centres.Cols
	packed := dot.Pack(centres.Data, d)
	squares := make([]float64, centres.Rows)
	dot.Squares(squares, packed)
	g.each(func(first, last int) {
		var rows dot.Packed
		products := make([]float64, block*centres.Rows)
		for ; first < last; first += block {
			end := min(first+block, last)
			dot.PackInto(&rows, g.features.Data[first*d:end*d], d)
			dot.Products(products, &rows, packed)
			for i := first; i < end; i++ {
				for j, p := range products[(i-first)*len(squares) : (i-first+1)*len(squares)] {
					g.update(i, p, squares[j])
				}
			}
		}
	})
}

// choose makes row at a centre, which is never the farthest again.
func (g *kCentre) choose(at int) {
	d := g.features.Cols
	v := dot.NewVector(rowOf(g.features, at))
	g.least[at] = -1
	g.each(func(first, last int) {
		dot.Against(g.products[first:last], g.features.Data[first*d:last*d], v)
		for i := first; i < last; i++ {
			g.update(i, g.products[i], g.squares[at])
		}
	})
}

// farthest returns the row with the largest distance.
func (g *kCentre) farthest() int { return highest(g.least, nil, g.ties) }
