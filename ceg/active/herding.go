package active

import (
	"math"
	"math/rand/v2"

	"github.com/ledg-go/ledg/ceg/internal/dot"
	"github.com/ledg-go/ledg/datasets/registers"
)

// MaxHerding maximises the generalised coverage of the pool (Bae et al. 2024, "Generalized
// Coverage for More Robust Low-Budget Active Learning"). The kernel is k(i, j) = exp(-|z_i -
// z_j|^2) on L2-normalised features z, and m_j is the largest k(l, j) over labelled and picked
// l. Each pick is the candidate i with the largest gain
//
//	sum over j of max(k(i, j) - m_j, 0)
//
// It needs no labels, so it can select the initial ones, and it is deterministic. At most
// maxHerded candidates, drawn by their IDs, are considered; memory is four bytes a pair.
// Kernels are float32 and gains integers, so the result does not depend on the order of rows.
type MaxHerding struct {
	// TieSeed orders candidates of equal gain; see [Ties].
	TieSeed uint64
}

// maxHerded is the largest number of candidates that [MaxHerding] and [UHerding] consider.
const maxHerded = 20_000

func (MaxHerding) Name() string { return "maxherding" }

// Needs returns [Features] and [LabelledFeatures]; the latter may have no rows.
func (MaxHerding) Needs() Arrays { return Features | LabelledFeatures }

// Query returns n candidates in selection order. The score of each is its gain divided by the
// number of samples considered.
func (s MaxHerding) Query(c *Candidates, n int, _ *rand.Rand) ([]Pick, error) {
	if err := c.checkCold(s.Needs(), n); err != nil {
		return nil, failed(s, err)
	}
	ties := Ties{s.TieSeed, c.IDs}
	return ties.subsample(maxHerded, n, func(rows []int, own Ties, n int) []Pick {
		return herd(unitRows(c.Features, rows), unitPoints(c.LabelledFeatures), nil, 1, own, n)
	}), nil
}

// herd picks n of the points.
func herd(p, labelled points, u []float64, sigma float64, ties precedence, n int) []Pick {
	if n == 0 {
		return []Pick{}
	}
	h := newHerding(p, labelled, u, sigma)
	picks := make([]Pick, n)
	for k := range picks {
		at := highest(h.gain, h.picked, ties)
		picks[k] = Pick{Index: at, Score: h.score(at)}
		if k+1 < n {
			h.pick(at)
		}
	}
	return picks
}

// herding keeps the gain of every point. Kernels and weights are whole numbers of parts of 2^24:
// sums of them are exact. So they do not depend on the order, copies have equal sums, and covered
// samples gain exactly 0. 2^14.9 products of two, as many as a pool may have points, stay below
// 2^63.
type herding struct {
	n      int     // points
	all    int     // and with labelled ones
	kernel []int32 // [n, n]
	u      []int64 // weight of each point, in parts of most
	most   float64
	cover  []int32 // m, the largest kernel with a labelled or picked point
	gain   []int64
	picked []bool
}

// whole is 1 as a whole number of parts.
const whole = 1 << 24

// newHerding prepares points with weights, nil for ones.
func newHerding(p, labelled points, u []float64, sigma float64) *herding {
	n := p.Rows
	h := &herding{n: n, all: n + labelled.Rows, kernel: make([]int32, n*n), u: make([]int64, n), most: 1,
		cover: make([]int32, n), gain: make([]int64, n), picked: make([]bool, n)}
	if u != nil {
		h.most = 0
		for _, v := range u {
			h.most = max(h.most, v)
		}
	}
	for j := range h.u {
		h.u[j] = whole
		if u != nil && h.most > 0 {
			h.u[j] = int64(math.Round(u[j] / h.most * whole))
		}
	}
	scale := 1 / (sigma * sigma)
	newCompared(p).each(p, func(first, last int, e *estimates) {
		for i := first; i < last; i++ {
			registers.ClearUpper()
			h.kernels(h.kernel[i*n:(i+1)*n], e.row(i), scale)
			h.kernel[i*n+i] = whole
		}
	})
	if labelled.Rows > 0 {
		newCompared(labelled).each(p, func(first, last int, e *estimates) {
			for i := first; i < last; i++ {
				least := e.row(i)[0]
				for _, d := range e.row(i) {
					least = min(least, d)
				}
				h.kernels(h.cover[i:i+1], []float32{least}, scale)
			}
		})
	}
	h.each(func(first, last int) {
		for j := range n {
			m, u := h.cover[j], h.u[j]
			row, gain := h.kernel[j*n+first:j*n+last], h.gain[first:last]
			for i, k := range row {
				gain[i] += int64(max(k-m, 0)) * u
			}
		}
	})
	return h
}

// kernels sets dst to the kernels of squared distances.
func (h *herding) kernels(dst []int32, distances []float32, scale float64) {
	for j, d := range distances {
		dst[j] = int32(math.Exp(-float64(d)*scale)*whole + 0.5)
	}
}

// each calls fn for parts of the points, from several goroutines.
func (h *herding) each(fn func(first, last int)) {
	_ = dot.Each(h.n, 512, func(first, last int) error {
		fn(first, last)
		return nil
	})
}

// score is the gain of a point as a share of all points.
func (h *herding) score(i int) float64 {
	return float64(h.gain[i]) / (whole * whole) * h.most / float64(h.all)
}

// pick adds a point to those that cover.
func (h *herding) pick(at int) {
	h.picked[at] = true
	type rise struct {
		j           int
		from, width int32
	}
	var rises []rise // of m
	for j, k := range h.kernel[at*h.n : (at+1)*h.n] {
		if m := h.cover[j]; k > m {
			h.cover[j] = k
			if h.u[j] > 0 {
				rises = append(rises, rise{j, m, k - m})
			}
		}
	}
	h.each(func(first, last int) {
		gain := h.gain[first:last]
		for _, r := range rises {
			u := h.u[r.j]
			for i, k := range h.kernel[r.j*h.n+first : r.j*h.n+last] {
				gain[i] -= int64(min(max(k-r.from, 0), r.width)) * u
			}
		}
	})
}
