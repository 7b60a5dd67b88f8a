package direct

import "math"

// The loops below take blocks, or any number of whole rows of them.

// sumRowsGeneric adds the rows of a block to eight sums each: number j of a row to sum j mod 8.
func sumRowsGeneric(sums, block []float32) {
	for i, v := range block {
		sums[i/cols*8+i%8] += v
	}
}

// normaliseRowsGeneric sets the columns of y to those of x, of so many rows, with mean 0 and variance 1
// less eps, times scale and plus bias.
func normaliseRowsGeneric(y, x, scale, bias []float32, eps float32) {
	n := float64(len(scale))
	for j := range cols {
		sum, squares := 0., 0.
		for r := range scale {
			sum += float64(x[r*cols+j])
		}
		mean := sum / n
		for r := range scale {
			d := float64(x[r*cols+j]) - mean
			squares += d * d
		}
		inv := 1 / math.Sqrt(squares/n+float64(eps))
		for r, s := range scale {
			y[r*cols+j] = float32((float64(x[r*cols+j])-mean)*inv)*s + bias[r]
		}
	}
}

// layGeneric copies runs of pixels.
func layGeneric(dst, src []float32, runs []run) {
	for _, r := range runs {
		copy(dst[r.at:r.at+r.n], src[r.from:])
	}
}

// scaleRowsGeneric sets rows of y to those of x, each with its scale and bias.
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

// timesGeneric sets y to the products of x and z.
func timesGeneric(y, x, z []float32) {
	for i, v := range x[:len(y)] {
		y[i] = v * z[i]
	}
}

// softmaxRowsGeneric sets the columns of rows of a block to exp(x - the largest), and inverse to one over
// their sums.
func softmaxRowsGeneric(x []float32, inverse *[cols]float32) {
	for j := range cols {
		largest := float32(math.Inf(-1))
		for i := j; i < len(x); i += cols {
			largest = max(largest, x[i])
		}
		sum := 0.
		for i := j; i < len(x); i += cols {
			x[i] = float32(math.Exp(float64(x[i] - largest)))
			sum += float64(x[i])
		}
		inverse[j] = float32(1 / sum)
	}
}
