//go:build !(goexperiment.simd && amd64)

package inference

func lay(dst, src []float32, runs []run) { layGeneric(dst, src, runs) }

func scaleRows(y, x, scale, bias []float32) { scaleRowsGeneric(y, x, scale, bias) }

func limit(y []float32, lo, hi float32) { limitGeneric(y, lo, hi) }

func addLimited(y, x []float32, lo, hi float32) { addLimitedGeneric(y, x, lo, hi) }
