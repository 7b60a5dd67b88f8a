// Package tsne embeds points with many features in the plane by exact t-distributed stochastic
// neighbour embedding (t-SNE; no Barnes-Hut approximation). For features [n, d], call
//
//	res, err := tsne.Embed(ctx, features, tsne.Config{}, nil)
//
// and plot res.Y [n, 2]. Neighbourhoods resemble the original ones; distances between distant
// clusters and cluster sizes have little meaning. Compare several
// seeds or perplexities before drawing conclusions.
//
// The method is by van der Maaten and Hinton, "Visualizing Data using t-SNE", JMLR 9
// (2008), with the constants, PCA initialisation and stopping rule of scikit-learn's
// TSNE(method="exact", init="pca"). The same input and configuration give the same bytes, on any
// number of cores.
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
// BenchmarkPCA and 50 times BenchmarkRun), 300 points of 64 features 0.15 s.
package tsne

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
)

// Start selects the initial coordinates.
type Start uint8

const (
	// StartPCA, the default, starts from the first two principal components, scaled so that the
	// first has standard deviation 1e-4. It keeps the large-scale layout and makes runs
	// comparable.
	StartPCA Start = iota
	// StartRandom starts from independent normal coordinates with standard deviation 1e-4, drawn
	// from Config.Seed.
	StartRandom
)

// Config holds the settings of a run. The zero value is scikit-learn's default.
type Config struct {
	// Perplexity is the effective number of neighbours, above 1 and below the
	// number of points. Zero means 30.
	Perplexity float64
	// Iterations is the maximum number of gradient steps; optimisation stops earlier on
	// convergence. Zero means 1000. The first 250, or the first half of fewer than 500, are the
	// exploration phase.
	Iterations int
	// EarlyExaggeration multiplies the affinities during the exploration phase, which forms
	// clusters early. Zero means 12; at least 1.
	EarlyExaggeration float64
	// LearningRate scales a step. Zero means n / EarlyExaggeration / 4, but at
	// least 50 (Belkina et al. 2019, and scikit-learn's "auto").
	LearningRate float64
	// Start selects the initial coordinates.
	Start Start
	// Seed draws the random start, and the second coordinate of a PCA start if the data vary
	// along fewer than two axes. Otherwise it has no effect.
	Seed uint64
}

// Result is an embedding with its statistics.
type Result struct {
	// Y [n, 2] are the coordinates, in the order of the input rows. Their scale is arbitrary.
	Y blas32.General
	// KL is the Kullback-Leibler divergence of the embedding in nats: lower is better, and
	// comparable only for the same data and perplexity.
	KL float64
	// Iterations is the number of gradient steps taken.
	Iterations int
	// Uncalibrated counts the points for which no precision gives the requested perplexity:
	// those with more than Perplexity equally near neighbours, mostly duplicates. Only these
	// neighbours share their affinity.
	Uncalibrated int
}

// Constants of scikit-learn's TSNE and of its gradient descent.
const (
	defaultPerplexity   = 30
	defaultIterations   = 1000
	defaultExaggeration = 12
	minLearningRate     = 50
	explorationSteps    = 250
	startDeviation      = 1e-4
)

// withDefaults fills the zero fields in for n points and checks the rest.
func (c Config) withDefaults(n int) (Config, error) {
	for _, f := range []struct {
		name     string
		value    *float64
		fallback float64
		min      float64
	}{
		{"perplexity", &c.Perplexity, defaultPerplexity, 0},
		{"early exaggeration", &c.EarlyExaggeration, defaultExaggeration, 1},
		{"learning rate", &c.LearningRate, math.NaN(), 0},
	} {
		switch {
		case *f.value == 0:
			*f.value = f.fallback
		case !(*f.value >= f.min) || math.IsInf(*f.value, 0):
			return c, fmt.Errorf("tsne: %s is %v, want a number of at least %v", f.name, *f.value, f.min)
		}
	}
	if math.IsNaN(c.LearningRate) {
		c.LearningRate = max(float64(n)/c.EarlyExaggeration/4, minLearningRate)
	}
	if c.Iterations == 0 {
		c.Iterations = defaultIterations
	}
	if c.Iterations < 0 {
		return c, fmt.Errorf("tsne: %d iterations, want at least 1", c.Iterations)
	}
	if c.Start > StartRandom {
		return c, fmt.Errorf("tsne: unknown start %d", c.Start)
	}
	return c, checkPerplexity(c.Perplexity, n)
}

func checkPerplexity(perplexity float64, n int) error {
	if !(perplexity > 1) || perplexity >= float64(n) {
		return fmt.Errorf("tsne: perplexity is %v, want a number above 1 and below the number of points, %d", perplexity, n)
	}
	return nil
}

// checkMatrix refuses an ill-formed, too small or not finite matrix.
func checkMatrix(name string, x blas32.General, minRows, minCols int) error {
	switch {
	case x.Rows < minRows || x.Cols < minCols:
		return fmt.Errorf("tsne: %s is [%d, %d], want at least [%d, %d]", name, x.Rows, x.Cols, minRows, minCols)
	case x.Stride < x.Cols || len(x.Data) < (x.Rows-1)*x.Stride+x.Cols:
		return fmt.Errorf("tsne: %s is [%d, %d] with stride %d, but holds %d values", name, x.Rows, x.Cols, x.Stride, len(x.Data))
	}
	for i := range x.Rows {
		for j, v := range row(x, i) {
			if v != v || math.IsInf(float64(v), 0) {
				return fmt.Errorf("tsne: %s[%d, %d] is %v", name, i, j, v)
			}
		}
	}
	return nil
}

func row(x blas32.General, i int) []float32 {
	return x.Data[i*x.Stride : i*x.Stride+x.Cols : i*x.Stride+x.Cols]
}

// Embed embeds the rows of x [n, d] into the plane. It needs more points than the perplexity;
// NaN and infinities are errors. x is not modified. A cancelled ctx ends it with its error.
// progress, if not nil, is called after every iteration from the calling goroutine, with the
// numbers of finished and of all iterations.
func Embed(ctx context.Context, x blas32.General, cfg Config, progress func(done, total int)) (Result, error) {
	cfg, err := cfg.withDefaults(x.Rows)
	if err != nil {
		return Result{}, err
	}
	p, err := NewAffinities(ctx, x, cfg.Perplexity)
	if err != nil {
		return Result{}, err
	}
	y, err := start(x, cfg)
	if err != nil {
		return Result{}, err
	}
	return descend(ctx, p, y, cfg, progress)
}

// UsualPerplexity returns the default perplexity for n points: 30, or less for few points.
func UsualPerplexity(n int) float64 { return min(30, float64(n-1)/3) }
