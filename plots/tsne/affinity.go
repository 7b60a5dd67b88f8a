package tsne

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/datasets/registers"
)

// affinities are p_ij of n points: symmetric, zero on the diagonal, with sum one.
type affinities struct {
	n int
	p []float32 // [n, n]
	// panels is the number of panels at the start of p: of eight rows each, column by column.
	panels int
}

// panel is the number of rows of a panel.
const panel = 8

// interleave turns all rows but the last n mod 8 into panels, in place, where vectors can use them.
func (a *affinities) interleave() {
	if !hasPanels || a.panels > 0 {
		return
	}
	a.panels = a.n / panel
	rows := make([]float32, panel*a.n)
	for k := range a.panels {
		to := a.p[k*panel*a.n:][:panel*a.n]
		copy(rows, to)
		for j := range a.n {
			for r := range panel {
				to[j*panel+r] = rows[r*a.n+j]
			}
		}
	}
}

// at is p_ij.
func (a *affinities) at(i, j int) float32 {
	if k := i / panel; k < a.panels {
		return a.p[k*panel*a.n+j*panel+i%panel]
	}
	return a.p[i*a.n+j]
}

// newAffinities computes p_ij = (p(j|i) + p(i|j)) / 2n for the rows of x [n, d], n at least 3.
// p(j|i) is proportional to exp(-beta_i |x_i - x_j|^2), with beta_i such that p(.|i) has the
// given perplexity, above 1 and below n (van der Maaten and Hinton 2008, Eq. (1) and section
// 3.1). Distances are computed from differences in float32, sums in float64.
func newAffinities(ctx context.Context, x blas32.General, perplexity float64) (*affinities, error) {
	n := x.Rows
	a := &affinities{n: n, p: make([]float32, n*n)}
	if err := squaredDistances(ctx, x, a.p); err != nil {
		return nil, err
	}
	bad := make([]bool, n)
	err := parallelRows(ctx, n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := a.p[i*n : (i+1)*n]
			for j, v := range d {
				bad[i] = bad[i] || j != i && math.IsInf(float64(v), 1)
			}
			if !bad[i] {
				calibrate(d, i, math.Log(perplexity))
			}
		}
	})
	if i := slices.Index(bad, true); err == nil && i >= 0 {
		err = fmt.Errorf("tsne: x[%d] lies so far from another row that their squared distance exceeds float32", i)
	}
	if err != nil {
		return nil, err
	}
	return a, a.join(ctx)
}

// tile is the side of the squares in which an n x n matrix is walked so that
// both of its sides stay in the cache.
const tile = 64

// squaredDistances writes |x_i - x_j|^2 to d [n, n], each pair computed once.
func squaredDistances(ctx context.Context, x blas32.General, d []float32) error {
	n := x.Rows
	return parallelRows(ctx, n, tile, func(lo, hi int) {
		for jlo := lo; jlo < n; jlo += tile {
			for i := lo; i < hi; i++ {
				xi := row(x, i)
				for j := max(jlo, i+1); j < min(jlo+tile, n); j++ {
					v := squaredDistance(xi, row(x, j))
					d[i*n+j], d[j*n+i] = v, v
				}
			}
		}
	})
}

// squaredDistance sums in four interleaved parts, which is faster than one and
// rounds less.
func squaredDistance(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		d0, d1, d2, d3 := a[0]-b[0], a[1]-b[1], a[2]-b[2], a[3]-b[3]
		s0 += d0 * d0
		s1 += d1 * d1
		s2 += d2 * d2
		s3 += d3 * d3
		a, b = a[4:], b[4:]
	}
	for i, v := range a {
		d := v - b[i]
		s0 += d * d
	}
	return (s0 + s1) + (s2 + s3)
}

// calibrate replaces row i of the squared distances d by p(.|i) with the given
// entropy in nats. It narrows a bracket by bisection
// and takes Newton's step where that falls inside. When the nearest points are
// equally near and more than exp(entropy) in number, no precision gives so
// small an entropy; the row then becomes the limit for large precisions.
func calibrate(d []float32, i int, entropy float64) {
	const tolerance = 1e-7 // nats; the stored float32 rounds more than that
	nearest, ties, mean := math.Inf(1), 0.0, 0.0
	for j, v := range d {
		if j == i {
			continue
		}
		switch v := float64(v); {
		case v < nearest:
			nearest, ties = v, 1
		case v == nearest:
			ties++
		}
		mean += float64(v)
	}
	mean = mean/float64(len(d)-1) - nearest
	// All precisions give the same, uniform row when all distances are equal.
	if mean <= 0 {
		setRow(d, i, nearest, 0)
		return
	}
	// With growing precision the entropy falls toward the entropy of the ties.
	if math.Log(ties) > entropy+tolerance {
		setRow(d, i, nearest, math.MaxFloat64)
		return
	}
	beta := 1 / mean
	lo, hi := 0.0, math.Inf(1)
	for range 200 {
		h, slope := rowEntropy(d, i, nearest, beta)
		if math.Abs(h-entropy) <= tolerance {
			break
		}
		if h > entropy {
			lo = beta
		} else {
			hi = beta
		}
		next := beta - (h-entropy)/slope
		switch {
		case next > lo && next < hi && next < 8*beta && next > beta/8:
			beta = next
		case math.IsInf(hi, 1):
			beta *= 4
		default:
			beta = (lo + hi) / 2
		}
		if math.IsInf(beta, 1) {
			beta = math.MaxFloat64
			break
		}
	}
	setRow(d, i, nearest, beta)
}

// negligible is the exponent beyond which exp(-x) does not change a float64
// sum that holds exp(0).
const negligible = 45

// rowEntropy returns the entropy of p(.|i) in nats and its derivative by beta.
func rowEntropy(d []float32, i int, nearest, beta float64) (h, slope float64) {
	registers.ClearUpper()
	var s0, s1, s2 float64
	cut := float32(nearest + negligible/beta)
	for j, v := range d {
		if v > cut || j == i {
			continue
		}
		u := float64(v) - nearest
		e := math.Exp(-beta * u)
		s0 += e
		s1 += e * u
		s2 += e * u * u
	}
	m := s1 / s0
	return math.Log(s0) + beta*m, -beta * (s2/s0 - m*m)
}

// setRow replaces squared distances by p(.|i).
func setRow(d []float32, i int, nearest, beta float64) {
	registers.ClearUpper()
	var sum float64
	for j, v := range d {
		if j != i {
			sum += math.Exp(-beta * (float64(v) - nearest))
		}
	}
	for j, v := range d {
		d[j] = float32(math.Exp(-beta*(float64(v)-nearest)) / sum)
	}
	d[i] = 0
}

// join turns p(j|i) into p_ij in place.
func (a *affinities) join(ctx context.Context) error {
	n, p := a.n, a.p
	scale := 1 / (2 * float64(n))
	return parallelRows(ctx, n, tile, func(lo, hi int) {
		for jlo := lo; jlo < n; jlo += tile {
			for i := lo; i < hi; i++ {
				for j := max(jlo, i+1); j < min(jlo+tile, n); j++ {
					v := float32((float64(p[i*n+j]) + float64(p[j*n+i])) * scale)
					p[i*n+j], p[j*n+i] = v, v
				}
			}
		}
	})
}
