package head

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/ledg-go/ledg/ceg/internal/dot"
	"github.com/ledg-go/ledg/datasets/registers"
)

// minimiser minimises the mean of the weighted cross-entropies and |W|^2 / (2 C n) by Newton's
// method. Conjugate gradients compute a step from products with the Hessian, in float32;
// losses and gradients are in float64, so the optimum is as exact as they are.
//
// A class without labels has no optimum: its bias falls for ever. It is left out.
type minimiser struct {
	problem        // centred rows, and the classes that have labels
	labelled []int // those classes' numbers
	all      int   // classes
	mean     []float64
	penalty  float64

	rows, across     *dot.Packed // the rows, and the columns
	rows32, across32 *dot.Panels
	prior            prior

	w      []float64 // weights [n, d] and biases [n]
	sum    float64   // the loss at w
	slope  []float64
	shares []float64 // probabilities, [rows, n]

	packed              dot.Packed
	strips              dot.Strips
	products, residuals []float64 // [rows, n] and [n, rows]
	products32          []float32
}

// newMinimiser returns a minimiser at zero.
func newMinimiser(p problem) *minimiser {
	n, d := p.x.n, p.x.d
	m := &minimiser{problem: p, all: p.n, mean: make([]float64, d)}
	m.labelled = slices.Compact(slices.Sorted(slices.Values(p.classes)))
	m.n, m.classes = len(m.labelled), make([]int, n)
	total := 0.0
	for i, c := range p.classes {
		m.classes[i], _ = slices.BinarySearch(m.labelled, c)
		total += p.weight(i)
		for j, v := range p.x.row(i) {
			m.mean[j] += p.weight(i) * v
		}
	}
	// The bias absorbs the mean: the optimum is the same, and sooner found.
	m.x.data = slices.Clone(p.x.data)
	columns := make([]float64, n*d)
	for j := range d {
		m.mean[j] /= total
		for i := range n {
			m.x.data[i*d+j] -= m.mean[j]
			columns[j*n+i] = m.x.data[i*d+j]
		}
	}
	m.rows, m.rows32 = dot.Pack(m.x.data, d), dot.NewPanels(m.x.data, d)
	m.across, m.across32 = dot.Pack(columns, n), dot.NewPanels(columns, n)
	m.prior = newPrior(m.x)
	size := m.n*d + m.n
	m.w, m.slope = make([]float64, size), make([]float64, size)
	m.shares, m.products, m.residuals = make([]float64, n*m.n), make([]float64, n*m.n), make([]float64, n*m.n)
	s, _ := dot.EstimateSize(m.n, max(n, d))
	m.products32 = make([]float32, s)
	return m
}

// absent is the bias of a class without labels. Other biases, and their weights, have the sum
// 0; so its probability is at most exp(absent) wherever it is asked for.
const absent = -20

// weights returns the weights [classes, d] and the biases [classes] of all classes.
func (m *minimiser) weights() []float64 {
	d, k := m.x.d, m.n
	out := make([]float64, m.all*d+m.all)
	bias := out[m.all*d:]
	for c := range bias {
		bias[c] = absent
	}
	middle := 0.0
	for c, class := range m.labelled {
		row := m.w[c*d : (c+1)*d]
		copy(out[class*d:], row)
		bias[class] = m.w[k*d+c]
		for j, v := range row {
			bias[class] -= v * m.mean[j]
		}
		middle += bias[class] / float64(k)
	}
	for _, class := range m.labelled {
		bias[class] -= middle
	}
	return out
}

// minimise moves to the optimum for C, until a step lowers the loss by less than a share of it.
func (m *minimiser) minimise(c, share float64) {
	m.penalty = 1 / (c * float64(m.x.n))
	m.compute()
	for range 100 {
		start, sum := slices.Clone(m.w), m.sum
		step, fall := m.step(share)
		t := 1.0
		for ; t > 1e-6; t /= 2 {
			for j, v := range step {
				m.w[j] = start[j] - t*v
			}
			if m.compute(); m.sum <= sum-1e-4*t*fall {
				break
			}
		}
		if !(m.sum < sum) { // as low as floating point goes
			copy(m.w, start)
			return
		}
		if fall/2 < share*m.sum {
			return
		}
	}
}

// compute sets the loss, the gradient and the probabilities at w.
func (m *minimiser) compute() {
	n, d, k := m.x.n, m.x.d, m.n
	weight, bias := m.w[:k*d], m.w[k*d:]
	dot.PackInto(&m.packed, weight, d)
	dot.Products(m.products, m.rows, &m.packed)
	registers.ClearUpper()
	m.sum = 0
	for i := range n {
		z, share := m.products[i*k:(i+1)*k], m.shares[i*k:(i+1)*k]
		for c := range z {
			z[c] += bias[c]
		}
		own, counts := m.classes[i], m.weight(i)
		top, sum := slices.Max(z), 0.0
		for c := range z {
			share[c] = math.Exp(z[c] - top)
			sum += share[c]
		}
		for c := range share {
			share[c] /= sum
			m.residuals[c*n+i] = share[c] * counts / float64(n)
		}
		m.residuals[own*n+i] -= counts / float64(n)
		m.sum += counts * (math.Log(sum) + top - z[own])
	}
	m.sum /= float64(n)
	dot.PackInto(&m.packed, m.residuals, n)
	dot.Products(m.slope[:k*d], &m.packed, m.across)
	square := 0.0
	for j, v := range weight {
		square += v * v
		m.slope[j] += m.penalty * v
	}
	for c := range bias {
		m.slope[k*d+c] = 0
		for _, r := range m.residuals[c*n : (c+1)*n] {
			m.slope[k*d+c] += r
		}
	}
	m.sum += m.penalty * square / 2
}

// step returns a Newton step, to be subtracted, and how much it lowers the loss, to first order. It is as exact
// as pays: its residual is a fifth of the gradient's, or worth less than a share of the loss.
func (m *minimiser) step(share float64) (step []float64, fall float64) {
	curvature := 0.0
	for i := range m.x.n {
		for _, p := range m.shares[i*m.n : (i+1)*m.n] {
			curvature += m.weight(i) * p * (1 - p) / float64(m.x.n*m.n)
		}
	}
	curvature = max(curvature, 1e-12)
	step = conjugateGradients(m.slope, m.hessian, func(dst, v []float64) { m.solve(dst, v, curvature) }, 0.04, share*m.sum, 200)
	return step, product(m.slope, step)
}

// hessian sets dst to the product of the Hessian and v.
func (m *minimiser) hessian(dst, v []float64) {
	n, d, k := m.x.n, m.x.d, m.n
	dot.SetStrips(&m.strips, v[:k*d], d)
	dot.Estimate(m.products32, &m.strips, m.rows32)
	registers.ClearUpper()
	_, stride := dot.EstimateSize(k, n)
	bias := dst[k*d:]
	clear(bias)
	for i := range n {
		share, middle := m.shares[i*k:(i+1)*k], 0.0
		for c, p := range share {
			middle += p * (float64(m.products32[c*stride+i]) + v[k*d+c])
		}
		for c, p := range share {
			r := m.weight(i) / float64(n) * p * (float64(m.products32[c*stride+i]) + v[k*d+c] - middle)
			m.residuals[c*n+i] = r
			bias[c] += r
		}
	}
	dot.SetStrips(&m.strips, m.residuals, n)
	dot.Estimate(m.products32, &m.strips, m.across32)
	registers.ClearUpper()
	_, stride = dot.EstimateSize(k, d)
	for c := range k {
		for j, p := range m.products32[c*stride : c*stride+d] {
			dst[c*d+j] = float64(p) + m.penalty*v[c*d+j]
		}
	}
}

// prior is what conjugate gradients know of the rows before: the principal directions of some.
// It is a Nyström preconditioner (Frangella, Tropp and Udell 2023).
type prior struct {
	values         []float64   // mean squares along directions, descending
	rest           float64     // the mean square along others
	vectors, turns *dot.Packed // directions [r, d], and [d, r]
}

// newPrior returns at most 64 directions of at most 128 rows.
func newPrior(x rows) prior {
	var p prior
	some := make([]int, min(x.n, 128))
	for i := range some {
		some[i] = i * x.n / len(some)
	}
	own := x.take(some)
	packed := dot.Pack(own.data, x.d)
	gram := make([]float64, len(some)*len(some))
	dot.Products(gram, packed, packed)
	var e mat.EigenSym
	if !e.Factorize(mat.NewSymDense(len(some), gram), true) {
		return p
	}
	values := e.Values(nil)
	slices.Reverse(values)
	r := 0
	for r < min(len(values), 64) && values[r] > 1e-9*values[0] {
		r++
	}
	if r == 0 {
		return p
	}
	var u, v mat.Dense
	e.VectorsTo(&u)
	v.Mul(u.T(), mat.NewDense(own.n, own.d, own.data))
	vectors, turns := make([]float64, r*x.d), make([]float64, r*x.d)
	for i := range r {
		for j, a := range v.RawRowView(len(values) - 1 - i) {
			a /= math.Sqrt(values[i])
			vectors[i*x.d+j], turns[j*r+i] = a, a
		}
	}
	for i := range values {
		values[i] = max(values[i], 0) / float64(own.n)
	}
	if p.values = values[:r]; r < len(values) {
		p.rest = values[r]
	}
	p.vectors, p.turns = dot.Pack(vectors, x.d), dot.Pack(turns, r)
	return p
}

// solve sets dst to v divided by roughly the Hessian: that of rows with the prior's
// directions, and probabilities of equal curvature.
func (m *minimiser) solve(dst, v []float64, curvature float64) {
	d, k := m.x.d, m.n
	other := 1 / (curvature*m.prior.rest + m.penalty)
	for j, a := range v[:k*d] {
		dst[j] = other * a
	}
	for c, a := range v[k*d:] {
		dst[k*d+c] = a / curvature
	}
	r := len(m.prior.values)
	if r == 0 {
		return
	}
	parts, back := make([]float64, k*r), make([]float64, k*d)
	dot.PackInto(&m.packed, v[:k*d], d)
	dot.Products(parts, &m.packed, m.prior.vectors)
	for c := range k {
		for i, s := range m.prior.values {
			parts[c*r+i] *= 1/(curvature*s+m.penalty) - other
		}
	}
	dot.PackInto(&m.packed, parts, r)
	dot.Products(back, &m.packed, m.prior.turns)
	for j, a := range back {
		dst[j] += a
	}
}
