package direct

// The loops of training run over some channels of some pixels. The channels of a pixel lie
// side by side, a multiple of 16 of them.

// view is where such maps lie: channel c of pixel r is v[r*stride+c].
type view struct {
	v      []float32
	stride int
}

// rows returns v from a pixel on.
func (v view) rows(from int) view { return view{v.v[from*v.stride:], v.stride} }

// from returns v from a channel on.
func (v view) from(c int) view { return view{v.v[c:], v.stride} }

// area is a number of rows of pixels. Row y of the map that starts at a view's first pixel begins
// y*cols pixels later; in a plane, y*width pixels later.
type area struct{ rows, cols, width int }

// line is a number of pixels in a row.
func line(n int) area { return area{1, n, n} }

// normaliseGeneric sets dst, which lies in a plane, to src*scale + bias, limited to [lo, hi].
func normaliseGeneric(dst, src view, a area, scale, bias []float32, lo, hi float32) {
	for r := range a.rows {
		for i := range a.cols {
			x, y := src.v[(r*a.cols+i)*src.stride:], dst.v[(r*a.width+i)*dst.stride:]
			for c, s := range scale {
				y[c] = min(max(x[c]*s+bias[c], lo), hi)
			}
		}
	}
}

// combineGeneric sets dst, which lies in a plane, to y*a + x*b + c.
func combineGeneric(dst, y, x view, at area, a, b, c []float32) {
	for r := range at.rows {
		for i := range at.cols {
			d, y, x := dst.v[(r*at.width+i)*dst.stride:], y.v[(r*at.cols+i)*y.stride:], x.v[(r*at.cols+i)*x.stride:]
			for k := range a {
				d[k] = y[k]*a[k] + (x[k]*b[k] + c[k])
			}
		}
	}
}

// shiftedGeneric sets sum and square to the sums over rows of x-shift and its square.
func shiftedGeneric(sum, square []float32, x view, rows int, shift []float32) {
	clear(sum)
	clear(square)
	for r := range rows {
		x := x.v[r*x.stride:]
		for c, s := range shift {
			d := x[c] - s
			sum[c] += d
			square[c] += d * d
		}
	}
}

// gateGeneric is the way back through a limit: it clears dy where x*scale + bias is outside (lo,
// hi), and sets sum and product to the sums over rows of the remaining dy, and of dy * (x*inv +
// off).
func gateGeneric(dy, x view, rows int, n *normed, from int, lo, hi float32, sum, product []float32) {
	clear(sum)
	clear(product)
	for r := range rows {
		dy, x := dy.v[r*dy.stride:], x.v[r*x.stride:]
		for c := range sum {
			if u := x[c]*n.scale[from+c] + n.bias[from+c]; !(u > lo && u < hi) {
				dy[c] = 0
			}
			sum[c] += dy[c]
			product[c] += dy[c] * (x[c]*n.inv[from+c] + n.off[from+c])
		}
	}
}

// The loops below take numbers that lie side by side, a multiple of 16 of them.

// addGeneric adds x times a to dst.
func addGeneric(dst []float32, a float32, x []float32) {
	for i, v := range x {
		dst[i] += a * v
	}
}

// addWideGeneric is addGeneric in float64.
func addWideGeneric(dst []float64, a float64, x []float32) {
	for i, v := range x {
		dst[i] += a * float64(v)
	}
}

// innerGeneric is the product of two vectors, in float64.
func innerGeneric(x, y []float32) float64 {
	sum := 0.
	for i, v := range x {
		sum += float64(v) * float64(y[i])
	}
	return sum
}
