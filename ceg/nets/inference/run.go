package inference

import (
	"fmt"
	"math"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/dot"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets/registers"
)

// together is the number of images that one core computes at a time: few, so that their
// maps stay in its cache, but more than one, since the weights of the last layers are
// larger than those.
const together = 4

// cols is the number of pixels of a block.
const cols = dot.TileCols

// Worker computes features on one goroutine and reuses its buffers. It is not safe for
// concurrent use.
type Worker struct {
	n *Network
	// maps are the buffers of the network's slots.
	maps [][]float32
	// planes are maps with borders, columns the taps of some blocks.
	planes, columns []float32
	row             []float32
	images          int
}

// Worker returns a new worker.
func (n *Network) Worker() *Worker {
	sizes := make([]int, len(n.slots))
	for _, l := range n.layers {
		sizes[l.slot] = max(sizes[l.slot], blocks(l.h*l.w*together)*rows(l.c)*cols)
	}
	w := &Worker{n: n}
	for _, s := range sizes {
		w.maps = append(w.maps, make([]float32, s))
	}
	return w
}

// Features sets dst [n, features] to the features of n images, RGB bytes [n, size, size, 3]. It
// panics if the lengths do not match.
func (w *Worker) Features(dst []float32, images []byte) {
	one := w.n.size * w.n.size * 3
	count := len(images) / one
	if len(images)%one != 0 || len(dst) != count*w.n.features {
		panic(fmt.Sprintf("inference: %d bytes of images of %d, %d features of %d", len(images), one, len(dst), w.n.features))
	}
	for from := 0; from < count; from += together {
		to := min(from+together, count)
		w.run(dst[from*w.n.features:to*w.n.features], images[from*one:to*one], to-from)
	}
}

// blocks returns the number of blocks for a number of pixels.
func blocks(pixels int) int { return (pixels + cols - 1) / cols }

// grow returns a slice of n values whose first ones may be anything.
func grow(s *[]float32, n int) []float32 {
	if cap(*s) < n {
		*s = make([]float32, n)
	}
	return (*s)[:n]
}

// run computes the features of some images.
func (w *Worker) run(dst []float32, images []byte, count int) {
	w.images = count
	for _, l := range w.n.layers {
		switch l.kind {
		case input:
			w.input(l, images)
		case convolution:
			w.convolve(l)
		case depthwise:
			w.depthwise(l)
		case maximum:
			w.maximum(l)
		case pointwise:
			w.pointwise(l)
		}
	}
	w.pool(dst)
	registers.ClearUpper()
}

func (w *Worker) input(l *layer, images []byte) {
	x, stride := w.maps[l.slot], rows(l.c)*cols
	for p := range len(images) / 3 {
		block := x[p/cols*stride+p%cols:]
		for c := range 3 {
			block[c*cols] = w.n.pixels[c][images[3*p+c]]
		}
	}
	for b := range blocks(len(images) / 3) { // what fills up the channels must be numbers
		clear(x[b*stride+3*cols : (b+1)*stride])
	}
}

// pool makes features of the last maps, or of NoPool the maps [h, w, channels].
func (w *Worker) pool(dst []float32) {
	l := w.n.last
	x, stride, pixels := w.maps[l.slot], rows(l.c)*cols, l.h*l.w
	line := grow(&w.row, pixels)
	for i := range w.images {
		for c := range l.c {
			w.read(line, x[c*cols:], stride, i*pixels)
			switch w.n.pooling {
			case config.FlattenPool:
				copy(dst[i*w.n.features+c*pixels:], line)
				continue
			case nets.NoPool:
				for p, v := range line {
					dst[i*w.n.features+p*l.c+c] = v
				}
				continue
			}
			sum := 0.0 // of up to thousands of values
			for _, v := range line {
				sum += float64(v)
			}
			dst[i*w.n.features+c] = float32(sum / float64(pixels))
		}
	}
}

// read copies len(dst) pixels from pixel p on of a channel, whose blocks are stride
// apart from x on.
func (w *Worker) read(dst, x []float32, stride, p int) {
	for len(dst) > 0 {
		j := p % cols
		n := copy(dst, x[p/cols*stride+j:p/cols*stride+cols])
		dst, p = dst[n:], p+n
	}
}

// write is the inverse of read.
func (w *Worker) write(x []float32, stride, p int, src []float32) {
	for len(src) > 0 {
		j := p % cols
		n := copy(x[p/cols*stride+j:p/cols*stride+cols], src)
		src, p = src[n:], p+n
	}
}

func (w *Worker) convolve(l *layer) {
	x, y := w.maps[l.in.slot], w.maps[l.slot]
	k, out := l.depth(), rows(l.c)
	total := blocks(w.images * l.h * l.w)
	// So many blocks at a time stay in the cache while the weights pass by.
	const cache = 256 << 10 // in values of 4 bytes, a part of it
	at := min(max(1, cache/4/(k*cols)), total)
	var t *taps
	if !l.plain() {
		t = w.taps(l)
	}
	var plus []float32
	if l.plus != nil {
		plus = w.maps[l.plus.slot]
	}
	for b0 := 0; b0 < total; b0 += at {
		b1 := min(b0+at, total)
		var in []float32
		if t == nil {
			in = x[b0*k*cols:]
		} else {
			in = grow(&w.columns, at*k*cols+slack)
			for b := b0; b < b1; b++ {
				t.find(b)
				t.gather(in[(b-b0)*k*cols:])
			}
		}
		for o := 0; o < out; o += dot.TileRows {
			strip := l.weight[o*k : (o+dot.TileRows)*k]
			for b := b0; b < b1; b++ {
				tile := y[(b*out+o)*cols : (b*out+o+dot.TileRows)*cols]
				dot.Tile(tile, cols, strip, in[(b-b0)*k*cols:(b-b0+1)*k*cols], k)
				if plus != nil {
					finishPlus(tile, plus[(b*out+o)*cols:(b*out+o+dot.TileRows)*cols], l.bias[o:o+dot.TileRows], l.lo, l.hi)
				} else {
					finish(tile, l.bias[o:o+dot.TileRows], l.lo, l.hi)
				}
			}
		}
	}
}

// plane is the geometry of one channel of one image with its border.
type plane struct{ stride, size int }

func (l *layer) plane() plane {
	stride := max(l.in.w+l.left, (l.w-1)*l.stride+l.kernel)
	height := max(l.in.h+l.top, (l.h-1)*l.stride+l.kernel)
	return plane{stride, stride * height}
}

// unroll writes a channel of an image, from pixel p on, into a plane whose border has
// been set.
func (w *Worker) unroll(l *layer, p plane, dst, channel []float32, stride, pixel int) {
	for y := range l.in.h {
		w.read(dst[(y+l.top)*p.stride+l.left:][:l.in.w], channel, stride, pixel+y*l.in.w)
	}
}

func (w *Worker) depthwise(l *layer) {
	p, x, y, stride := l.plane(), w.maps[l.in.slot], w.maps[l.slot], rows(l.c)*cols
	n := l.kernel * l.kernel
	offsets := make([]int, n)
	for k := range offsets {
		offsets[k] = k/l.kernel*p.stride + k%l.kernel
	}
	// Outputs are computed for whole rows of planes: at a stride, for every row that
	// counts, and else for all at once.
	length := vectors((l.h-1)*p.stride + l.w)
	if l.stride > 1 {
		length = vectors((l.w-1)*l.stride + 1)
	}
	src := grow(&w.planes, p.size+length+offsets[n-1])
	clear(src)
	line := grow(&w.row, length+vectors(l.w))
	lo, hi := l.lo, l.hi
	if l.plus != nil { // the sum is limited
		lo, hi = float32(math.Inf(-1)), float32(math.Inf(1))
	}
	for c := range l.c {
		weight := l.weight[c*n : (c+1)*n]
		for i := range w.images {
			w.unroll(l, p, src, x[c*cols:], stride, i*l.in.h*l.in.w)
			to := i * l.h * l.w
			if l.stride == 1 {
				correlate(line[:length], src, offsets, weight, l.bias[c], lo, hi)
				for r := range l.h {
					w.write(y[c*cols:], stride, to+r*l.w, line[r*p.stride:][:l.w])
				}
				continue
			}
			for r := range l.h {
				correlate(line[:length], src[r*l.stride*p.stride:], offsets, weight, l.bias[c], lo, hi)
				some := line[length : length+vectors(l.w)]
				for j := range l.w {
					some[j] = line[j*l.stride]
				}
				w.write(y[c*cols:], stride, to+r*l.w, some[:l.w])
			}
		}
	}
	if l.plus != nil {
		addLimited(y[:blocks(w.images*l.h*l.w)*stride], w.maps[l.plus.slot], l.lo, l.hi)
	}
}

// maximum is max-pooling, and the limit after it.
func (w *Worker) maximum(l *layer) {
	p, x, y, stride := l.plane(), w.maps[l.in.slot], w.maps[l.slot], rows(l.c)*cols
	src, line := grow(&w.planes, p.size), grow(&w.row, l.w)
	for i := range src {
		src[i] = lowest
	}
	for c := range l.c {
		for i := range w.images {
			w.unroll(l, p, src, x[c*cols:], stride, i*l.in.h*l.in.w)
			for r := range l.h {
				for j := range line {
					v := float32(lowest)
					for ky := range l.kernel {
						for _, u := range src[(r*l.stride+ky)*p.stride+j*l.stride:][:l.kernel] {
							v = max(v, u)
						}
					}
					line[j] = min(max(v, l.lo), l.hi)
				}
				w.write(y[c*cols:], stride, (i*l.h+r)*l.w, line)
			}
		}
	}
}

// lowest is below every activation.
const lowest = -3e38

// pointwise computes y = limit(x*scale + bias + plus).
func (w *Worker) pointwise(l *layer) {
	c, n := rows(l.c)*cols, blocks(w.images*l.h*l.w)
	x, y := w.maps[l.in.slot][:n*c], w.maps[l.slot][:n*c]
	if l.scale == nil {
		copy(y, x)
	} else {
		for b := range n {
			scaleRows(y[b*c:(b+1)*c], x[b*c:(b+1)*c], l.scale, l.bias)
		}
	}
	if l.plus != nil {
		addLimited(y, w.maps[l.plus.slot], l.lo, l.hi)
	} else if l.limited() {
		limit(y, l.lo, l.hi)
	}
}

// vectors rounds a number of values up to whole vectors of any kernel.
func vectors(n int) int { return (n + 15) / 16 * 16 }
