package head

import (
	"cmp"
	"fmt"
	"math"

	"github.com/ledg-go/ledg/ceg/active/cluster"
	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// Matrix is a row-major float32 matrix with one sample a row; Stride equals Cols.
type Matrix = cluster.Matrix

// Head maps features to logits.
type Head interface {
	// Logits returns [rows, C] of [rows, D].
	Logits(features Matrix) Matrix
}

// Linear is a linear head: logits = W x + b.
type Linear struct {
	// Weight is [C, D], row-major; Bias is [C].
	Weight, Bias []float64
	// C is the selected or specified C. Scores are the cross-validation results of all
	// tried values, nil if there was nothing to select.
	C      float64
	Scores []Score
}

// Score is the cross-validation result of one value of C, or of Alpha in [GDA]: the accuracy,
// and the mean cross-entropy of held-out samples whose class is in the training folds.
type Score struct{ Value, Accuracy, Loss float64 }

// better is positive if s is better than t: more accurate, or as accurate at a lower
// loss.
func (s Score) better(t Score) int {
	if c := cmp.Compare(s.Accuracy, t.Accuracy); c != 0 {
		return c
	}
	return cmp.Compare(t.Loss, s.Loss)
}

// Classes returns C.
func (h *Linear) Classes() int { return len(h.Bias) }

// LogitsOf sets dst to the logits of one row of features and returns it.
func (h *Linear) LogitsOf(dst []float64, x []float32) []float64 {
	d := len(h.Weight) / len(h.Bias)
	for c, b := range h.Bias {
		dst[c] = b + dot.Product(x, dot.NewVector(h.Weight[c*d:(c+1)*d]))
	}
	return dst
}

// Logits returns the logits [rows, C]. It panics if the number of columns differs from the
// fitted features'.
func (h *Linear) Logits(features Matrix) Matrix {
	n := h.Classes()
	out := Matrix{Rows: features.Rows, Cols: n, Stride: n, Data: make([]float32, features.Rows*n)}
	h.each(features, func(i int, z []float64) {
		for c, v := range z {
			out.Data[i*n+c] = float32(v)
		}
	})
	return out
}

// Predict returns the class with the largest logit for every row; ties go to the lower class. It
// panics like Logits.
func (h *Linear) Predict(features Matrix) []int {
	out := make([]int, features.Rows)
	h.each(features, func(i int, z []float64) {
		for c, v := range z {
			if v > z[out[i]] {
				out[i] = c
			}
		}
	})
	return out
}

// each calls fn with the logits of every row, from several goroutines.
func (h *Linear) each(features Matrix, fn func(i int, z []float64)) {
	d, n := features.Cols, h.Classes()
	if d*n != len(h.Weight) {
		panic(fmt.Sprintf("head: features of %d columns for a head of %d", d, len(h.Weight)/n))
	}
	weights := dot.Pack(h.Weight, d)
	_ = dot.Each(features.Rows, blockRows, func(first, last int) error {
		products := make([]float64, (last-first)*n)
		dot.Products(products, dot.Pack(features.Data[first*d:last*d], d), weights)
		for i := first; i < last; i++ {
			z := products[(i-first)*n : (i-first+1)*n]
			for c, b := range h.Bias {
				z[c] += b
			}
			fn(i, z)
		}
		return nil
	})
}

const blockRows = 64

// check reports labelled samples that no head can be fitted on.
func check(features Matrix, classes []int, n int) error {
	if features.Stride != features.Cols || len(features.Data) != features.Rows*features.Cols || features.Cols < 1 {
		return fmt.Errorf("features: %d x %d with stride %d and %d elements, want rows without gaps",
			features.Rows, features.Cols, features.Stride, len(features.Data))
	}
	if features.Rows == 0 {
		return fmt.Errorf("no labelled samples")
	}
	if len(classes) != features.Rows {
		return fmt.Errorf("%d classes of %d labelled samples", len(classes), features.Rows)
	}
	for i, h := range classes {
		if h < 0 || h >= n {
			return fmt.Errorf("labelled row %d: class %d, want 0 to %d", i, h, n-1)
		}
		for j, v := range features.Data[i*features.Cols : (i+1)*features.Cols] {
			if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
				return fmt.Errorf("labelled features: row %d: column %d is %v", i, j, v)
			}
		}
	}
	return nil
}
