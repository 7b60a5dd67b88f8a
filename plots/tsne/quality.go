package tsne

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// KL returns the Kullback-Leibler divergence KL(P || Q) of the embedding y [n, 2] in nats, with
// Q the Student-t affinities normalised over all pairs.
func (a *Affinities) KL(y blas32.General) (float64, error) {
	if err := checkMatrix("y", y, 1, 1); err != nil {
		return 0, err
	}
	if y.Rows != a.n || y.Cols != 2 {
		return 0, fmt.Errorf("tsne: y is [%d, %d], want [%d, 2]", y.Rows, y.Cols, a.n)
	}
	var c [2][]float32
	for k := range c {
		c[k] = make([]float32, a.n)
		for i := range a.n {
			c[k][i] = row(y, i)[k]
		}
	}
	return a.divergence(context.Background(), c, 1)
}

// divergence returns sum e p ln(e p / q) over all pairs, e the exaggeration.
func (a *Affinities) divergence(ctx context.Context, y [2][]float32, exaggeration float64) (float64, error) {
	n := a.n
	weight := make([]float64, n)
	cross := make([]float64, n) // sum_j p ln(p / w)
	mass := make([]float64, n)  // sum_j p
	err := parallelRows(ctx, n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c0, c1 := y[0][i], y[1][i]
			for j, p := range a.p[i*n : (i+1)*n] {
				d0, d1 := float64(c0-y[0][j]), float64(c1-y[1][j])
				w := 1 + d0*d0 + d1*d1
				weight[i] += 1 / w
				if p > 0 {
					cross[i] += float64(p) * math.Log(float64(p)*w)
					mass[i] += float64(p)
				}
			}
		}
	})
	var z, c, m float64
	for i := range n {
		z += weight[i] - 1
		c += cross[i]
		m += mass[i]
	}
	return exaggeration * (c + m*math.Log(exaggeration*z)), err
}
