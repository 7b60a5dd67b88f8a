package direct

import (
	"math"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// average sets maps of one place to the means of some places of the images' channels.
func (w *Worker) average(l *layer) {
	x, y, stride, pixels := w.maps[l.in.slot], w.maps[l.slot], rows(l.c)*cols, l.in.h*l.in.w
	clear(y[:blocks(w.images)*stride])
	sums := grow(&w.sums, 8*l.c)
	for i := range w.images {
		clear(sums)
		first := i*pixels + l.from
		for p, end := first, first+l.count; p < end; {
			from := p % cols
			n := min(cols-from, end-p)
			block := x[p/cols*stride : p/cols*stride+l.c*cols]
			if n == cols {
				sumRows(sums, block)
			} else {
				for c := range l.c {
					for _, v := range block[c*cols+from : c*cols+from+n] {
						sums[8*c] += v
					}
				}
			}
			p += n
		}
		for c := range l.c {
			s := sums[8*c : 8*c+8]
			y[i/cols*stride+c*cols+i%cols] = (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))) / float32(l.count)
		}
	}
	l.end(y[:blocks(w.images)*stride])
}

// respond computes the norms of channels, divided by their mean.
func (w *Worker) respond(l *layer) {
	x, y, stride, pixels := w.maps[l.in.slot], w.maps[l.slot], rows(l.c)*cols, l.in.h*l.in.w
	clear(y[:blocks(w.images)*stride])
	line, norms := grow(&w.row, pixels), make([]float64, l.c)
	for i := range w.images {
		mean := 0.0
		for c := range norms {
			w.read(line, x[c*cols:], stride, i*pixels)
			norms[c] = math.Sqrt(dot.Square(line))
			mean += norms[c] / float64(l.c)
		}
		for c, v := range norms {
			y[i/cols*stride+c*cols+i%cols] = float32(v / (mean + float64(l.eps)))
		}
	}
	l.end(y[:blocks(w.images)*stride])
}

// across is LayerNorm.
func (w *Worker) across(l *layer) {
	x, y, stride := w.maps[l.in.slot], w.maps[l.slot], rows(l.c)*cols
	n := blocks(w.images * l.h * l.w)
	for b := range n {
		block := y[b*stride : (b+1)*stride]
		clear(block[l.c*cols:])
		normaliseRows(block[:l.c*cols], x[b*stride:][:l.c*cols], l.scale, l.bias, l.eps)
	}
	l.end(y[:n*stride])
}

// product multiplies two maps, of which the second ones may have one pixel.
func (w *Worker) product(l *layer) {
	x, z, y, stride, pixels := w.maps[l.in.slot], w.maps[l.plus.slot], w.maps[l.slot], rows(l.c)*cols, l.h*l.w
	n := blocks(w.images * pixels)
	if l.plus.h*l.plus.w == pixels {
		times(y[:n*stride], x, z)
		l.end(y[:n*stride])
		return
	}
	for b := range n {
		from, to := x[b*stride:(b+1)*stride], y[b*stride:(b+1)*stride]
		for p := b * cols; p < (b+1)*cols; {
			i := min(p/pixels, w.images-1) // what fills up the last block is the last image's
			end := (b + 1) * cols
			if i < w.images-1 {
				end = min(end, (i+1)*pixels)
			}
			factors := z[i/cols*stride+i%cols:]
			for r := 0; r < stride; r += cols {
				f := factors[r]
				some := to[r+p%cols : r+p%cols+end-p]
				for j, v := range from[r+p%cols:][:len(some)] {
					some[j] = v * f
				}
			}
			p = end
		}
	}
	l.end(y[:n*stride])
}

// join puts the channels of maps one after the other.
func (w *Worker) join(l *layer) {
	y, stride, n := w.maps[l.slot], rows(l.c)*cols, blocks(w.images*l.h*l.w)
	at := 0
	for _, part := range l.inputs() {
		x, apart, length := w.maps[part.slot], rows(part.c)*cols, part.c*cols
		for b := range n {
			copy(y[b*stride+at:], x[b*apart:b*apart+length])
		}
		at += length
	}
	for b := range n {
		clear(y[b*stride+at : (b+1)*stride])
	}
	l.end(y[:n*stride])
}

// lead puts constant places in front.
func (w *Worker) lead(l *layer) {
	x, y, stride, n := w.maps[l.in.slot], w.maps[l.slot], rows(l.c)*cols, l.in.h*l.in.w
	line := grow(&w.row, l.h)
	front := l.h - n
	for c := range l.c {
		for p := range front {
			line[p] = l.weight[p*l.c+c]
		}
		for i := range w.images {
			w.read(line[front:], x[c*cols:], stride, i*n)
			w.write(y[c*cols:], stride, i*l.h, line)
		}
	}
	l.end(y[:blocks(w.images*l.h)*stride])
}

// place adds a constant to every place.
func (w *Worker) place(l *layer) {
	x, y, stride, n := w.maps[l.in.slot], w.maps[l.slot], rows(l.c)*cols, l.h*l.w
	line := grow(&w.row, n)
	for c := range l.c {
		for i := range w.images {
			w.read(line, x[c*cols:], stride, i*n)
			for p := range line {
				line[p] += l.weight[p*l.c+c]
			}
			w.write(y[c*cols:], stride, i*n, line)
		}
	}
	l.end(y[:blocks(w.images*n)*stride])
}

// reorder takes places in another order.
func (w *Worker) reorder(l *layer) {
	x, y, stride, n, m := w.maps[l.in.slot], w.maps[l.slot], rows(l.c)*cols, l.in.h*l.in.w, len(l.order)
	both := grow(&w.row, n+m)
	from, to := both[:n], both[n:]
	for c := range l.c {
		for i := range w.images {
			w.read(from, x[c*cols:], stride, i*n)
			for p, o := range l.order {
				to[p] = from[o]
			}
			w.write(y[c*cols:], stride, i*m, to)
		}
	}
	l.end(y[:blocks(w.images*m)*stride])
}
