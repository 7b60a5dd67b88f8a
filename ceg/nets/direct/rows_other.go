//go:build !(goexperiment.simd && amd64)

package direct

func (c *Activation) apply(v []float32) { c.applyGeneric(v) }

func sumRows(sums, block []float32) { sumRowsGeneric(sums, block) }

func normaliseRows(y, x, scale, bias []float32, eps float32) {
	normaliseRowsGeneric(y, x, scale, bias, eps)
}

func lay(dst, src []float32, runs []run) { layGeneric(dst, src, runs) }

func scaleRows(y, x, scale, bias []float32) { scaleRowsGeneric(y, x, scale, bias) }

func limit(y []float32, lo, hi float32) { limitGeneric(y, lo, hi) }

func addLimited(y, x []float32, lo, hi float32) { addLimitedGeneric(y, x, lo, hi) }

func times(y, x, z []float32) { timesGeneric(y, x, z) }

func softmaxRows(x []float32, inverse *[cols]float32) { softmaxRowsGeneric(x, inverse) }
