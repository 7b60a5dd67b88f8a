package dot

import "fmt"

// The vectors of one strip are compared with the vectors of one panel at a time.
const (
	stripRows = 8
	panelCols = 32
)

// Strips and Panels hold float32 vectors for [Estimate], interleaved in groups: element 0 of all
// vectors of the group, then element 1. Missing vectors of the last group are zero.
type (
	Strips struct{ interleaved }
	Panels struct{ interleaved }
)

// interleaved holds vectors, width of them side by side.
type interleaved struct {
	rows, cols int
	data       []float32
}

// Len returns the number of vectors.
func (v *interleaved) Len() int { return v.rows }

// set rounds a row-major matrix to float32, its rows followed by the elements in
// more, using the memory of v again where it is large enough.
func set[T Number](v *interleaved, width int, matrix []T, cols int, more []float32) {
	if cols <= 0 || len(matrix)%cols != 0 {
		panic(fmt.Sprintf("dot: %d elements are not rows of %d", len(matrix), cols))
	}
	v.rows, v.cols = len(matrix)/cols, cols+len(more)
	need := (v.rows + width - 1) / width * width * v.cols
	if cap(v.data) < need {
		v.data = make([]float32, need)
	}
	v.data = v.data[:need]
	clear(v.data)
	for i := range v.rows {
		dst := v.data[i/width*width*v.cols+i%width:]
		for j, x := range matrix[i*cols : (i+1)*cols] {
			dst[j*width] = float32(x)
		}
		for j, x := range more {
			dst[(cols+j)*width] = x
		}
	}
}

// SetStrips fills s with the rows of a row-major matrix, each followed by the elements in more.
// It panics if cols is not positive or does not divide len(rows).
func SetStrips[T Number](s *Strips, rows []T, cols int, more ...float32) {
	set(&s.interleaved, stripRows, rows, cols, more)
}

// NewPanels returns the rows of a row-major matrix as panels. It panics if cols is
// not positive or does not divide len(rows).
func NewPanels[T Number](rows []T, cols int) *Panels {
	p := new(Panels)
	set(&p.interleaved, panelCols, rows, cols, nil)
	return p
}

// EstimateSize returns the size of the matrix that [Estimate] sets, and its row stride.
func EstimateSize(rows, cols int) (size, stride int) {
	stride = (cols + panelCols - 1) / panelCols * panelCols
	return (rows + stripRows - 1) / stripRows * stripRows * stride, stride
}

// Estimate sets dst[i*stride+j] to the float32 inner product of vector i of a and vector j of b.
// It is several times as fast as [Products], but the order of summation depends on the machine:
// see [EstimateError]. It panics if the lengths of the vectors differ.
func Estimate(dst []float32, a *Strips, b *Panels) {
	if a.cols != b.cols {
		panic(fmt.Sprintf("dot: vectors of %d and of %d elements", a.cols, b.cols))
	}
	_, stride := EstimateSize(a.rows, b.rows)
	k := a.cols
	for j := 0; j < b.rows; j += panelCols {
		for i := 0; i < a.rows; i += stripRows {
			estimate(dst[i*stride+j:], stride, a.data[i*k:(i+stripRows)*k], b.data[j*k:(j+panelCols)*k], k)
		}
	}
}

// EstimateError bounds the difference between an estimate and the exact inner product of the
// unrounded vectors, relative to the product of their lengths. It holds if float32 neither
// overflows nor underflows: k+2 roundings by at most 2^-24 (Higham 2002, section 3.1).
func EstimateError(k int) float64 {
	e := float64(k+2) * 0x1p-24
	return e / (1 - min(e, 0.5))
}

// Dimensions of a [Tile].
const (
	TileRows = stripRows
	TileCols = panelCols
)

// Tile sets a tile of dst, TileRows by TileCols with the given row stride, to the product of a
// [TileRows, k] in column-major and b [k, TileCols] in row-major order. The order of summation
// depends on the machine. It panics if a slice is too short or k is below 1.
func Tile(dst []float32, stride int, a, b []float32, k int) {
	estimate(dst[:(stripRows-1)*stride+panelCols], stride, a[:k*stripRows], b[:k*panelCols], k)
}

func estimateGeneric(dst []float32, stride int, a, b []float32, k int) {
	for i := range stripRows {
		var sums [panelCols]float32
		for l := range k {
			x, y := a[l*stripRows+i], (*[panelCols]float32)(b[l*panelCols:])
			for j := range sums {
				sums[j] += x * y[j]
			}
		}
		copy(dst[i*stride:], sums[:])
	}
}
