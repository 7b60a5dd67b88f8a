package tsne

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// pca returns the scores [k, n] of the rows of x [n, d] along the first k principal components, k at most d
// and below n, by falling variance, with their variances, divisor n - 1, and the variance of all features
// together. In every component the score of largest magnitude, the first such, is positive. It works in
// float64 with the covariance matrix of the features, or of the points when these are fewer.
func pca(x blas32.General, k int) (scores [][]float32, variances []float64, total float64, err error) {
	n, d := x.Rows, x.Cols
	centred := centre(x)
	var gram mat.SymDense
	if d <= n {
		gram.SymOuterK(1/float64(n-1), centred.T())
	} else {
		gram.SymOuterK(1/float64(n-1), centred)
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		return nil, nil, 0, fmt.Errorf("tsne: the eigenvalues of the covariance of [%d, %d] values did not converge", n, d)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil) // ascending
	m := len(values)
	for c := range k {
		variance := max(0, values[m-1-c])
		axis := vectors.ColView(m - 1 - c)
		score := mat.NewVecDense(n, nil)
		if d <= n {
			score.MulVec(centred, axis)
		} else { // axis already is the unit vector of scores
			score.ScaleVec(math.Sqrt(variance*float64(n-1)), axis)
		}
		largest := 0.0
		for i := range n {
			if v := score.AtVec(i); math.Abs(v) > math.Abs(largest) {
				largest = v
			}
		}
		list := make([]float32, n)
		for i := range list {
			list[i] = float32(math.Copysign(1, largest) * score.AtVec(i))
		}
		scores, variances = append(scores, list), append(variances, variance)
	}
	return scores, variances, gram.Trace(), nil
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
