package inference

// The loops below take blocks, or any number of whole rows of them.

// layGeneric copies runs of pixels.
func layGeneric(dst, src []float32, runs []run) {
	for _, r := range runs {
		copy(dst[r.at:r.at+r.n], src[r.from:])
	}
}

// scaleRowsGeneric sets each row of y to the row of x, scaled and shifted by its scale and bias.
func scaleRowsGeneric(y, x, scale, bias []float32) {
	for r, s := range scale {
		b := bias[r]
		for i, v := range x[r*cols : (r+1)*cols] {
			y[r*cols+i] = v*s + b
		}
	}
}

// limitGeneric limits values to [lo, hi].
func limitGeneric(y []float32, lo, hi float32) {
	for i, v := range y {
		y[i] = min(max(v, lo), hi)
	}
}

// addLimitedGeneric adds x to y, limited to [lo, hi].
func addLimitedGeneric(y, x []float32, lo, hi float32) {
	for i, v := range x[:len(y)] {
		y[i] = min(max(y[i]+v, lo), hi)
	}
}
