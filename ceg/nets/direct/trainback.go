package direct

// backward returns the gradients of the maps that the block reads, given those of the ones
// that it makes, which it frees; for the first block those of the stem's maps (see
// stem.backward).
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
		some := rowsAtATime(mid)
		dp, h := view{grow(&s.a, some*out), out}, view{grow(&s.b, some*mid), mid}
		for from := 0; from < pixels; from += some {
			rows := min(some, pixels-from)
			x, d := view{k.d[i], mid}.rows(from), view{dd[i], mid}.rows(from)
			combine(dp, view{dy[i], out}.rows(from), view{k.p[i], out}.rows(from), rows, sl.a, sl.b, sl.c)
			normalise(h, x, rows, n.scale, n.bias, b.norm2.lo, b.norm2.hi)
			outer(view{grads[i], mid}, dp, out, h, mid, rows)
			s.product(d, dp, rows, b.out, w, mid, false)
			s.gate(of[i], b.norm2, n, 0, mid, d, x, rows)
		}
	})
	r.grads[b.project+".weight"] = unpad(r.sum(grads, out*mid), mid, b.out, b.mid)
	return dd
}

// wideBack is the way back through the depthwise convolution, and through the first one as
// far as it goes without the sums over groups, which it sets in of: it returns the product of
// the gradients of the normalised maps, times their scales, with the weights.
func (b *block) wideBack(r *back, k *blockRun, dd, dy maps, slopes []*slope, of []*sums) maps {
	mid, in, area := padded(b.mid), padded(b.in), b.kernel*b.kernel
	var rows [][]float32 // slices of the first convolution's weights
	for c := 0; c < mid && b.expand != ""; c += slice {
		rows = append(rows, panels(k.rows[c*in:], in, 1, min(slice, mid-c), in))
	}
	dx, taps, grads := r.maps(), r.maps(), r.maps()
	one := constant(slice, 1)
	r.each(true, func(s *scratch, i int, ch *chunk) {
		dx[i], taps[i], of[i] = r.t.pool.zeros(len(ch.images)*b.pixels*in), r.t.pool.zeros(area*mid), newSums(mid)
		if b.expand != "" {
			grads[i] = r.t.pool.zeros(mid * in)
		}
		n, sl, some := k.norm1[ch.group], slopes[ch.group], b.imagesAtATime()
		for from := 0; from < len(ch.images); from += some {
			images := min(some, len(ch.images)-from)
			pixels, outPixels := images*b.pixels, images*b.outPixels
			for c := 0; c < mid; c += slice {
				w := min(slice, mid-c)
				raw := b.raw(r.Run, k, s, i, c, w, from, images)
				h, d := view{grow(&s.b, pixels*w), w}, view{grow(&s.c, outPixels*w), w}
				normalise(h, raw, pixels, n.scale[c:c+w], n.bias[c:c+w], b.norm1.lo, b.norm1.hi)
				combine(d, view{dd[i], mid}.rows(from*b.outPixels).from(c), view{k.d[i], mid}.rows(from*b.outPixels).from(c), outPixels,
					sl.a[c:c+w], sl.b[c:c+w], sl.c[c:c+w])
				dh := view{grow(&s.d, pixels*w), w}
				if b.expand == "" {
					dh = view{dx[i], in}.rows(from * b.pixels).from(c)
				}
				for j := range images {
					y := d.rows(j * b.outPixels).v
					b.forth.unweigh(y, h.rows(j*b.pixels).v, taps[i][c:], w)
					b.back.weigh(dh.rows(j*b.pixels), y, k.taps[c:], w)
				}
				if b.expand == "" && b.shortcut {
					combine(dh, dh, view{dy[i], in}.rows(from*b.pixels).from(c), pixels, one[:w], one[:w], zeros[:w])
				}
				s.gate(of[i], b.norm1, n, c, w, dh, raw, pixels)
				if b.expand == "" {
					continue
				}
				normalise(dh, dh, pixels, n.scale[c:c+w], zeros[:w], b.norm3.lo, b.norm3.hi)
				s.product(view{dx[i], in}.rows(from*b.pixels), dh, pixels, w, rows[c/slice], in, true)
				outer(view{grads[i], in}.rows(c), dh, w, view{k.x[i], in}.rows(from*b.pixels), in, pixels)
			}
		}
	})
	total := r.sum(taps, area*mid)
	g := make([]float32, b.mid*area)
	for c := range b.mid {
		for t := range area {
			g[c*area+t] = total[t*mid+c]
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

// finish makes of what wideBack has computed the gradients of the first convolution's weights
// and of its input x. With t the gradients of the normalised maps times their scales, of means m
// and of means q when multiplied by the normalised values, those of the maps are
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
		sum := make([]float64, in)
		for e := range b.mid {
			q := -n.scale[e] * float32(sl.product[e]) * n.inv[e]
			for j, w := range k.rows[e*in : (e+1)*in] {
				scaled[e*in+j] = q * w
				sum[j] -= float64(n.scale[e]) * sl.dy[e] * float64(w)
			}
		}
		outer(view{m, in}, view{scaled, in}, in, view{k.rows, in}, in, b.mid)
		for i := range in {
			for j, v := range k.mean[g] {
				sum[i] -= float64(m[i*in+j]) * v
			}
			shift[g][i] = float32(sum[i])
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
		combine(d, d, other, pixels, one, two, shift[c.group])
	})
	r.grads[b.expand+".weight"] = b.wideGrads(r, k, slopes)
}

// wideGrads returns the gradients of the first convolution's weights.
func (b *block) wideGrads(r *back, k *blockRun, slopes []*slope) []float32 {
	in := padded(b.in)
	g := make([]float32, b.mid*b.in)
	r.t.parallel(b.mid, func(_ *scratch, e int) {
		row := g[e*b.in : (e+1)*b.in]
		for i, part := range k.grads {
			if part == nil {
				continue
			}
			for j, v := range part[e*in : e*in+b.in] {
				row[j] += v
			}
			if c := r.chunks[i]; !r.train || i != r.groups[c.group].chunks[0] {
				continue
			}
			at := r.chunks[i].group
			n, sl := k.norm1[at], slopes[at]
			scale := n.n * float64(n.scale[e])
			for j := range row {
				row[j] -= float32(scale * (sl.dy[e]*k.mean[at][j] + sl.product[e]*float64(n.inv[e])*float64(k.spread[at][e*in+j])))
			}
		}
	})
	r.t.pool.put(k.grads...)
	k.grads = nil
	return g
}
