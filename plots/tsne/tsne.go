// Package tsne embeds points with many features in the plane by exact t-distributed stochastic
// neighbour embedding (t-SNE; no Barnes-Hut approximation). For features [n, d], call
//
//	y, err := tsne.Embed(ctx, features, tsne.UsualPerplexity(n), 1)
//
// and plot y [n, 2]. Neighbourhoods resemble the original ones; distances between distant
// clusters and cluster sizes have little meaning. Compare several
// perplexities before drawing conclusions.
//
// The method is by van der Maaten and Hinton, "Visualizing Data using t-SNE", JMLR 9
// (2008), with the constants, PCA initialisation and stopping rule of scikit-learn's
// TSNE(method="exact", init="pca"). The same input gives the same bytes, on any number of cores.
//
// # Terms
//
//   - Perplexity: the effective number of neighbours of a point, exp of the
//     entropy of its affinities.
//   - Precision: beta in p(j|i) proportional to exp(-beta |x_i - x_j|^2).
//   - Affinity: p_ij = (p(j|i) + p(i|j)) / 2n in the data; q_ij, proportional to
//     1/(1 + |y_i - y_j|^2), in the embedding. Optimisation minimises KL(P || Q).
//
// # Cost
//
// Memory is about 4 n^2 bytes, for the affinities; time grows with n^2 times the iterations.
// 8,000 points of 512 features took 94 s and 312 MB on two busy cores (BenchmarkAffinities,
// the components and 50 times BenchmarkRun), 300 points of 64 features 0.15 s.
package tsne

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"
)

// Constants of scikit-learn's TSNE and of its gradient descent. The first steps, the exploration phase,
// multiply the affinities by the early exaggeration, which forms clusters early.
const (
	iterations        = 1000
	explorationSteps  = 250
	earlyExaggeration = 12
	minLearningRate   = 50
	startDeviation    = 1e-4
)

// Embed embeds the rows of x [n, d] into the plane and returns their coordinates [n, 2], whose scale is
// arbitrary. The perplexity is above 1 and below n; NaN and infinities are errors. x is not modified. The
// seed draws the second coordinate of the start if the data vary along fewer than two axes; otherwise it
// has no effect. A cancelled ctx ends it with its error.
func Embed(ctx context.Context, x blas32.General, perplexity float64, seed uint64) (y blas32.General, err error) {
	n := x.Rows
	switch {
	case !(perplexity > 1) || perplexity >= float64(n):
		return y, fmt.Errorf("tsne: perplexity is %v, want a number above 1 and below the number of points, %d", perplexity, n)
	case n < 3 || x.Cols < 1:
		return y, fmt.Errorf("tsne: x is [%d, %d], want at least [3, 1]", n, x.Cols)
	case x.Stride < x.Cols || len(x.Data) < (n-1)*x.Stride+x.Cols:
		return y, fmt.Errorf("tsne: x is [%d, %d] with stride %d, but holds %d values", n, x.Cols, x.Stride, len(x.Data))
	}
	for i := range n {
		for j, v := range row(x, i) {
			if v != v || math.IsInf(float64(v), 0) {
				return y, fmt.Errorf("tsne: x[%d, %d] is %v", i, j, v)
			}
		}
	}
	a, err := newAffinities(ctx, x, perplexity)
	if err != nil {
		return y, err
	}
	at, err := start(x, seed)
	if err != nil {
		return y, err
	}
	if err := a.descend(ctx, at); err != nil {
		return y, err
	}
	y = blas32.General{Rows: n, Cols: 2, Stride: 2, Data: make([]float32, 2*n)}
	for i := range n {
		y.Data[2*i], y.Data[2*i+1] = at[0][i], at[1][i]
	}
	return y, nil
}

// UsualPerplexity returns the default perplexity for n points: 30, or less for few points.
func UsualPerplexity(n int) float64 { return min(30, float64(n-1)/3) }

func row(x blas32.General, i int) []float32 {
	return x.Data[i*x.Stride : i*x.Stride+x.Cols : i*x.Stride+x.Cols]
}

// parallelRows calls f for ranges of at most chunk rows that cover 0..n-1, on as many goroutines
// as Go runs in parallel. f must write only what belongs to its rows, so that the result does not
// depend on who takes which range. It stops early, and returns the context's error, once ctx is
// done.
func parallelRows(ctx context.Context, n, chunk int, f func(lo, hi int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), (n+chunk-1)/chunk) {
		wg.Go(func() {
			for ctx.Err() == nil {
				hi := int(next.Add(int64(chunk)))
				lo := hi - chunk
				if lo >= n {
					return
				}
				f(lo, min(hi, n))
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}
