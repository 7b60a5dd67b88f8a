package inference

// taps are what the windows of a convolution see, in planes with zeros around the maps.
type taps struct {
	l     *layer
	plane plane
	// all are the planes, channel by channel of an image.
	all    []float32
	pixels int // of the output, of all images
	runs   []run
}

// run are pixels of a block, from one on, whose first taps lie stride apart from a place in the planes on.
type run struct{ at, n, from int }

// slack is how many values past the last one may be read and written.
const slack = 8

// taps lays the input of a convolution out in planes.
func (w *Worker) taps(l *layer) *taps {
	p, x, stride, pixels := l.plane(), w.maps[l.in.slot], rows(l.in.c)*cols, l.in.h*l.in.w
	all := grow(&w.planes, w.images*l.in.c*p.size+slack)
	clear(all)
	for i := range w.images {
		for c := range l.in.c {
			w.unroll(l, p, all[(i*l.in.c+c)*p.size:], x[c*cols:], stride, i*pixels)
		}
	}
	return &taps{l: l, plane: p, all: all, pixels: w.images * l.h * l.w}
}

// find sets the runs of a block. Where it has no more pixels, they are the last one's.
func (t *taps) find(block int) {
	l := t.l
	t.runs = t.runs[:0]
	for at := 0; at < cols; {
		p := min(block*cols+at, t.pixels-1)
		i, y, x := p/(l.h*l.w), p/l.w%l.h, p%l.w
		n := min(l.w-x, cols-at)
		t.runs = append(t.runs, run{at, n, i*l.in.c*t.plane.size + y*l.stride*t.plane.stride + x*l.stride})
		at += n
	}
}

// gather sets the rows of dst, one for each tap of every channel, to what the pixels of the
// block see there. It may write past the last one.
func (t *taps) gather(dst []float32) {
	for c := range t.l.in.c {
		for ky := range t.l.kernel {
			for kx := range t.l.kernel {
				src := t.all[c*t.plane.size+ky*t.plane.stride+kx:]
				if t.l.stride == 1 {
					lay(dst, src, t.runs)
				} else {
					for _, r := range t.runs {
						for j := range r.n {
							dst[r.at+j] = src[r.from+j*t.l.stride]
						}
					}
				}
				dst = dst[cols:]
			}
		}
	}
}
