//go:build !(goexperiment.simd && amd64)

package direct

// trains reports whether the loops of training are vectors here.
const trains = false

func normalise(dst, src view, a area, scale, bias []float32, lo, hi float32) {
	normaliseGeneric(dst, src, a, scale, bias, lo, hi)
}

func combine(dst, y, x view, at area, a, b, c []float32) {
	combineGeneric(dst, y, x, at, a, b, c)
}

func shifted(sum, square []float32, x view, rows int, shift []float32) {
	shiftedGeneric(sum, square, x, rows, shift)
}

func gate(dy, x view, rows int, n *normed, from int, lo, hi float32, sum, product []float32) {
	gateGeneric(dy, x, rows, n, from, lo, hi, sum, product)
}

func add(dst []float32, a float32, x []float32) { addGeneric(dst, a, x) }

func addWide(dst []float64, a float64, x []float32) { addWideGeneric(dst, a, x) }

func inner(x, y []float32) float64 { return innerGeneric(x, y) }

func (s *sweep) weigh(dst view, src, weights []float32, channels int) {
	s.weighGeneric(dst, src, weights, channels)
}

func (s *sweep) unweigh(dy []float32, width int, src, weights []float32, channels int) {
	s.unweighGeneric(dy, width, src, weights, channels)
}
