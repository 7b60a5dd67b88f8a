package direct

// head is the last 1x1 convolution, whose maps are averaged.
type head struct {
	name    string
	norm    *batchNorm
	in, out int
	pixels  int // of a map
}

func newHead(c *op, n *batchNorm) *head {
	return &head{name: c.name, norm: n, in: c.in.c, out: c.c, pixels: c.h * c.w}
}

// headRun are the maps that the head reads, which are the last block's, and makes, before
// BatchNorm.
type headRun struct {
	x, c maps
	norm []*normed
}

func (m *head) forward(r *Run, x maps) {
	in, out := padded(m.in), padded(m.out)
	w := panels(r.values[m.name+".weight"], 1, m.in, m.in, m.out)
	r.head.x, r.head.c = x, r.maps()
	of := make([]*moments, len(r.chunks))
	r.each(false, func(s *scratch, i int, c *chunk) {
		pixels := len(c.images) * m.pixels
		y := view{r.t.pool.get(pixels * out), out}
		r.head.c[i], of[i] = y.v, newMoments(out)
		of[i].n = float64(pixels)
		s.product(y, view{x[i], in}, pixels, m.in, w, out, false)
		if r.train {
			s.addTo(of[i], 0, 0, out, y, pixels)
		}
	})
	r.drop(x)
	r.head.norm = r.norms(m.norm, of)
	r.each(false, func(s *scratch, i int, c *chunk) {
		n, y := r.head.norm[c.group], view{r.head.c[i], out}
		h := view{grow(&s.a, m.pixels*out), out}
		for j, img := range c.images {
			normalise(h, y.rows(j*m.pixels), line(m.pixels), n.scale, n.bias, m.norm.lo, m.norm.hi)
			f := r.Features[img.pass][img.at*m.out:][:m.out]
			clear(f)
			for p := range m.pixels {
				for k, v := range h.v[p*out:][:m.out] {
					f[k] += v
				}
			}
			for k := range f {
				f[k] /= float32(m.pixels)
			}
		}
	})
	r.drop(r.head.c)
}

// backward returns the gradients of the maps that the head reads.
func (m *head) backward(r *back, adjoints [][]float32) maps {
	in, out := padded(m.in), padded(m.out)
	w := panels(r.values[m.name+".weight"], m.in, 1, m.out, m.in)
	dc, of := r.maps(), make([]*sums, len(r.chunks))
	r.each(true, func(s *scratch, i int, c *chunk) {
		d := view{r.t.pool.zeros(len(c.images) * m.pixels * out), out}
		dc[i], of[i] = d.v, newSums(out)
		for j, img := range c.images {
			if adjoints[img.pass] == nil {
				continue
			}
			f := adjoints[img.pass][img.at*m.out:][:m.out]
			for p := range m.pixels {
				for k, v := range f {
					d.v[(j*m.pixels+p)*out+k] = v / float32(m.pixels)
				}
			}
		}
		s.gate(of[i], m.norm, r.head.norm[c.group], 0, out, d, view{r.head.c[i], out}, len(c.images)*m.pixels)
	})
	slopes := r.slopes(m.norm, r.head.norm, of)
	dx, grads := r.maps(), r.maps()
	r.each(true, func(s *scratch, i int, c *chunk) {
		pixels := len(c.images) * m.pixels
		d, sl := view{dc[i], out}, slopes[c.group]
		combine(d, d, view{r.head.c[i], out}, line(pixels), sl.a, sl.b, sl.c)
		dx[i], grads[i] = r.t.pool.get(pixels*in), r.t.pool.zeros(out*in)
		s.product(view{dx[i], in}, d, pixels, m.out, w, in, false)
		outer(view{grads[i], in}, d, out, view{r.head.x[i], in}, in, pixels)
	})
	r.t.pool.put(dc...)
	r.grads[m.name+".weight"] = unpad(r.sum(grads, out*in), in, m.out, m.in)
	return dx
}

// unpad returns the first columns and rows of a matrix whose rows are stride apart.
func unpad(m []float32, stride, rows, columns int) []float32 {
	out := make([]float32, 0, rows*columns)
	for i := range rows {
		out = append(out, m[i*stride:i*stride+columns]...)
	}
	return out
}
