package direct

import (
	"math"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// attend is attention, image by image, window by window, head by head and for the queries of a block:
// scores are rows of keys whose columns are queries, so that a softmax is one of columns, and outputs are
// columns of a block.
func (w *Worker) attend(l *layer) {
	h := l.heads
	n, m := l.h/h.Windows, l.more[0].h*l.more[0].w/h.Windows
	y, stride := w.maps[l.slot], rows(l.c)*cols
	for b := range blocks(w.images * l.h) {
		clear(y[b*stride+l.c*cols : (b+1)*stride])
	}
	dim, keys := rows(h.Dim), rows(m)
	queries := grow(&w.heads[0], blocks(n)*h.Dim*cols)
	strips := grow(&w.heads[1], keys*h.Dim) // of 8 keys, channel by channel
	values := grow(&w.heads[2], dim*keys)   // strips of 8 channels, key by key
	scores := grow(&w.columns, keys*cols)
	line := grow(&w.row, max(n, m))
	var tile [dot.TileRows * cols]float32
	var inverse [cols]float32
	for i := range w.images * h.Windows {
		for g := range h.Count {
			clear(queries)
			clear(strips)
			clear(values)
			w.channels(l.in, h.Queries.From+g*h.Queries.Apart, h.Dim, i, line[:n], func(j int) {
				for p, v := range line[:n] {
					queries[(p/cols*h.Dim+j)*cols+p%cols] = v * h.Scale
				}
			})
			w.channels(l.more[0], h.Keys.From+g*h.Keys.Apart, h.Dim, i, line[:m], func(j int) {
				for p := 0; p < m; p += dot.TileRows {
					copy(strips[p*h.Dim+j*dot.TileRows:][:dot.TileRows], line[p:m])
				}
			})
			w.channels(l.more[1], h.Values.From+g*h.Values.Apart, h.Dim, i, line[:m], func(j int) {
				strip := values[j/dot.TileRows*dot.TileRows*keys+j%dot.TileRows:]
				for p, v := range line[:m] {
					strip[p*dot.TileRows] = v
				}
			})
			for b := range blocks(n) {
				some := queries[b*h.Dim*cols : (b+1)*h.Dim*cols]
				for k := 0; k < keys; k += dot.TileRows {
					dot.Tile(scores[k*cols:], cols, strips[k*h.Dim:(k+dot.TileRows)*h.Dim], some, h.Dim)
				}
				if h.Bias != nil {
					addLimited(scores[:m*cols], h.biases(i%h.Windows, g, b, n, m), float32(math.Inf(-1)), float32(math.Inf(1)))
				}
				softmaxRows(scores[:m*cols], &inverse)
				clear(scores[m*cols:])
				for c := 0; c < h.Dim; c += dot.TileRows {
					dot.Tile(tile[:], cols, values[c*keys:(c+dot.TileRows)*keys], scores, keys)
					for r := range min(dot.TileRows, h.Dim-c) {
						row := tile[r*cols : (r+1)*cols]
						times(row, row, inverse[:])
						w.write(y[(g*h.Dim+c+r)*cols:], stride, i*n+b*cols, row[:min(cols, n-b*cols)])
					}
				}
			}
		}
	}
	l.end(y[:blocks(w.images*l.h)*stride])
}

// channels reads some channels of a window of an image, counted from the first image's first, one after
// the other, into a line for do.
func (w *Worker) channels(l *layer, from, count, window int, line []float32, do func(j int)) {
	x, stride := w.maps[l.slot], rows(l.c)*cols
	for j := range count {
		w.read(line, x[(from+j)*cols:], stride, window*len(line))
		do(j)
	}
}

// packBias lays a bias out as scores are: for a window, a head and a block of queries, rows of
// keys.
func (h *Heads) packBias(n, m int) {
	if h.Bias == nil {
		return
	}
	packed := make([]float32, len(h.Bias)/n*blocks(n)*cols)
	for i, v := range h.Bias {
		at, q, k := i/(n*m), i/m%n, i%m
		packed[((at*blocks(n)+q/cols)*m+k)*cols+q%cols] = v
	}
	h.Bias = packed
}

// biases are those of a window, a head and a block.
func (h *Heads) biases(window, head, block, n, m int) []float32 {
	one := blocks(n) * m * cols
	if len(h.Bias) == h.Count*one {
		window = 0
	}
	return h.Bias[(window*h.Count+head)*one+block*m*cols:][:m*cols]
}
