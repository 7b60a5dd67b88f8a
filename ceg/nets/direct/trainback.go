package direct

import "github.com/ledg-go/ledg/ceg/internal/dot"

// backward returns the gradients of the block's input maps, given the gradients of its output
// maps, which it frees. For the first block these are the stem's maps (see stem.backward).
func (b *block) backward(r *back, at int, dy maps) maps {
	k := &r.blocks[at]
	out := padded(b.out)
	of := make([]*sums, len(r.chunks))
	r.each(true, func(s *scratch, i int, c *chunk) {
		of[i] = newSums(out)
		s.gate(of[i], b.norm3, k.norm3[c.group], 0, out, view{dy[i], out}, view{k.p[i], out}, len(c.images)*b.outPixels)
	})
	last := r.slopes(b.norm3, k.norm3, of)
	dd := b.narrowBack(r, k, dy, last, of)
	middle := r.slopes(b.norm2, k.norm2, of)
	dx := b.wideBack(r, k, dd, dy, middle, of)
	r.t.pool.put(dd...)
	first := r.slopes(b.norm1, k.norm1, of)
	if b.expand == "" {
		r.stemSlopes = first
	} else {
		b.finish(r, k, dx, dy, first)
	}
	r.t.pool.put(dy...)
	return dx
}

// narrowBack is the way back through the last convolution: it returns the gradients of the
// depthwise convolution's normalised maps, and their sums in of.
func (b *block) narrowBack(r *back, k *blockRun, dy maps, slopes []*slope, of []*sums) maps {
	mid, out := padded(b.mid), padded(b.out)
	w := panels(r.values[b.project+".weight"], b.mid, 1, b.out, b.mid)
	dd, grads := r.maps(), r.maps()
	r.each(true, func(s *scratch, i int, c *chunk) {
		pixels, sl, n := len(c.images)*b.outPixels, slopes[c.group], k.norm2[c.group]
		dd[i], grads[i], of[i] = r.t.pool.get(pixels*mid), r.t.pool.zeros(out*mid), newSums(mid)
		some := rowsAtATime(out)
		dp := view{grow(&s.a, some*out), out}
		for from := 0; from < pixels; from += some {
			rows := min(some, pixels-from)
			combine(dp, view{dy[i], out}.rows(from), view{k.p[i], out}.rows(from), line(rows), sl.a, sl.b, sl.c)
			for c := 0; c < mid; c += slice {
				wide := min(slice, mid-c)
				x, d := sliced(k.d[i], pixels, c, wide).rows(from), sliced(dd[i], pixels, c, wide).rows(from)
				h := view{grow(&s.b, rows*wide), wide}
				normalise(h, x, line(rows), n.scale[c:c+wide], n.bias[c:c+wide], b.norm2.lo, b.norm2.hi)
				outer(view{grads[i], mid}.from(c), dp, out, h, wide, rows)
				s.product(d, dp, rows, b.out, w[c*b.out:], wide, false)
				s.gate(of[i], b.norm2, n, c, wide, d, x, rows)
			}
		}
	})
	r.grads[b.project+".weight"] = unpad(r.sum(grads, out*mid), mid, b.out, b.mid)
	return dd
}

// wideBack is the way back through the depthwise convolution, and through the first one as
// far as it goes without the sums over groups, which it sets in of: it returns the product of
// the gradients of the normalised maps, times their scales, with the weights.
func (b *block) wideBack(r *back, k *blockRun, dd, dy maps, slopes []*slope, of []*sums) maps {
	mid, in, all := padded(b.mid), padded(b.in), b.kernel*b.kernel
	var rows [][]float32 // slices of the first convolution's weights
	for c := 0; c < mid && b.expand != ""; c += slice {
		rows = append(rows, panels(k.rows[c*in:], in, 1, min(slice, mid-c), in))
	}
	dx, taps, grads := r.maps(), r.maps(), r.maps()
	one := constant(slice, 1)
	r.each(true, func(s *scratch, i int, ch *chunk) {
		taps[i], of[i] = r.t.pool.zeros(all*mid), newSums(mid)
		dx[i] = r.t.pool.get(len(ch.images) * b.pixels * in)
		if b.expand != "" {
			grads[i] = r.t.pool.zeros(mid * in)
		}
		n, sl, some := k.norm1[ch.group], slopes[ch.group], min(b.imagesAtATime(), len(ch.images))
		before, after := grow(&s.b, some*b.windows.in.size()), grow(&s.c, some*b.windows.out.size())
		clear(before)
		clear(after)
		for from := 0; from < len(ch.images); from += some {
			images := min(some, len(ch.images)-from)
			pixels, outPixels := images*b.pixels, len(ch.images)*b.outPixels
			for c := 0; c < mid; c += slice {
				w := min(slice, mid-c)
				raw := b.widened(r.Run, k, s, before, i, c, w, from, images, true)
				dh := view{grow(&s.d, pixels*w), w}
				if b.expand == "" {
					dh = view{dx[i], in}.rows(from * b.pixels).from(c)
				}
				for j := range images {
					x, y, m := before[j*b.windows.in.size():], after[j*b.windows.out.size():], &b.windows.out
					at := (from + j) * b.outPixels
					combine(m.from(y, 0, 0), sliced(dd[i], outPixels, c, w).rows(at), sliced(k.d[i], outPixels, c, w).rows(at),
						area{m.h, m.w, m.width}, sl.a[c:c+w], sl.b[c:c+w], sl.c[c:c+w])
					b.windows.forth.unweigh(m.from(y, 0, 0).v, m.width, x, taps[i][c:], w)
					for _, s := range b.windows.back {
						s.weigh(dh.rows(j*b.pixels), y, k.taps[c:], w)
					}
				}
				if b.expand == "" && b.shortcut {
					combine(dh, dh, view{dy[i], in}.rows(from*b.pixels).from(c), line(pixels), one[:w], one[:w], zeros[:w])
				}
				s.gate(of[i], b.norm1, n, c, w, dh, raw, pixels)
				if b.expand == "" {
					continue
				}
				normalise(dh, dh, line(pixels), n.scale[c:c+w], zeros[:w], b.norm3.lo, b.norm3.hi)
				s.product(view{dx[i], in}.rows(from*b.pixels), dh, pixels, w, rows[c/slice], in, c > 0)
				outer(view{grads[i], in}.rows(c), dh, w, view{k.x[i], in}.rows(from*b.pixels), in, pixels)
			}
		}
	})
	total := r.sum(taps, all*mid)
	g := make([]float32, b.mid*all)
	for c := range b.mid {
		for t := range all {
			g[c*all+t] = total[t*mid+c]
		}
	}
	r.grads[b.depthwise+".weight"] = g
	if b.expand != "" {
		k.grads = grads
	}
	return dx
}

// zeros are shifts of a slice.
var zeros [slice]float32

// finish turns the results of wideBack into the gradients of the first convolution's weights and
// of its input x. With t the gradients of the normalised maps times their scales, of means m and
// of means q when multiplied by the normalised values, the maps' are
//
//	t - m - q*inv*w*(x-mean(x))
//
// so that the gradients of x are w'*t - w'*m - w'*diag(q*inv)*w*(x-mean(x)), and those of
// the weights t*x' - n*m*mean(x)' - n*diag(q*inv)*w*C, where C is the covariance of x.
func (b *block) finish(r *back, k *blockRun, dx, dy maps, slopes []*slope) {
	in, mid := padded(b.in), padded(b.mid)
	mixed, shift := make([][]float32, len(r.groups)), make([][]float32, len(r.groups))
	r.t.parallel(len(r.groups), func(_ *scratch, g int) {
		shift[g] = make([]float32, in)
		if !r.train || !r.groups[g].grad {
			return
		}
		n, sl := k.norm1[g], slopes[g]
		scaled, m := make([]float32, mid*in), make([]float32, in*in)
		sum, toward := make([]float64, in), make([]float64, in)
		for e := range b.mid {
			w := k.rows[e*in : (e+1)*in]
			add(scaled[e*in:], -n.scale[e]*float32(sl.product[e])*n.inv[e], w)
			addWide(sum, -float64(n.scale[e])*sl.dy[e], w)
		}
		outer(view{m, in}, view{scaled, in}, in, view{k.rows, in}, in, b.mid)
		dot.Against(toward, m, dot.NewVector(k.mean[g]))
		for i := range in {
			shift[g][i] = float32(sum[i] - toward[i])
		}
		mixed[g] = panels(m, in, 1, b.in, in)
	})
	one, two := constant(in, 1), make([]float32, in)
	if b.shortcut {
		two = one
	}
	r.each(true, func(s *scratch, i int, c *chunk) {
		pixels := len(c.images) * b.pixels
		d, x := view{dx[i], in}, view{k.x[i], in}
		if m := mixed[c.group]; m != nil {
			s.product(d, x, pixels, b.in, m, in, true)
		}
		other := d
		if b.shortcut {
			other = view{dy[i], in}
		}
		combine(d, d, other, line(pixels), one, two, shift[c.group])
	})
	r.grads[b.expand+".weight"] = b.wideGrads(r, k, slopes)
}

// wideGrads returns the gradients of the first convolution's weights.
func (b *block) wideGrads(r *back, k *blockRun, slopes []*slope) []float32 {
	in, mid := padded(b.in), padded(b.mid)
	g := make([]float32, mid*in)
	mean := make([][]float32, len(r.groups))
	for at := range k.mean {
		mean[at] = narrow(k.mean[at])
	}
	r.t.parallel(b.mid, func(_ *scratch, e int) {
		row := g[e*in : (e+1)*in]
		for i, part := range k.grads {
			if part == nil {
				continue
			}
			add(row, 1, part[e*in:(e+1)*in])
			at := r.chunks[i].group
			if !r.train || i != r.groups[at].chunks[0] {
				continue
			}
			n, sl := k.norm1[at], slopes[at]
			scale := n.n * float64(n.scale[e])
			add(row, float32(-scale*sl.dy[e]), mean[at])
			add(row, float32(-scale*sl.product[e]*float64(n.inv[e])), k.spread[at][e*in:(e+1)*in])
		}
	})
	r.t.pool.put(k.grads...)
	k.grads = nil
	return unpad(g, in, b.mid, b.in)
}
