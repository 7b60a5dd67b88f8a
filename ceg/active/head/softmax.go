package head

import "math"

// Softmax sets dst to the softmax of logits, of equal length; they may alias. It does not
// overflow for finite logits.
func Softmax(dst, logits []float64) {
	largest := math.Inf(-1)
	for _, v := range logits {
		largest = max(largest, v)
	}
	sum := 0.0
	for j, v := range logits {
		dst[j] = math.Exp(v - largest)
		sum += dst[j]
	}
	for j := range dst {
		dst[j] /= sum
	}
}

// SoftmaxRows returns the softmax of every row, computed in float64.
func SoftmaxRows(logits Matrix) Matrix {
	out := Matrix{Rows: logits.Rows, Cols: logits.Cols, Stride: logits.Cols, Data: make([]float32, logits.Rows*logits.Cols)}
	row := make([]float64, logits.Cols)
	for i := range logits.Rows {
		for j := range row {
			row[j] = float64(logits.Data[i*logits.Stride+j])
		}
		Softmax(row, row)
		for j, v := range row {
			out.Data[i*out.Stride+j] = float32(v)
		}
	}
	return out
}
