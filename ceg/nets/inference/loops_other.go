//go:build !(goexperiment.simd && (amd64 || arm64))

package inference

// Vectors reports whether the package's loops use vector instructions.
const Vectors = false

func correlate(dst, src []float32, offsets []int, w []float32, bias, lo, hi float32) {
	correlateGeneric(dst, src, offsets, w, bias, lo, hi)
}

func finish(tile, bias []float32, lo, hi float32) { finishGeneric(tile, bias, lo, hi) }

func finishPlus(tile, plus, bias []float32, lo, hi float32) {
	finishPlusGeneric(tile, plus, bias, lo, hi)
}
