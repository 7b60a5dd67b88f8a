package direct

import "math"

// batchNorm is a BatchNorm layer and the limit after it.
type batchNorm struct {
	name string
	// c is the number of channels.
	c      int
	lo, hi float32
}

// normed are the statistics of a group and what they make of values: x*scale + bias is the
// output and x*inv + off the normalised value. They are filled up with zeros.
type normed struct {
	n                     float64
	mean, variance        []float64
	scale, bias, inv, off []float32
}

// moments are the number, the means and the sums of squared deviations of the values of every
// channel.
type moments struct {
	n        float64
	mean, m2 []float64
}

func newMoments(channels int) *moments {
	return &moments{mean: make([]float64, channels), m2: make([]float64, channels)}
}

// merge adds other values to the moments of the channels from the given one on (Chan, Golub and
// LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", 1979);
// before is the number of values so far.
func (m *moments) merge(before, n float64, from int, mean, m2 []float64) {
	total := before + n
	for c := range mean {
		d := mean[c] - m.mean[from+c]
		m.mean[from+c] += d * n / total
		m.m2[from+c] += m2[c] + d*d*before*n/total
	}
}

// together32 is the number of values that are added up in float32.
const together32 = 256

// addTo adds the channels of some pixels to m, from the given channel on; before is the number of
// values added so far. Sums are of differences from a value of the channel, for accuracy.
func (s *scratch) addTo(m *moments, before, from, channels int, x view, rows int) {
	all := grow(&s.row, 3*channels)
	shift, sum, square := all[:channels], all[channels:2*channels], all[2*channels:]
	var mean, m2 [slice]float64
	for r := 0; r < rows; r += together32 {
		n := min(together32, rows-r)
		x := x.rows(r)
		copy(shift, x.v)
		if before > 0 {
			for c := range shift {
				shift[c] = float32(m.mean[from+c])
			}
		}
		shifted(sum, square, x, n, shift)
		for c := 0; c < channels; c += slice {
			w := min(slice, channels-c)
			for i := range w {
				d := float64(sum[c+i])
				mean[i] = float64(shift[c+i]) + d/float64(n)
				m2[i] = float64(square[c+i]) - d*d/float64(n)
			}
			m.merge(float64(before), float64(n), from+c, mean[:w], m2[:w])
		}
		before += n
	}
}

// merged returns the moments of a group from the moments of its chunks.
func (r *Run) merged(g int, of []*moments, channels int) *moments {
	m := newMoments(channels)
	for _, i := range r.groups[g].chunks {
		m.merge(m.n, of[i].n, 0, of[i].mean, of[i].m2)
		m.n += of[i].n
	}
	return m
}

// still are the running statistics.
func (r *Run) still(b *batchNorm) *normed {
	mean, variance := make([]float64, padded(b.c)), make([]float64, padded(b.c))
	for c := range b.c {
		mean[c], variance[c] = float64(r.values[b.name+".running_mean"][c]), float64(r.values[b.name+".running_var"][c])
	}
	return r.normWith(b, 1, mean, variance)
}

// batch are the statistics of a group.
func (r *Run) batch(b *batchNorm, m *moments) *normed {
	for c := range m.m2 {
		m.m2[c] = math.Max(m.m2[c]/m.n, 0)
	}
	return r.normWith(b, m.n, m.mean, m.m2)
}

// normWith makes statistics of n values of known means and variances.
func (r *Run) normWith(b *batchNorm, n float64, mean, variance []float64) *normed {
	all := padded(b.c)
	s := &normed{n: n, mean: mean, variance: variance}
	for _, v := range []*[]float32{&s.scale, &s.bias, &s.inv, &s.off} {
		*v = make([]float32, all)
	}
	gamma, beta := r.values[b.name+".weight"], r.values[b.name+".bias"]
	for c := range b.c {
		inv := 1 / math.Sqrt(variance[c]+r.t.norm.Eps)
		scale := float64(gamma[c]) * inv
		s.inv[c], s.off[c] = float32(inv), float32(-mean[c]*inv)
		s.scale[c], s.bias[c] = float32(scale), float32(float64(beta[c])-mean[c]*scale)
	}
	return s
}

// norms sets the statistics of a layer: in training of what of gives for a chunk.
func (r *Run) norms(b *batchNorm, of []*moments) []*normed {
	list := make([]*normed, len(r.groups))
	for g := range r.groups {
		switch {
		case r.train:
			list[g] = r.batch(b, r.merged(g, of, padded(b.c)))
		case g == 0:
			list[g] = r.still(b)
		default:
			list[g] = list[0]
		}
	}
	r.running(b, list)
	return list
}

// running updates the running statistics with every group that updates them, in order, each by the
// momentum.
func (r *Run) running(b *batchNorm, list []*normed) {
	if !r.train {
		return
	}
	for _, part := range []string{".running_mean", ".running_var"} {
		out := make([]float32, b.c)
		for c := range out {
			v := float64(r.values[b.name+part][c])
			for g, s := range list {
				if !r.groups[g].update {
					continue
				}
				x := s.mean[c]
				if part == ".running_var" {
					x = s.variance[c] * s.n / math.Max(s.n-1, 1)
				}
				v += r.t.norm.Momentum * (x - v)
			}
			out[c] = float32(v)
		}
		r.Running[b.name+part] = out
	}
}

// sums are the sums over values of the gradients of a layer's output, and of those times the
// normalised values: the gradients of its shift and its scale.
type sums struct{ dy, product []float64 }

func newSums(channels int) *sums {
	return &sums{make([]float64, channels), make([]float64, channels)}
}

// gate adds the sums of some pixels and channels to sum, after it has cleared dy where the
// layer's limit stops gradients; see gateGeneric.
func (s *scratch) gate(sum *sums, b *batchNorm, n *normed, from, channels int, dy, x view, rows int) {
	for i := range s.sums {
		s.sums[i] = grow(&s.sums[i], channels)
	}
	for r := 0; r < rows; r += together32 {
		gate(dy.rows(r), x.rows(r), min(together32, rows-r), n, from, b.lo, b.hi, s.sums[0], s.sums[1])
		for c := range channels {
			sum.dy[from+c] += float64(s.sums[0][c])
			sum.product[from+c] += float64(s.sums[1][c])
		}
	}
}

// slope is the way back through a layer's normalisation: the gradient of its input x is
// dy*a + x*b + c.
type slope struct {
	a, b, c []float32
	// dy and product are the group's sums, over n.
	dy, product []float64
}

// slopes adds the gradients of a layer's parameters, and returns its slope for every group.
func (r *back) slopes(b *batchNorm, of []*normed, chunks []*sums) []*slope {
	all := padded(b.c)
	gamma, beta := make([]float64, all), make([]float64, all)
	list := make([]*slope, len(r.groups))
	for g, group := range r.groups {
		if !group.grad {
			continue
		}
		s := &slope{a: of[g].scale, b: make([]float32, all), c: make([]float32, all), dy: make([]float64, all), product: make([]float64, all)}
		for _, i := range group.chunks {
			for c := range all {
				s.dy[c] += chunks[i].dy[c]
				s.product[c] += chunks[i].product[c]
			}
		}
		for c := range all {
			beta[c] += s.dy[c]
			gamma[c] += s.product[c]
			if r.train {
				s.dy[c] /= of[g].n
				s.product[c] /= of[g].n
				scale, inv := float64(of[g].scale[c]), float64(of[g].inv[c])
				s.b[c] = float32(-scale * s.product[c] * inv)
				s.c[c] = float32(-scale * (s.dy[c] - s.product[c]*of[g].mean[c]*inv))
			}
		}
		list[g] = s
	}
	r.grads[b.name+".weight"], r.grads[b.name+".bias"] = narrow(gamma[:b.c]), narrow(beta[:b.c])
	return list
}

// narrow rounds to float32.
func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}
