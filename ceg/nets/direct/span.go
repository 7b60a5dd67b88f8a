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

// grid are the runs of pixels of a depthwise convolution that read the same taps, forwards or
// backwards. Those of a run are step apart, and what they read moves on by move.
type grid struct {
	step, move int
	// wide are for values that are 32 apart, narrow for 16.
	wide, narrow []gridRun
}

// gridRun are n pixels of the maps that are written, from one on, and what they read: taps
// of a plane of values from src on.
type gridRun struct {
	to, src, n int
	taps       *taps
}

// newGrid crosses the spans of both axes of a square kernel, whose weights are
// [kernel*kernel, channels]; from and to are the widths of the maps that are read and written.
func newGrid(rows, cols []span, kernel, from, to, channels int) grid {
	runs := func(stride int) (list []gridRun) {
		for _, y := range rows {
			var some []*taps
			for _, x := range cols {
				t := new(taps)
				for i, ky := range y.tap {
					for j, kx := range x.tap {
						t.at = append(t.at, (y.src[i]*from+x.src[j])*stride)
						t.weight = append(t.weight, (ky*kernel+kx)*channels)
					}
				}
				some = append(some, t)
			}
			for r := range y.n {
				for i, x := range cols {
					list = append(list, gridRun{(y.at+r*y.step)*to + x.at, r * y.move * from * stride, x.n, some[i]})
				}
			}
		}
		return list
	}
	return grid{cols[0].step, cols[0].move, runs(slice), runs(slice / 2)}
}

// runs are those for values that are a number apart.
func (g *grid) runs(stride int) []gridRun {
	if stride == slice {
		return g.wide
	}
	return g.narrow
}

// weigh is a depthwise convolution of a slice of w channels of an image: of x, the slice
// alone, to y.
func (g *grid) weigh(y view, x, weights []float32, w int) {
	for _, r := range g.runs(w) {
		weigh(y.v[r.to*y.stride:], g.step*y.stride, x[r.src:], g.move*w, *r.taps, weights, r.n, w)
	}
}

// unweigh adds the gradients of its weights, of those of y, which is the slice alone, too.
func (g *grid) unweigh(y, x, weights []float32, w int) {
	for _, r := range g.runs(w) {
		unweigh(y[r.to*w:], g.step*w, x[r.src:], g.move*w, *r.taps, weights, r.n, w)
	}
}
