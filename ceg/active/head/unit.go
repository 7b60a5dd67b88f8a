package head

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// unit returns the rows divided by their lengths; a row of zeros stays.
func unit(m Matrix) rows {
	out := rows{make([]float64, m.Rows*m.Cols), m.Rows, m.Cols}
	for i := range m.Rows {
		x, z := m.Data[i*m.Cols:(i+1)*m.Cols], out.row(i)
		length := math.Sqrt(dot.Square(x))
		for j, v := range x {
			if length > 0 {
				z[j] = float64(v) / length
			}
		}
	}
	return out
}

func unitFloat32(m Matrix) Matrix {
	out := Matrix{Rows: m.Rows, Cols: m.Cols, Stride: m.Cols, Data: make([]float32, m.Rows*m.Cols)}
	_ = dot.Each(m.Rows, 1024, func(first, last int) error {
		part := Matrix{Rows: last - first, Cols: m.Cols, Stride: m.Cols, Data: m.Data[first*m.Cols : last*m.Cols]}
		for j, v := range unit(part).data {
			out.Data[first*m.Cols+j] = float32(v)
		}
		return nil
	})
	return out
}

// checkText reports class embeddings that are no use.
func checkText(text Matrix, classes, cols int) error {
	if text.Rows != classes || text.Cols != cols || text.Stride != cols || len(text.Data) != classes*cols {
		return fmt.Errorf("class embeddings: %d x %d, want %d x %d, one row for each class and one column for each feature", text.Rows, text.Cols, classes, cols)
	}
	for c := range classes {
		square := dot.Square(text.Data[c*cols : (c+1)*cols])
		if !(square > 0) || math.IsInf(square, 1) {
			return fmt.Errorf("class embeddings: row %d has the squared length %v", c, square)
		}
	}
	return nil
}
