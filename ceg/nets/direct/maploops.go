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

// normaliseGeneric sets dst to src*scale + bias, limited to [lo, hi].
func normaliseGeneric(dst, src view, rows int, scale, bias []float32, lo, hi float32) {
	for r := range rows {
		x, y := src.v[r*src.stride:], dst.v[r*dst.stride:]
		for c, s := range scale {
			y[c] = min(max(x[c]*s+bias[c], lo), hi)
		}
	}
}

// combineGeneric sets dst to y*a + x*b + c.
func combineGeneric(dst, y, x view, rows int, a, b, c []float32) {
	for r := range rows {
		d, y, x := dst.v[r*dst.stride:], y.v[r*y.stride:], x.v[r*x.stride:]
		for i := range a {
			d[i] = y[i]*a[i] + (x[i]*b[i] + c[i])
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

// gateGeneric is the way back through a limit: it clears dy where x*scale + bias is outside
// (lo, hi), and sets sum and product to the sums over rows of what is left, and of that
// times x*inv + off.
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

// taps are what an output reads: the places of the values and of their weights.
type taps struct{ at, weight []int }

// weighGeneric sets n pixels of dst, step apart, of so many channels, to sums over taps of a
// weight times the value at a tap, which moves on by move.
func weighGeneric(dst []float32, step int, src []float32, move int, t taps, w []float32, n, channels int) {
	for j := range n {
		for c := range channels {
			s := float32(0)
			for i, at := range t.at {
				s += src[at+j*move+c] * w[t.weight[i]+c]
			}
			dst[j*step+c] = s
		}
	}
}

// unweighGeneric adds to the gradients of weights, of what weigh computes, given those of dst.
func unweighGeneric(dst []float32, step int, src []float32, move int, t taps, w []float32, n, channels int) {
	for i, at := range t.at {
		for c := range channels {
			s := float32(0)
			for j := range n {
				s += dst[j*step+c] * src[at+j*move+c]
			}
			w[t.weight[i]+c] += s
		}
	}
}
