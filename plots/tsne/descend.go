package tsne

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/datasets/seed"
)

// start returns the first positions as two coordinate slices: the first two principal components, scaled so
// that the first has standard deviation 1e-4. An axis without variance is drawn from the seed:
// all-equal coordinates would never leave a line.
func start(x blas32.General, s uint64) (y [2][]float32, err error) {
	n := x.Rows
	r := seed.New(s, "tsne start")
	for k := range y {
		y[k] = make([]float32, n)
		for i := range y[k] {
			y[k][i] = float32(r.NormFloat64() * startDeviation)
		}
	}
	scores, variances, total, err := pca(x, min(2, x.Cols))
	if err != nil {
		return y, err
	}
	deviation := math.Sqrt(variances[0] * float64(n-1) / float64(n)) // divisor n, as in scikit-learn
	for k, v := range variances {
		if v <= 1e-12*total {
			break
		}
		for i := range n {
			y[k][i] = float32(float64(scores[k][i]) / deviation * startDeviation)
		}
	}
	return y, nil
}

// phase is a stretch of iterations under the same settings.
type phase struct {
	steps        int
	exaggeration float64
	momentum     float64
	patience     int // steps without a lower divergence before stopping
}

// descend minimises the divergence from y on by gradient descent with momentum
// and per-coordinate gains (scikit-learn's sklearn/manifold/_t_sne.py:_tsne and
// _gradient_descent, with the learning rate of Belkina et al. 2019).
func (a *affinities) descend(ctx context.Context, y [2][]float32) error {
	rate := max(float64(a.n)/earlyExaggeration/4, minLearningRate)
	for _, ph := range []phase{
		{explorationSteps, earlyExaggeration, 0.5, explorationSteps},
		{iterations - explorationSteps, 1, 0.8, 300},
	} {
		if err := a.descendPhase(ctx, y, ph, rate); err != nil {
			return err
		}
	}
	return nil
}

// descendPhase moves y through one phase.
func (a *affinities) descendPhase(ctx context.Context, y [2][]float32, ph phase, rate float64) error {
	const (
		checkEvery  = 50
		minGain     = 0.01
		minGradient = 1e-7
	)
	var update, gains, grad [2][]float32
	for k := range y {
		update[k] = make([]float32, a.n)
		grad[k] = make([]float32, a.n)
		gains[k] = make([]float32, a.n)
		for i := range gains[k] {
			gains[k][i] = 1
		}
	}
	a.interleave()
	momentum, lr := float32(ph.momentum), float32(rate)
	best, bestStep := math.MaxFloat64, 0
	for step := range ph.steps {
		if err := a.gradient(ctx, y, ph.exaggeration, grad); err != nil {
			return err
		}
		var norm float64
		for k := range y {
			for i, g := range grad[k] {
				gain := gains[k][i]
				if update[k][i]*g < 0 {
					gain += 0.2
				} else {
					gain = max(gain*0.8, minGain)
				}
				g *= gain
				norm += float64(g) * float64(g)
				u := momentum*update[k][i] - lr*g
				gains[k][i], update[k][i] = gain, u
				y[k][i] += u
			}
		}
		if (step+1)%checkEvery != 0 {
			continue
		}
		kl, err := a.divergence(ctx, y, ph.exaggeration)
		if err != nil {
			return err
		}
		if math.IsNaN(kl) || math.IsInf(kl, 0) {
			return fmt.Errorf("tsne: the map diverged after %d steps of a phase", step+1)
		}
		if kl < best {
			best, bestStep = kl, step
		} else if step-bestStep > ph.patience {
			return nil
		}
		if math.Sqrt(norm) <= minGradient {
			return nil
		}
	}
	return nil
}

// gradient writes dKL/dy_i = 4 sum_j (e p_ij - q_ij) w_ij (y_i - y_j) with
// w_ij = 1/(1 + |y_i - y_j|^2) and q_ij = w_ij / sum w, e the exaggeration
// (van der Maaten and Hinton 2008, Eq. (5)).
func (a *affinities) gradient(ctx context.Context, y [2][]float32, exaggeration float64, grad [2][]float32) error {
	n := a.n
	force := make([]forces, n)
	err := parallelRows(ctx, n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if i/panel < a.panels { // lo is a multiple of a panel
				panelForces(a.p[i*n:(i+panel)*n], y[0], y[1], i, force[i:i+panel])
				i += panel - 1
				continue
			}
			force[i] = rowForces(a.p[i*n:(i+1)*n], y[0], y[1], y[0][i], y[1][i])
		}
	})
	if err != nil {
		return err
	}
	var z float64
	for i := range force {
		z += force[i].weight - 1 // the point itself
	}
	for i, f := range force {
		grad[0][i] = float32(4 * (exaggeration*f.attract[0] - f.repel[0]/z))
		grad[1][i] = float32(4 * (exaggeration*f.attract[1] - f.repel[1]/z))
	}
	return nil
}

// forces are the sums over j that make up one point's gradient: attract is
// sum p w (y_i - y_j), repel is sum w^2 (y_i - y_j), weight is sum w with j = i
// included.
type forces struct {
	attract, repel [2]float64
	weight         float64
}

// stretch is the number of points whose forces are added in float32.
const stretch = 256

// rowForces sums in float32 over stretches of 256 points and in float64 over
// stretches.
func rowForces(p, y0, y1 []float32, c0, c1 float32) (f forces) {
	for len(p) > 0 {
		m := min(stretch, len(p))
		z, a0, a1, r0, r1 := stretchForces(p[:m], y0[:m], y1[:m], c0, c1)
		f.weight += float64(z)
		f.attract[0] += float64(a0)
		f.attract[1] += float64(a1)
		f.repel[0] += float64(r0)
		f.repel[1] += float64(r1)
		p, y0, y1 = p[m:], y0[m:], y1[m:]
	}
	return f
}

func stretchForces(p, y0, y1 []float32, c0, c1 float32) (z, a0, a1, r0, r1 float32) {
	y0, y1 = y0[:len(p)], y1[:len(p)]
	for j, pj := range p {
		d0, d1 := c0-y0[j], c1-y1[j]
		w := 1 / (1 + d0*d0 + d1*d1)
		z += w
		pw := pj * w
		a0 += pw * d0
		a1 += pw * d1
		w *= w
		r0 += w * d0
		r1 += w * d1
	}
	return z, a0, a1, r0, r1
}

// divergence returns sum e p ln(e p / q) over all pairs, e the exaggeration: KL(P || Q) in nats where e is 1,
// with Q the Student-t affinities normalised over all pairs.
func (a *affinities) divergence(ctx context.Context, y [2][]float32, exaggeration float64) (float64, error) {
	n := a.n
	weight := make([]float64, n)
	cross := make([]float64, n) // sum_j p ln(p / w)
	mass := make([]float64, n)  // sum_j p
	err := parallelRows(ctx, n, 16, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			c0, c1 := y[0][i], y[1][i]
			for j := range n {
				p := a.at(i, j)
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
