package tsne

import (
	"context"
	"fmt"
	"math"
	"sort"

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

// Trustworthiness measures, from 0 to 1 (best), whether neighbours in the embedding are also
// near in the data (Venna and Kaski 2001). For each point it takes the k nearest neighbours in y
// [n, e]; each costs the number of ranks by which it exceeds k in x [n, d]. Distances are
// Euclidean, with ties ordered by index. k is at least 1 and below n/2.
func Trustworthiness(ctx context.Context, x, y blas32.General, k int) (float64, error) {
	if err := checkMatrix("x", x, 3, 1); err != nil {
		return 0, err
	}
	if err := checkMatrix("y", y, 3, 1); err != nil {
		return 0, err
	}
	n := x.Rows
	if y.Rows != n {
		return 0, fmt.Errorf("tsne: y has %d rows, want %d as in x", y.Rows, n)
	}
	if k < 1 || 2*k >= n {
		return 0, fmt.Errorf("tsne: trustworthiness of %d neighbours, want at least 1 and fewer than half of the %d points", k, n)
	}
	penalty := make([]int, n)
	err := parallelRows(ctx, n, 16, func(lo, hi int) {
		dx, dy, order := make([]float32, n), make([]float32, n), make([]int, n)
		for i := lo; i < hi; i++ {
			for j := range n {
				dx[j] = squaredDistance(row(x, i), row(x, j))
				dy[j] = squaredDistance(row(y, i), row(y, j))
				order[j] = j
			}
			dx[i], dy[i] = float32(math.Inf(1)), float32(math.Inf(1))
			sort.Slice(order, func(a, b int) bool { return before(dy, order[a], order[b]) })
			for _, j := range order[:k] {
				rank := 1
				for l := range n {
					if before(dx, l, j) {
						rank++
					}
				}
				penalty[i] += max(0, rank-k)
			}
		}
	})
	if err != nil {
		return 0, err
	}
	total := 0
	for _, v := range penalty {
		total += v
	}
	return 1 - 2*float64(total)/(float64(n)*float64(k)*float64(2*n-3*k-1)), nil
}

// before orders points by distance, then by index.
func before(d []float32, a, b int) bool { return d[a] < d[b] || d[a] == d[b] && a < b }
