package head

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// GDA is Gaussian discriminant analysis in closed form (Wang et al. 2024, "A Hard-to-Beat
// Baseline for Training-free CLIP-based Adaptation"; mrflogs/ICLR24): one Gaussian a class with
// a shared covariance, on L2-normalised features z.
type GDA struct {
	// Mean is [C, D], the mean z of the labelled samples of each class.
	Mean []float64
	// Weight is [C, D] and Bias [C]: logits are z.w_c + b_c.
	Weight, Bias []float64
	// Text is [C, D], L2-normalised class embeddings, or nil. With them logits are 100 z.t_c +
	// Alpha (z.w_c + b_c).
	Text  []float64
	Alpha float64
	// Scores are the cross-validated accuracies of the tried values of Alpha.
	Scores []Score

	centred []float64 // [labelled, D], z without the mean of its class
}

// textScale multiplies cosines with class embeddings, as in CLIP.
const textScale = 100

// GDAOptions are the settings of [FitGDA].
type GDAOptions struct {
	// Text is [C, D], the embeddings of the class names; without rows the head does not use any.
	// Cross-validation selects the weight of the Gaussian logits beside theirs.
	Text Matrix
	// Domains, Groups and Folds define the cross-validation, as in [Options].
	Domains []int
	Groups  []int
	Folds   int
}

// FitGDA fits the head on labelled features [rows, D] of classes in [0, n). With S the
// within-class covariance over rows-1 and P = D ((rows-1) S + trace(S) I)^-1, weights are P
// mean_c and biases -mean_c'P mean_c / 2 - ln n. If no class has two distinct samples, P is D I,
// the nearest-mean classifier. A class without labels is never predicted by the Gaussians: its
// bias is 100 below the other logits.
func FitGDA(features Matrix, classes []int, n int, o GDAOptions) (*GDA, error) {
	if n < 1 {
		return nil, fmt.Errorf("gda: %d classes, want at least 1", n)
	}
	if err := check(features, classes, n); err != nil {
		return nil, fmt.Errorf("gda: %w", err)
	}
	if o.Text.Rows > 0 {
		if err := checkText(o.Text, n, features.Cols); err != nil {
			return nil, fmt.Errorf("gda: %w", err)
		}
	}
	folding := Options{Domains: o.Domains, Groups: o.Groups, Folds: o.Folds}
	if err := folding.checkFolds(features.Rows); err != nil {
		return nil, fmt.Errorf("gda: %w", err)
	}
	z := unit(features)
	g, err := fitGDA(z, classes, n)
	if err != nil || o.Text.Rows == 0 {
		return g, err
	}
	g.Text = unit(o.Text).data
	if g.Scores, err = compareAlphas(z, classes, n, g.Text, o.Groups, folding.folds(classes)); err != nil {
		return nil, err
	}
	best := g.Scores[0] // of equally accurate ones the first
	for _, s := range g.Scores[1:] {
		if s.Accuracy > best.Accuracy {
			best = s
		}
	}
	g.Alpha = best.Value
	return g, nil
}

func fitGDA(z rows, classes []int, n int) (*GDA, error) {
	d := z.d
	g := &GDA{Mean: make([]float64, n*d), Bias: make([]float64, n), centred: make([]float64, z.n*d)}
	counts := make([]int, n)
	for i, c := range classes {
		counts[c]++
		for j, v := range z.row(i) {
			g.Mean[c*d+j] += v
		}
	}
	for c, k := range counts {
		for j := range d {
			g.Mean[c*d+j] /= float64(max(k, 1))
		}
	}
	square := 0.0
	for i, c := range classes {
		for j, v := range z.row(i) {
			e := v - g.Mean[c*d+j]
			g.centred[i*d+j] = e
			square += e * e
		}
	}
	// (rows-1) S = A'A of the centred rows A, so that with t = trace(S)
	// (A'A + t I)^-1 = (I - A'(A A' + t I)^-1 A) / t, of as many rows as labels.
	means := mat.NewDense(n, d, g.Mean)
	var weight mat.Dense
	if z.n < 2 || square < 1e-12 {
		weight.Scale(float64(d), means)
	} else {
		t := square / float64(z.n-1)
		a := mat.NewDense(z.n, d, g.centred)
		gram := make([]float64, z.n*z.n)
		packed := dot.Pack(g.centred, d)
		dot.Products(gram, packed, packed)
		m := mat.NewSymDense(z.n, gram)
		for i := range z.n {
			m.SetSym(i, i, m.At(i, i)+t)
		}
		var c mat.Cholesky
		if !c.Factorize(m) {
			return nil, fmt.Errorf("gda: the covariance of the labelled samples cannot be inverted")
		}
		var am, solved, back mat.Dense // A mean', (A A' + t I)^-1 of it, and A' of that
		am.Mul(a, means.T())
		if err := c.SolveTo(&solved, &am); err != nil {
			return nil, fmt.Errorf("gda: %w", err)
		}
		back.Mul(solved.T(), a)
		weight.Sub(means, &back)
		weight.Scale(float64(d)/t, &weight)
	}
	g.Weight = weight.RawMatrix().Data
	lowest, longest := 0.0, 0.0
	for c := range n {
		w, m := g.Weight[c*d:(c+1)*d], g.Mean[c*d:(c+1)*d]
		g.Bias[c] = -dot.Product(w, dot.NewVector(m))/2 - math.Log(float64(n))
		lowest = min(lowest, g.Bias[c])
		longest = max(longest, math.Sqrt(dot.Square(w)))
	}
	for c, k := range counts {
		if k == 0 {
			g.Bias[c] = lowest - longest - 100
		}
	}
	return g, nil
}

// Logits returns the logits [rows, C]. It panics if the number of columns differs from the
// fitted features'.
func (g *GDA) Logits(features Matrix) Matrix {
	h := Linear{Weight: g.Weight, Bias: g.Bias}
	if g.Text != nil {
		h.Weight, h.Bias = make([]float64, len(g.Weight)), make([]float64, len(g.Bias))
		for j, w := range g.Weight {
			h.Weight[j] = textScale*g.Text[j] + g.Alpha*w
		}
		for c, b := range g.Bias {
			h.Bias[c] = g.Alpha * b
		}
	}
	return h.Logits(unitFloat32(features))
}

// alphas are the weights of the Gaussian logits beside the text logits that are compared.
var alphas = []float64{1e-4, 1e-3, 1e-2, 1e-1, 1, 10, 100}

// compareAlphas returns the cross-validated accuracy of each weight.
func compareAlphas(z rows, classes []int, n int, text []float64, groups []int, folds [][]int) ([]Score, error) {
	scores := make([]Score, len(alphas))
	for k, a := range alphas {
		scores[k].Value = a
	}
	for _, fold := range folds {
		in, own := without(classes, groups, fold)
		if len(in) == 0 {
			continue
		}
		g, err := fitGDA(z.take(in), own, n)
		if err != nil {
			return nil, err
		}
		for _, i := range fold {
			x := dot.NewVector(z.row(i))
			for k, a := range alphas {
				best, top := 0, math.Inf(-1)
				for c := range n {
					w, t := g.Weight[c*z.d:(c+1)*z.d], text[c*z.d:(c+1)*z.d]
					if v := textScale*dot.Product(t, x) + a*(dot.Product(w, x)+g.Bias[c]); v > top {
						best, top = c, v
					}
				}
				if best == classes[i] {
					scores[k].Accuracy += 1 / float64(len(fold)) / float64(len(folds))
				}
			}
		}
	}
	return scores, nil
}
