package direct

import "github.com/ledg-go/ledg/ceg/internal/dot"

// block is an inverted residual block: a 1x1 convolution that expands maps (absent in the first
// block), a depthwise one and a 1x1 one that projects, each with BatchNorm, and a shortcut if
// the dimensions permit.
//
// The expanded maps are never stored: in the forward and in the backward pass, 32 channels of some
// images are computed, normalised and convolved while they are in a cache. Their statistics follow
// from the statistics of the narrow maps: the mean of w*x is w*mean(x), and its variance w*C*w',
// where C is the covariance of x.
type block struct {
	expand, depthwise, project string // names of the convolutions; "" for none
	norm1, norm2, norm3        *batchNorm
	in, mid, out               int
	pixels, outPixels          int // of a map that is read, and written
	kernel                     int
	windows                    windows
	shortcut                   bool
}

func newBlock(c *op, n *batchNorm, d *op, dn *batchNorm, out *op, on *batchNorm, shortcut bool) *block {
	x := d.in
	b := &block{depthwise: d.name, project: out.name, norm1: n, norm2: dn, norm3: on, in: x.c, mid: d.c, out: out.c,
		pixels: x.h * x.w, outPixels: d.h * d.w, kernel: d.kernel, shortcut: shortcut}
	if c != nil {
		b.expand, b.in = c.name, c.in.c
	}
	b.windows = newWindows(padded(d.c), x.h, x.w, d.h, d.w, d.kernel, d.stride, d.top, d.left)
	return b
}

// blockRun is what a block keeps of a run.
type blockRun struct {
	// x are the maps that it reads, which are those that the block before writes; nil for
	// the first, which reads the stem's.
	x maps
	// d are the depthwise convolution's maps (see sliced) and p the last one's, both before
	// BatchNorm, and y what the block makes.
	d, p, y             maps
	norm1, norm2, norm3 []*normed
	// mean are the means of x by group, spread its covariance times the weights, [mid, in].
	mean   [][]float64
	spread [][]float32
	// wide [in, mid] and narrow [mid, out] are the weights of 1x1 convolutions as panels, rows
	// the first's [mid, in], and taps the depthwise ones' [kernel*kernel, mid].
	wide, narrow, rows, taps []float32
	// grads are the parts of the first convolution's gradients, on the way back.
	grads maps
}

// imagesAtATime is the number of images in a slice's batch.
func (b *block) imagesAtATime() int { return max(1, 1024/b.pixels) }

// sliced returns a slice, w channels from c on, of the depthwise convolution's maps with the given
// number of pixels. One slice follows the other.
func sliced(m []float32, pixels, c, w int) view { return view{m[c*pixels:], w} }

// pack lays out the weights.
func (b *block) pack(r *Run, k *blockRun) {
	mid, in, area := padded(b.mid), padded(b.in), b.kernel*b.kernel
	if b.expand != "" {
		w := r.values[b.expand+".weight"]
		k.wide = panels(w, 1, b.in, b.in, b.mid)
		k.rows = make([]float32, mid*in)
		for e := range b.mid {
			copy(k.rows[e*in:], w[e*b.in:(e+1)*b.in])
		}
	}
	k.narrow = panels(r.values[b.project+".weight"], 1, b.mid, b.mid, b.out)
	k.taps = make([]float32, area*mid)
	for c := range b.mid {
		for t := range area {
			k.taps[t*mid+c] = r.values[b.depthwise+".weight"][c*area+t]
		}
	}
}

// forward computes the block's maps, of x with the given means by group, and returns them and
// their means.
func (b *block) forward(r *Run, k *blockRun, x maps, mean [][]float64) (maps, [][]float64) {
	b.pack(r, k)
	k.x, k.mean = x, mean
	mid, out := padded(b.mid), padded(b.out)
	k.norm1 = r.stem.norm
	if b.expand != "" {
		k.norm1 = b.widen(r, k)
	}
	k.d, k.p, k.y = r.maps(), r.maps(), r.maps()
	of := make([]*moments, len(r.chunks))
	r.each(false, func(s *scratch, i int, c *chunk) {
		k.d[i] = r.t.pool.get(len(c.images) * b.outPixels * mid)
		of[i] = newMoments(mid)
		b.convolve(r, k, s, i, c, of[i])
		of[i].n = float64(len(c.images) * b.outPixels)
	})
	k.norm2 = r.norms(b.norm2, of)
	r.each(false, func(s *scratch, i int, c *chunk) {
		pixels, n := len(c.images)*b.outPixels, k.norm2[c.group]
		p := view{r.t.pool.get(pixels * out), out}
		k.p[i], of[i] = p.v, newMoments(out)
		of[i].n = float64(pixels)
		some := rowsAtATime(mid)
		h := view{grow(&s.a, some*mid), mid}
		for from := 0; from < pixels; from += some {
			rows := min(some, pixels-from)
			for c := 0; c < mid; c += slice {
				w := min(slice, mid-c)
				normalise(h.from(c), sliced(k.d[i], pixels, c, w).rows(from), line(rows), n.scale[c:c+w], n.bias[c:c+w], b.norm2.lo, b.norm2.hi)
			}
			s.product(p.rows(from), h, rows, b.mid, k.narrow, out, false)
			if r.train {
				s.addTo(of[i], from, 0, out, p.rows(from), rows)
			}
		}
	})
	r.drop(k.d)
	k.norm3 = r.norms(b.norm3, of)
	one := constant(out, 1)
	r.each(false, func(s *scratch, i int, c *chunk) {
		pixels, n := len(c.images)*b.outPixels, k.norm3[c.group]
		y, p := view{r.t.pool.get(pixels * out), out}, view{k.p[i], out}
		k.y[i] = y.v
		if b.shortcut && b.expand != "" {
			combine(y, p, view{x[i], out}, line(pixels), n.scale, one, n.bias)
		} else {
			normalise(y, p, line(pixels), n.scale, n.bias, b.norm3.lo, b.norm3.hi)
		}
	})
	r.drop(k.p)
	if b.expand == "" {
		if b.shortcut {
			mean = b.addStem(r, k)
		}
		r.drop(r.stem.c)
	}
	r.drop(x)
	return k.y, b.means(r, mean)
}

// addStem adds the stem's normalised maps and returns their means by group.
func (b *block) addStem(r *Run, k *blockRun) [][]float64 {
	c := padded(b.in)
	one, none := constant(c, 1), make([]float32, c)
	of := make([]*moments, len(r.chunks))
	r.each(false, func(s *scratch, i int, ch *chunk) {
		pixels, n := len(ch.images)*b.pixels, k.norm1[ch.group]
		of[i] = newMoments(c)
		of[i].n = float64(pixels)
		some := rowsAtATime(c)
		h := view{grow(&s.a, some*c), c}
		for from := 0; from < pixels; from += some {
			rows, y := min(some, pixels-from), view{k.y[i], c}.rows(from)
			normalise(h, view{r.stem.c[i], c}.rows(from), line(rows), n.scale, n.bias, b.norm1.lo, b.norm1.hi)
			combine(y, y, h, line(rows), one, one, none)
			s.addTo(of[i], from, 0, c, h, rows)
		}
	})
	list := make([][]float64, len(r.groups))
	for g := range list {
		list[g] = r.merged(g, of, c).mean
	}
	return list
}

func constant(n int, v float32) []float32 {
	list := make([]float32, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// means returns the means of the block's maps by group, which follow from BatchNorm in training.
func (b *block) means(r *Run, of [][]float64) [][]float64 {
	list := make([][]float64, len(r.groups))
	for g := range list {
		list[g] = make([]float64, padded(b.out))
		for c, v := range r.values[b.norm3.name+".bias"] {
			list[g][c] = float64(v)
			if b.shortcut {
				list[g][c] += of[g][c]
			}
		}
	}
	return list
}

// widen returns the statistics of the widened maps.
func (b *block) widen(r *Run, k *blockRun) []*normed {
	if !r.train {
		return r.norms(b.norm1, nil)
	}
	in, mid := padded(b.in), padded(b.mid)
	parts := make([][]float32, len(r.chunks))
	one := constant(in, 1)
	r.each(false, func(s *scratch, i int, c *chunk) {
		parts[i] = r.t.pool.zeros(in * in)
		minus := make([]float32, in)
		for j, v := range k.mean[c.group] {
			minus[j] = float32(-v)
		}
		pixels, some := len(c.images)*b.pixels, rowsAtATime(in)
		h := view{grow(&s.a, some*in), in}
		for from := 0; from < pixels; from += some {
			n := min(some, pixels-from)
			normalise(h, view{k.x[i], in}.rows(from), line(n), one, minus, b.norm3.lo, b.norm3.hi)
			outer(view{parts[i], in}, h, in, h, in, n)
		}
	})
	list := make([]*normed, len(r.groups))
	k.spread = make([][]float32, len(r.groups))
	r.t.parallel(len(r.groups), func(s *scratch, g int) {
		n, cov := 0, make([]float32, in*in)
		for _, i := range r.groups[g].chunks {
			n += len(r.chunks[i].images) * b.pixels
			add(cov, 1, parts[i])
		}
		for j := range cov {
			cov[j] /= float32(n)
		}
		spread := make([]float32, mid*in)
		s.product(view{spread, in}, view{k.rows, in}, mid, b.in, panels(cov, in, 1, b.in, b.in), in, false)
		mean, variance := make([]float64, mid), make([]float64, mid)
		dot.Against(mean, k.rows, dot.NewVector(k.mean[g]))
		for e := range b.mid {
			variance[e] = max(inner(k.rows[e*in:(e+1)*in], spread[e*in:]), 0)
		}
		list[g] = r.normWith(b.norm1, float64(n), mean, variance)
		if r.groups[g].grad {
			k.spread[g] = spread
		}
	})
	r.t.pool.put(parts...)
	r.running(b.norm1, list)
	return list
}

// widened sets planes, one for every image, to a slice of w channels from c on of what the
// depthwise convolution reads of some images from one on. It returns what that was before
// BatchNorm, if all.
func (b *block) widened(r *Run, k *blockRun, s *scratch, planes []float32, i, c, w, from, images int, all bool) view {
	m, n, in := &b.windows.in, k.norm1[r.chunks[i].group], padded(b.in)
	pixels := images * b.pixels
	some := pixels // at a time, whole rows and whole tiles of products
	var raw view
	if b.expand == "" {
		raw = view{r.stem.c[i], padded(b.mid)}.rows(from * b.pixels).from(c)
	} else {
		some = min(some, m.w*dot.TileRows*max(1, 64/m.w))
		room := some
		if all {
			room = pixels
		}
		raw = view{grow(&s.a, room*w), w}
	}
	for p := 0; p < pixels; p += some {
		count, x := min(some, pixels-p), raw
		if all || b.expand == "" {
			x = raw.rows(p)
		}
		if b.expand != "" {
			s.product(x, view{k.x[i], in}.rows(from*b.pixels+p), count, b.in, k.wide[c*b.in:], w, false)
		}
		for q := 0; q < count; {
			image, row := (p+q)/b.pixels, (p+q)%b.pixels/m.w
			rows := min((count-q)/m.w, m.h-row)
			normalise(m.from(planes, image, row), x.rows(q), area{rows, m.w, m.width}, n.scale[c:c+w], n.bias[c:c+w], b.norm1.lo, b.norm1.hi)
			q += rows * m.w
		}
	}
	return raw
}

// convolve computes the depthwise convolution's maps of a chunk.
func (b *block) convolve(r *Run, k *blockRun, s *scratch, i int, ch *chunk, of *moments) {
	mid, some, m := padded(b.mid), min(b.imagesAtATime(), len(ch.images)), &b.windows.in
	planes := grow(&s.b, some*m.size())
	clear(planes)
	for from := 0; from < len(ch.images); from += some {
		images := min(some, len(ch.images)-from)
		for c := 0; c < mid; c += slice {
			w := min(slice, mid-c)
			b.widened(r, k, s, planes, i, c, w, from, images, false)
			d := sliced(k.d[i], len(ch.images)*b.outPixels, c, w).rows(from * b.outPixels)
			for j := range images {
				b.windows.forth.weigh(d.rows(j*b.outPixels), planes[j*m.size():], k.taps[c:], w)
			}
			if r.train {
				s.addTo(of, from*b.outPixels, c, w, d, images*b.outPixels)
			}
		}
	}
}
