package active

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// BAIT is Batch Active learning via Information maTrices (Ash et al. 2021): it greedily
// minimises the Fisher information bound on the pool's error, here with the binary likelihood of
// the predicted class (Huseljic et al. 2024, "Fast Fishing"). With q the largest class
// probability of a sample and h its features, the sample's Fisher information is q(1-q) h h', of
// rank one. F is the mean of these over candidates and labelled samples, and
//
//	M = I + 1/(L+n) sum over the L labelled of q(1-q) h h'
//
// A picked sample adds weight * q(1-q) h h' to M. BAIT makes 2n greedy picks that minimise
// trace(M^-1 F), then removes the n whose removal raises it least. The rank-one updates are
// exact, in O(candidates * D) a pick.
type BAIT struct {
	// Equal weighs a picked sample like a labelled one, 1/(L+n). Otherwise its weight is
	// n/(L+n), as in the published codes (dal-toolbox: bait.py, JordanAsh/badge:
	// bait_sampling.py).
	Equal bool
	// TieSeed orders candidates of equal score; see [Ties].
	TieSeed uint64
}

// Name returns "bait" or "bait-equal".
func (s BAIT) Name() string {
	if s.Equal {
		return "bait-equal"
	}
	return "bait"
}

// Needs returns [Features], [ClassProbs], [LabelledFeatures] and [LabelledProbs]; the last two
// may have no rows.
func (BAIT) Needs() Arrays { return Features | ClassProbs | LabelledFeatures | LabelledProbs }

// Query returns n candidates in selection order. The score of each is the decrease of the bound
// at its pick.
func (s BAIT) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	if err := c.checkCold(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	ties := Ties{s.TieSeed, c.IDs}
	b, err := newBait(c.Features, spreads(c.class(), len(c.IDs)), c.LabelledFeatures, spreads(c.labelledClass(), c.LabelledFeatures.Rows), n, s.Equal)
	if err != nil {
		return nil, failed(s, err)
	}
	picks := []Pick{}
	for _, k := range b.run(n, ties) {
		at := b.chosen[k]
		picks = append(picks, Pick{Index: at, ID: c.IDs[at], Score: b.lowered[k]})
	}
	return picks, nil
}

// spreads returns sqrt(q(1-q)) of every row, q the largest probability; it does not
// vanish where q rounds to 1.
func spreads(h outputs, rows int) []float64 {
	v := make([]float64, rows)
	_ = dot.Each(rows, chunkRows, func(first, last int) error {
		z := make([]float64, h.cols())
		var r Row
		for i := first; i < last; i++ {
			r.Set(h.row(z, i))
			s := math.Exp(r.lnS) // (1-q)/q
			v[i] = math.Sqrt(s) / (1 + s)
		}
		return nil
	})
	return v
}

// bait is the state of the choice. Of a candidate with v = sqrt(weight q(1-q)) h, w =
// M^-1 v and Q = F w it keeps g = v'w and s = w'Q alone: to add (+) or take out (-)
// another one with w_0 and Q_0 is, with p_0 = M^-1 Q_0, c = v'w_0 and b = v'p_0,
//
//	s += -2 c b / (g_0 ± 1) + c^2 w_0'Q_0 / (g_0 ± 1)^2,  g -= c^2 / (g_0 ± 1)
type bait struct {
	features      Matrix
	scale         []float64  // of each row of features to v
	fisher        *mat.Dense // F
	inverse       *mat.Dense // M^-1
	objective     float64    // trace(M^-1 F)
	g, s          []float64
	done          []bool
	chosen        []int     // in the order of choice
	lowered       []float64 // by how much, for each of them
	left          []bool    // which of them have been taken out
	onForward     func(at int, score, objective float64)
	onBackward    func(at int, score, objective float64)
	along, beside []float64 // v'w_0 and v'p_0 of every row; reused to avoid garbage
}

func newBait(features Matrix, spread []float64, labelled Matrix, labelledSpread []float64, n int, equal bool) (*bait, error) {
	b := &bait{features: features, scale: make([]float64, features.Rows), done: make([]bool, features.Rows),
		g: make([]float64, features.Rows), s: make([]float64, features.Rows),
		along: make([]float64, features.Rows), beside: make([]float64, features.Rows)}
	total := labelled.Rows + n
	weight := 1 / float64(max(total, 1))
	if !equal {
		weight *= float64(n)
	}
	for i, v := range spread {
		b.scale[i] = math.Sqrt(weight) * v
	}
	d := features.Cols
	sum := secondMoment(features, spread)
	own := make([]float64, d*d)
	if labelled.Rows > 0 {
		own = secondMoment(labelled, labelledSpread)
	}
	all := float64(features.Rows + labelled.Rows)
	m := mat.NewSymDense(d, nil)
	b.fisher, b.inverse = mat.NewDense(d, d, nil), mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			b.fisher.Set(i, j, (sum[i*d+j]+own[i*d+j])/all)
			if j >= i {
				v := own[i*d+j] / float64(max(total, 1))
				if i == j {
					v++
				}
				m.SetSym(i, j, v)
			}
		}
	}
	inverse := mat.NewSymDense(d, nil)
	if labelled.Rows == 0 {
		for i := range d {
			inverse.SetSym(i, i, 1)
		}
	} else {
		var c mat.Cholesky
		if !c.Factorize(m) {
			return nil, fmt.Errorf("features are too large: their information matrix overflows")
		}
		if err := c.InverseTo(inverse); err != nil {
			return nil, err
		}
	}
	b.inverse.Copy(inverse)
	var product mat.Dense
	product.Mul(b.inverse, b.fisher)
	b.objective = mat.Trace(&product)
	// w'F w = v' (M^-1 F M^-1) v: both quadratic forms of every row.
	product.Mul(&product, b.inverse)
	b.forms(product.RawMatrix().Data)
	return b, nil
}

// forms sets g and s of all rows, given M^-1 F M^-1.
func (b *bait) forms(outer []float64) {
	const block = 64
	d := b.features.Cols
	inner := dot.Pack(b.inverse.RawMatrix().Data, d)
	around := dot.Pack(outer, d)
	_ = dot.Each(b.features.Rows, chunkRows, func(begin, end int) error {
		var rows dot.Packed
		products := make([]float64, block*d)
		form := func(i int, row []float64) float64 {
			return b.scale[i] * b.scale[i] * dot.Product(rowOf(b.features, i), dot.NewVector(row))
		}
		for first := begin; first < end; first += block {
			last := min(first+block, end)
			dot.PackInto(&rows, b.features.Data[first*d:last*d], d)
			dot.Products(products, &rows, inner)
			for i := first; i < last; i++ {
				b.g[i] = form(i, products[(i-first)*d:(i-first+1)*d])
			}
			dot.Products(products, &rows, around)
			for i := first; i < last; i++ {
				b.s[i] = form(i, products[(i-first)*d:(i-first+1)*d])
			}
		}
		return nil
	})
}

// run chooses n rows and returns their places in chosen, increasing.
func (b *bait) run(n int, ties precedence) []int {
	for range min(2*n, b.features.Rows) {
		b.forward(ties)
	}
	b.left = make([]bool, len(b.chosen))
	b.narrow()
	for len(b.chosen)-count(b.left) > n {
		b.backward(ties)
	}
	var places []int
	for k, out := range b.left {
		if !out {
			places = append(places, k)
		}
	}
	return places
}

func count(set []bool) int {
	n := 0
	for _, v := range set {
		if v {
			n++
		}
	}
	return n
}

// forward adds the row that lowers the objective most.
func (b *bait) forward(ties precedence) {
	at, best := -1, 0.0
	for i, s := range b.s {
		if b.done[i] {
			continue
		}
		if v := s / (1 + b.g[i]); at < 0 || v > best || v == best && ties.before(i, at) {
			at, best = i, v
		}
	}
	b.done[at] = true
	b.chosen, b.lowered = append(b.chosen, at), append(b.lowered, best)
	b.change(at, 1)
	b.objective -= best
	if b.onForward != nil {
		b.onForward(at, best, b.objective)
	}
}

// narrow leaves the chosen rows alone, in their order.
func (b *bait) narrow() {
	b.features = cluster.SelectRows(b.features, b.chosen)
	b.scale, b.g, b.s = take(b.scale, b.chosen), take(b.g, b.chosen), take(b.s, b.chosen)
	b.along, b.beside = b.along[:len(b.chosen)], b.beside[:len(b.chosen)]
}

// backward takes out the chosen row that raises the objective least.
func (b *bait) backward(ties precedence) {
	at, best := -1, 0.0
	for k, s := range b.s {
		if b.left[k] {
			continue
		}
		if v := s / (1 - b.g[k]); at < 0 || v < best || v == best && ties.before(b.chosen[at], b.chosen[k]) {
			at, best = k, v
		}
	}
	b.left[at] = true
	b.change(at, -1)
	b.objective += best
	if b.onBackward != nil {
		b.onBackward(b.chosen[at], best, b.objective)
	}
}

// change adds row k to M (sign 1) or takes it out (-1).
func (b *bait) change(k int, sign float64) {
	d := b.features.Cols
	v := mat.NewVecDense(d, nil)
	for j, x := range rowOf(b.features, k) {
		v.SetVec(j, b.scale[k]*float64(x))
	}
	var w, q, p mat.VecDense
	w.MulVec(b.inverse, v)
	q.MulVec(b.fisher, &w)
	p.MulVec(b.inverse, &q)
	by := mat.Dot(v, &w) + sign
	square := mat.Dot(&w, &q) / by / by
	b.inverse.RankOne(b.inverse, -1/by, &w, &w)
	aw, ap := dot.NewVector(w.RawVector().Data), dot.NewVector(p.RawVector().Data)
	_ = dot.Each(b.features.Rows, blockRows, func(first, last int) error {
		rows := b.features.Data[first*d : last*d]
		along, beside := b.along[first:last], b.beside[first:last]
		dot.Against(along, rows, aw)
		dot.Against(beside, rows, ap)
		for i := range along {
			at := first + i
			c, o := b.scale[at]*along[i], b.scale[at]*beside[i]
			b.s[at] += -2*c*o/by + c*c*square
			b.g[at] -= c * c / by
		}
		return nil
	})
}

// secondMoment returns the sum of s_i^2 x_i x_i' over the rows of a matrix, row by
// row: [D, D]. Its sums have one order, whatever the number of processors.
func secondMoment(m Matrix, s []float64) []float64 {
	const block, depth = 64, 512
	d := m.Cols
	out := make([]float64, d*d)
	blocks := (d + block - 1) / block
	packs := make([]dot.Packed, blocks)
	for first := 0; first < m.Rows; first += depth {
		n := min(depth, m.Rows-first)
		_ = dot.Each(blocks, 1, func(at, _ int) error {
			low, high := at*block, min((at+1)*block, d)
			columns := make([]float64, (high-low)*n)
			for i := range n {
				for j, v := range rowOf(m, first+i)[low:high] {
					columns[j*n+i] = s[first+i] * float64(v)
				}
			}
			dot.PackInto(&packs[at], columns, n)
			return nil
		})
		_ = dot.Each(blocks, 1, func(at, _ int) error {
			products := make([]float64, block*block)
			for other := range at + 1 {
				a, b := &packs[at], &packs[other]
				dot.Products(products[:a.Len()*b.Len()], a, b)
				for y := range a.Len() {
					row := out[(at*block+y)*d+other*block:]
					for x := range b.Len() {
						row[x] += products[y*b.Len()+x]
					}
				}
			}
			return nil
		})
	}
	for i := range d {
		for j := range i {
			out[j*d+i] = out[i*d+j]
		}
	}
	return out
}
