package head

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// Options are the settings of [Fit].
type Options struct {
	// Cs are the candidate values of C; a single value is used without selection. Empty
	// tries defaultCs.
	Cs []float64
	// Domains holds the domain of each labelled sample. With two or more domains, C is selected
	// by leave-one-domain-out cross-validation, otherwise by Folds folds.
	Domains []int
	// Folds is the number of folds without domains; 0 means 5. Folds are stratified by class.
	Folds int
	// Groups holds the group of each labelled sample, or nil. No group is in both the training
	// and the held-out part of a fold.
	Groups []int
	// Mean and Scale, of length D, standardise features: (x - mean) / scale; a scale of 0 counts
	// as 1. Nil uses the statistics of the labelled samples; statistics of the whole pool are
	// better.
	Mean, Scale []float64
	// Weights are positive sample weights; nil means ones.
	Weights []float64
}

// defaultCs returns the values of C that [Fit] tries by default.
func defaultCs() []float64 { return []float64{1e-4, 1e-3, 1e-2, 1e-1, 1, 10} }

// Fit fits multinomial logistic regression on labelled features [rows, D] of classes in [0, n).
// It minimises
//
//	C * weighted sum of cross-entropies + |W|^2 / 2
//
// on standardised features, as scikit-learn does. Among several values of C it selects the best
// cross-validated accuracy; ties, which are common with few labels, go to the lowest
// cross-entropy. The returned weights apply to unstandardised features.
func Fit(features Matrix, classes []int, n int, o Options) (*Linear, error) {
	if n < 1 {
		return nil, fmt.Errorf("head: %d classes, want at least 1", n)
	}
	if err := check(features, classes, n); err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	cs := o.Cs
	if len(cs) == 0 {
		cs = defaultCs()
	}
	for _, c := range cs {
		if !(c > 0) || math.IsInf(c, 1) {
			return nil, fmt.Errorf("head: C of %v, want above 0", c)
		}
	}
	if err := o.checkFolds(features.Rows); err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	if o.Weights != nil && len(o.Weights) != features.Rows {
		return nil, fmt.Errorf("head: %d weights of %d labelled samples", len(o.Weights), features.Rows)
	}
	for i, v := range o.Weights {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("head: labelled row %d: weight %v, want above 0", i, v)
		}
	}
	s, err := newScaler(features, o)
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	standard := s.apply(features)
	for i, v := range standard {
		if !(math.Abs(v) < 1e15) { // squares are computed in float32
			return nil, fmt.Errorf("head: row %d, column %d is %.3g deviations from the mean, want below 1e15: are mean and scale those of these features?", i/features.Cols, i%features.Cols, v)
		}
	}
	x, expand, err := reduce(standard, features.Rows, features.Cols)
	if err != nil {
		return nil, fmt.Errorf("head: %w", err)
	}
	p := problem{x: x, classes: classes, n: n, weights: o.Weights, groups: o.Groups}
	h := &Linear{C: cs[0]}
	if len(cs) > 1 {
		h.Scores = p.compare(cs, o.folds(classes))
		h.C = slices.MaxFunc(h.Scores, Score.better).Value
	}
	m := newMinimiser(p)
	m.minimise(h.C, 1e-12)
	w := m.weights()
	h.Weight, h.Bias = s.undo(expand(w[:len(w)-n]), w[len(w)-n:])
	return h, nil
}

// scaler standardises features.
type scaler struct{ mean, scale []float64 }

func newScaler(m Matrix, o Options) (scaler, error) {
	d := m.Cols
	for name, v := range map[string][]float64{"means": o.Mean, "scales": o.Scale} {
		if v != nil && len(v) != d {
			return scaler{}, fmt.Errorf("%d %s for %d features", len(v), name, d)
		}
	}
	s := scaler{o.Mean, slices.Clone(o.Scale)}
	mean, scale := Moments(m)
	if s.mean == nil {
		s.mean = mean
	}
	if s.scale == nil {
		s.scale = scale
	}
	for j, v := range s.scale {
		if !(v >= 0) || math.IsInf(v, 1) || math.IsNaN(s.mean[j]) || math.IsInf(s.mean[j], 0) {
			return s, fmt.Errorf("column %d: mean %v and scale %v", j, s.mean[j], v)
		}
		if v == 0 {
			s.scale[j] = 1
		}
	}
	return s, nil
}

// Moments returns the mean and the standard deviation (divisor n) of every column; 0 for a
// matrix without rows.
func Moments(m Matrix) (mean, deviation []float64) {
	d := m.Cols
	mean, deviation = make([]float64, d), make([]float64, d)
	if m.Rows == 0 {
		return mean, deviation
	}
	n := float64(m.Rows)
	for i := range m.Rows {
		for j, v := range m.Data[i*d : (i+1)*d] {
			mean[j] += float64(v)
		}
	}
	for j := range mean {
		mean[j] /= n
	}
	for i := range m.Rows {
		for j, v := range m.Data[i*d : (i+1)*d] {
			e := float64(v) - mean[j]
			deviation[j] += e * e
		}
	}
	for j, v := range deviation {
		deviation[j] = math.Sqrt(v / n)
	}
	return mean, deviation
}

func (s scaler) apply(m Matrix) []float64 {
	out := make([]float64, len(m.Data))
	for i, v := range m.Data {
		j := i % m.Cols
		out[i] = (float64(v) - s.mean[j]) / s.scale[j]
	}
	return out
}

// undo returns the weights and the biases for features as they are.
func (s scaler) undo(w, b []float64) (weight, bias []float64) {
	d := len(s.mean)
	weight, bias = slices.Clone(w), slices.Clone(b)
	for c := range bias {
		row := weight[c*d : (c+1)*d]
		for j := range row {
			row[j] /= s.scale[j]
			bias[c] -= row[j] * s.mean[j]
		}
	}
	return weight, bias
}

// rows is a float64 matrix, [n, d].
type rows struct {
	data []float64
	n, d int
}

func (r rows) row(i int) []float64 { return r.data[i*r.d : (i+1)*r.d] }

func (r rows) take(index []int) rows {
	out := rows{make([]float64, 0, len(index)*r.d), len(index), r.d}
	for _, i := range index {
		out.data = append(out.data, r.row(i)...)
	}
	return out
}

// reduce turns n rows of d > n columns into n columns, by a rotation: weights of the
// least length are a combination of the rows. expand turns weights for the reduced ones
// into those for the others. With X X' = A A', A triangular, the reduced rows are A and
// weights w are w A^-1 X. A share of 1e-10 of the mean square, added to the diagonal,
// keeps A from being singular.
func reduce(x []float64, n, d int) (rows, func(w []float64) []float64, error) {
	if n >= d {
		return rows{x, n, d}, func(w []float64) []float64 { return w }, nil
	}
	products := make([]float64, n*n)
	packed := dot.Pack(x, d)
	dot.Products(products, packed, packed)
	gram := mat.NewSymDense(n, products)
	trace := 0.0
	for i := range n {
		trace += gram.At(i, i)
	}
	if trace == 0 { // all rows are the mean
		return rows{make([]float64, n), n, 1}, func(w []float64) []float64 { return make([]float64, len(w)*d) }, nil
	}
	for i := range n {
		gram.SetSym(i, i, gram.At(i, i)+1e-10*trace/float64(n))
	}
	var c mat.Cholesky
	if !c.Factorize(gram) {
		return rows{}, nil, fmt.Errorf("features are too large, or too small, to be standardised")
	}
	var a mat.TriDense
	c.LTo(&a)
	out := rows{make([]float64, n*n), n, n}
	for i := range n {
		for j := range i + 1 {
			out.data[i*n+j] = a.At(i, j)
		}
	}
	return out, func(w []float64) []float64 {
		k := len(w) / n
		var theta mat.Dense
		// theta A = w, that is A' theta' = w'.
		if err := theta.Solve(a.T(), mat.NewDense(k, n, slices.Clone(w)).T()); err != nil {
			// Near-singular is expected where rows are copies: the solution is exact
			// enough for what it is multiplied with.
			_ = err
		}
		var weight mat.Dense
		weight.Mul(theta.T(), mat.NewDense(n, d, x))
		return weight.RawMatrix().Data
	}, nil
}

// problem is logistic regression on standardised rows.
type problem struct {
	x       rows
	classes []int
	n       int
	weights []float64 // nil for ones
	groups  []int     // nil for none
}

func (p problem) weight(i int) float64 {
	if p.weights == nil {
		return 1
	}
	return p.weights[i]
}
