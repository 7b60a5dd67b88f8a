package direct

import "slices"

// span is a run of places along one axis of a map, at, at+step, ..., n of them, that read
// the same taps of a kernel: tap[i] of the first at source coordinate src[i], which moves
// on by move.
type span struct {
	at, step, n int
	tap, src    []int
	move        int
}

// spans divides places of an axis, which read taps as reads says, into spans.
func spans(places, step, move int, reads func(place int) (tap, src []int)) []span {
	var list []span
	for first := range min(step, places) {
		for p := first; p < places; p += step {
			tap, src := reads(p)
			if n := len(list) - 1; n >= 0 && p > first && slices.Equal(list[n].tap, tap) {
				list[n].n++
				continue
			}
			list = append(list, span{p, step, 1, tap, src, move})
		}
	}
	return list
}

// forwardSpans are those of a convolution's output, of so many places.
func forwardSpans(in, out, kernel, stride, before int) []span {
	return spans(out, 1, stride, func(o int) (tap, src []int) {
		for k := range kernel {
			if i := o*stride + k - before; i >= 0 && i < in {
				tap, src = append(tap, k), append(src, i)
			}
		}
		return tap, src
	})
}

// backwardSpans are those of the gradient of its input, which reads that of its output.
func backwardSpans(in, out, kernel, stride, before int) []span {
	return spans(in, stride, 1, func(i int) (tap, src []int) {
		for k := range kernel {
			if o := i + before - k; o >= 0 && o%stride == 0 && o/stride < out {
				tap, src = append(tap, k), append(src, o/stride)
			}
		}
		return tap, src
	})
}

// grid are the spans of both axes of a depthwise convolution, forwards or backwards.
type grid struct {
	rows, cols []span
	kernel     int
	// from and to are the widths of the maps that are read and written.
	from, to int
}

// each calls do for every run of pixels that read the same taps: of maps whose pixels are
// step apart from dst on, reading others that are stride apart, with weights [kernel*kernel,
// channels]. Its arguments are as weigh takes them.
func (g *grid) each(t *taps, step, stride, channels int, do func(to, step, move int, n int)) {
	for _, y := range g.rows {
		for r := range y.n {
			for _, x := range g.cols {
				t.at, t.weight = t.at[:0], t.weight[:0]
				for i, ky := range y.tap {
					for j, kx := range x.tap {
						t.at = append(t.at, ((y.src[i]+r*y.move)*g.from+x.src[j])*stride)
						t.weight = append(t.weight, (ky*g.kernel+kx)*channels)
					}
				}
				do(((y.at+r*y.step)*g.to+x.at)*step, x.step*step, x.move*stride, x.n)
			}
		}
	}
}
