package tsne

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// Components holds the leading principal components of a data set.
type Components struct {
	// Scores [n, k] are the centred points along the components, by falling
	// variance. In every column the value of largest magnitude, the first
	// such, is positive.
	Scores blas32.General
	// Variances [k] are the variances of the scores, with divisor n - 1.
	Variances []float64
	// Total is the variance of the data summed over all features, so that
	// Variances[i] / Total is a component's share.
	Total float64
}

// PCA returns the first k principal components of the rows of x [n, d], k at
// most d and below n. It works in float64 with the covariance matrix of the
// features, or of the points when these are fewer.
func PCA(x blas32.General, k int) (Components, error) {
	if err := checkMatrix("x", x, 2, 1); err != nil {
		return Components{}, err
	}
	n, d := x.Rows, x.Cols
	if k < 1 || k > d || k >= n {
		return Components{}, fmt.Errorf("tsne: %d principal components of [%d, %d] values, want from 1 to %d", k, n, d, min(d, n-1))
	}
	centred := centre(x)
	var gram mat.SymDense
	if d <= n {
		gram.SymOuterK(1/float64(n-1), centred.T())
	} else {
		gram.SymOuterK(1/float64(n-1), centred)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return Components{}, fmt.Errorf("tsne: the eigenvalues of the covariance of [%d, %d] values did not converge", n, d)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil) // ascending
	m := len(values)
	out := Components{
		Scores:    blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)},
		Variances: make([]float64, k),
		Total:     gram.Trace(),
	}
	for c := range k {
		out.Variances[c] = max(0, values[m-1-c])
		axis := vectors.ColView(m - 1 - c)
		scores := mat.NewVecDense(n, nil)
		if d <= n {
			scores.MulVec(centred, axis)
		} else { // axis already is the unit vector of scores
			scores.ScaleVec(math.Sqrt(out.Variances[c]*float64(n-1)), axis)
		}
		largest := 0.0
		for i := range n {
			if v := scores.AtVec(i); math.Abs(v) > math.Abs(largest) {
				largest = v
			}
		}
		for i := range n {
			out.Scores.Data[i*k+c] = float32(math.Copysign(1, largest) * scores.AtVec(i))
		}
	}
	return out, nil
}

// centre returns x in float64 with the mean of every column taken off.
func centre(x blas32.General) *mat.Dense {
	n, d := x.Rows, x.Cols
	mean := make([]float64, d)
	for i := range n {
		for j, v := range row(x, i) {
			mean[j] += float64(v)
		}
	}
	data := make([]float64, n*d)
	for i := range n {
		for j, v := range row(x, i) {
			data[i*d+j] = float64(v) - mean[j]/float64(n)
		}
	}
	return mat.NewDense(n, d, data)
}
