package active

import (
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// BADGE is Batch Active learning by Diverse Gradient Embeddings (Ash et al. 2020): k-means++
// seeding on the last-layer gradients of the candidates, each with its predicted class as label.
// The gradient is the outer product of a = p - onehot(argmax p) and b = [1; f]; the 1 is the
// bias. It is never materialised: squared distances are |a(x)b - c(x)d|^2 = |a|^2|b|^2 +
// |c|^2|d|^2 - 2(a.c)(b.d), clipped at 0.
//
// The first pick has the largest gradient norm. Each next pick is drawn with probability
// proportional to the squared distance to the nearest pick. Once all remaining candidates
// duplicate picks, the first by [Ties] is taken. Time is O(n * candidates * (C + D)), memory
// O(candidates).
type BADGE struct {
	// WithoutBias drops the 1 from b, as in the original paper; the published code of CEG
	// includes the bias.
	WithoutBias bool
	// TieSeed orders candidates of equal norm; see [Ties].
	TieSeed uint64
}

func (BADGE) Name() string { return "badge" }

func (BADGE) Needs() Arrays { return Features | ClassProbs }

// Query returns n candidates in selection order.
func (s BADGE) Query(c *Candidates, n int, r *rand.Rand) ([]Pick, error) {
	if err := c.checkDraw(s.Needs(), n, r); err != nil {
		return nil, failed(s, err)
	}
	if n == 0 {
		return []Pick{}, nil
	}
	g := newGradients(c.Features, c.class().probs(), !s.WithoutBias)
	ties := Ties{s.TieSeed, c.IDs}
	seeding := newSeeding(len(c.IDs), ties)
	picks := make([]Pick, n)
	at := highest(g.squares, nil, ties)
	picks[0] = Pick{Index: at, ID: c.IDs[at], Score: g.squares[at]}
	for k := 1; k < n; k++ {
		seeding.choose(at, func(dst []float64, first int) { g.distances(dst, first, at) })
		at = seeding.draw(r)
		picks[k] = Pick{Index: at, ID: c.IDs[at], Score: seeding.least[at]}
	}
	return picks, nil
}

// gradients are the factors of the candidates' gradient embeddings.
type gradients struct {
	features, probs Matrix
	bias            bool
	label           []int     // argmax p, the lowest of equal ones
	squares         []float64 // squared lengths
}

func newGradients(features, probs Matrix, bias bool) *gradients {
	n := features.Rows
	g := &gradients{features, probs, bias, make([]int, n), make([]float64, n)}
	_ = dot.Each(n, chunkRows, func(first, last int) error {
		a := make([]float64, probs.Cols)
		for i := first; i < last; i++ {
			for h, p := range rowOf(probs, i) {
				if p > rowOf(probs, i)[g.label[i]] {
					g.label[i] = h
				}
			}
			b := dot.Square(rowOf(features, i))
			if bias {
				b++
			}
			g.squares[i] = dot.Square(g.error(a, i)) * b
		}
		return nil
	})
	return g
}

// error sets dst to p - onehot(label) of row i, and returns it. The label's is
// minus the sum of the others, which does not vanish where p is rounded to 1.
func (g *gradients) error(dst []float64, i int) []float64 {
	widen(dst, rowOf(g.probs, i))
	dst[g.label[i]] = 0
	sum := 0.0
	for _, p := range dst {
		sum += p
	}
	dst[g.label[i]] = 0 - sum
	return dst
}

// distances sets dst to the squared distances of the rows from first on to row at.
func (g *gradients) distances(dst []float64, first, at int) {
	d := g.features.Cols
	dot.Against(dst, g.features.Data[first*d:(first+len(dst))*d], dot.NewVector(rowOf(g.features, at)))
	a := make([]float64, g.probs.Cols)
	centre := dot.NewVector(g.error(a, at))
	for i, b := range dst {
		if g.bias {
			b++
		}
		row := first + i
		dst[i] = max(g.squares[row]+g.squares[at]-2*(dot.Product(g.error(a, row), centre)*b), 0)
	}
}

// seeding is k-means++ (Arthur & Vassilvitskii 2007).
type seeding struct {
	ties   precedence
	least  []float64 // squared distance to the nearest chosen row; nil before the first
	newest []float64 // and to the newest; reused to avoid garbage
	chosen []bool
}

func newSeeding(n int, ties precedence) *seeding {
	return &seeding{ties: ties, newest: make([]float64, n), chosen: make([]bool, n)}
}

// choose adds row at; distances sets dst to the squared distances to it of the
// rows from first on.
func (s *seeding) choose(at int, distances func(dst []float64, first int)) {
	begin := s.least == nil
	if begin {
		s.least = make([]float64, len(s.chosen))
	}
	s.chosen[at] = true
	_ = dot.Each(len(s.chosen), chunkRows, func(first, last int) error {
		d := s.newest[first:last]
		distances(d, first)
		for i, v := range d {
			if row := first + i; s.chosen[row] {
				s.least[row] = 0
			} else if begin || v < s.least[row] {
				s.least[row] = v
			}
		}
		return nil
	})
}

// draw returns a row that is not chosen, with a probability proportional to its
// distance; the first by ties if all distances are 0.
func (s *seeding) draw(r *rand.Rand) int {
	total := 0.0
	for _, d := range s.least {
		total += d
	}
	left := r.Float64() * total
	last := -1
	for i, d := range s.least {
		if d == 0 {
			continue
		}
		last = i
		if left -= d; left < 0 {
			return i
		}
	}
	if last >= 0 { // left was not used up, by rounding
		return last
	}
	at := -1 // all are selected; callers request no more
	for i, c := range s.chosen {
		if !c && (at < 0 || s.ties.before(i, at)) {
			at = i
		}
	}
	return at
}
