package direct

// stem is the convolution of the images.
type stem struct {
	name           string
	norm           *batchNorm
	out, h, w      int // what it makes
	kernel, stride int
	top, left      int
	size           int // of the images
}

func newStem(c *op, n *batchNorm) *stem {
	return &stem{name: c.name, norm: n, out: c.c, h: c.h, w: c.w, kernel: c.kernel, stride: c.stride, top: c.top, left: c.left, size: c.in.h}
}

// stemRun are the maps of the stem, before BatchNorm.
type stemRun struct {
	c    maps
	norm []*normed
}

// rowsAtATime is the number of pixels whose values fit into a cache together.
func rowsAtATime(values int) int { return min(max((64<<10)/values/8*8, 32), 512) }

// depth is the number of values that an output sums over.
func (m *stem) depth() int { return m.kernel * m.kernel * 3 }

// taps sets dst [n, padded depth] to what n pixels of a chunk from one on see of the images:
// row by row of the kernel, each three channels.
func (m *stem) taps(r *Run, c *chunk, dst []float32, from, n int) {
	k, size := padded(m.depth()), m.size
	clear(dst[:n*k])
	for p := range n {
		pixel := from + p
		img := c.images[pixel/(m.h*m.w)]
		x := r.passes[img.pass].Images[img.at*size*size*3:][:size*size*3]
		top, left := pixel/m.w%m.h*m.stride-m.top, pixel%m.w*m.stride-m.left
		first, last := max(0, -left), min(m.kernel, size-left)
		for ky := range m.kernel {
			if y := top + ky; y >= 0 && y < size && first < last {
				copy(dst[p*k+(ky*m.kernel+first)*3:], x[(y*size+left+first)*3:(y*size+left+last)*3])
			}
		}
	}
}

// weights are the weights in the order of the taps, [depth, out].
func (m *stem) weights(w []float32) []float32 {
	k, area := m.depth(), m.kernel*m.kernel
	ordered := make([]float32, len(w))
	for o := range m.out {
		for i := range k {
			ordered[i*m.out+o] = w[o*k+i%3*area+i/3]
		}
	}
	return ordered
}

func (m *stem) forward(r *Run) {
	k, out := m.depth(), padded(m.out)
	w := panels(m.weights(r.values[m.name+".weight"]), m.out, 1, k, m.out)
	r.stem.c = r.maps()
	of := make([]*moments, len(r.chunks))
	r.each(false, func(s *scratch, i int, c *chunk) {
		pixels := len(c.images) * m.h * m.w
		r.stem.c[i] = r.t.pool.get(pixels * out)
		of[i] = newMoments(out)
		y := view{r.stem.c[i], out}
		const some = 256
		in := grow(&s.a, some*padded(k))
		for from := 0; from < pixels; from += some {
			n := min(some, pixels-from)
			m.taps(r, c, in, from, n)
			s.product(y.rows(from), view{in, padded(k)}, n, k, w, out, false)
			if r.train {
				s.addTo(of[i], from, 0, out, y.rows(from), n)
			}
		}
		of[i].n = float64(pixels)
	})
	r.stem.norm = r.norms(m.norm, of)
}

// backward takes what block.backward gives for the stem: the gradients of its clipped maps have
// become gradients of the normalised maps, and slope continues.
func (m *stem) backward(r *back, dy maps) {
	k, out := padded(m.depth()), padded(m.out)
	grads := make([][]float32, len(r.chunks))
	r.each(true, func(s *scratch, i int, c *chunk) {
		pixels := len(c.images) * m.h * m.w
		grads[i] = r.t.pool.zeros(out * k)
		slope := r.stemSlopes[c.group]
		const some = 256
		in, d := grow(&s.a, some*k), grow(&s.b, some*out)
		for from := 0; from < pixels; from += some {
			n := min(some, pixels-from)
			m.taps(r.Run, c, in, from, n)
			combine(view{d, out}, view{dy[i], out}.rows(from), view{r.stem.c[i], out}.rows(from), line(n), slope.a, slope.b, slope.c)
			outer(view{grads[i], k}, view{d, out}, out, view{in, k}, k, n)
		}
	})
	total := r.sum(grads, out*k)
	w := make([]float32, m.out*m.depth())
	area := m.kernel * m.kernel
	for o := range m.out {
		for j := range m.depth() {
			w[o*m.depth()+j%3*area+j/3] = total[o*k+j]
		}
	}
	r.grads[m.name+".weight"] = w
}

// sum adds up what chunks have computed, in their order, and frees it.
func (r *back) sum(parts [][]float32, n int) []float32 {
	total := make([]float32, n)
	const some = 1 << 14
	r.t.parallel((n+some-1)/some, func(_ *scratch, j int) {
		to := total[j*some : min((j+1)*some, n)]
		for _, p := range parts {
			if p != nil {
				add(to, 1, p[j*some:][:len(to)])
			}
		}
	})
	r.t.pool.put(parts...)
	return total
}
