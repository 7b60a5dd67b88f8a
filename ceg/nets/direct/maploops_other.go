//go:build !(goexperiment.simd && amd64)

package direct

// trains reports whether the loops of training are vectors here.
const trains = false

func normalise(dst, src view, rows int, scale, bias []float32, lo, hi float32) {
	normaliseGeneric(dst, src, rows, scale, bias, lo, hi)
}

func combine(dst, y, x view, rows int, a, b, c []float32) {
	combineGeneric(dst, y, x, rows, a, b, c)
}

func shifted(sum, square []float32, x view, rows int, shift []float32) {
	shiftedGeneric(sum, square, x, rows, shift)
}

func gate(dy, x view, rows int, n *normed, from int, lo, hi float32, sum, product []float32) {
	gateGeneric(dy, x, rows, n, from, lo, hi, sum, product)
}

func weigh(dst []float32, step int, src []float32, move int, t taps, w []float32, n, channels int) {
	weighGeneric(dst, step, src, move, t, w, n, channels)
}

func unweigh(dst []float32, step int, src []float32, move int, t taps, w []float32, n, channels int) {
	unweighGeneric(dst, step, src, move, t, w, n, channels)
}
