package direct

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
)

// rotation says which two channels of a place are added up, times which numbers.
type rotation struct {
	channels [2][]int
	// factors are the numbers for each channel and, side by side, each place; the first places come again, so that
	// there is a whole row of a block from every place on.
	factors [2][]float32
	// given are the numbers as they came.
	given [2][]float32
}

// Rotate is the sum of two channels of every place, each times numbers of that place and channel, [places, channels]:
// rotary position embedding, where the two are a pair (Su et al. 2021, equation 34).
func (b *Builder) Rotate(in nets.Maps, channels [2][]int, factors [2][]float32) nets.Maps {
	x := in.(*layer)
	n, places := len(channels[0]), x.h*x.w
	for i, list := range channels {
		if len(list) != n || n == 0 || slices.Min(list) < 0 || slices.Max(list) >= x.c {
			panic(fmt.Errorf("channels out of [0, %d)", x.c))
		}
		want("factors of channels", factors[i], places*n)
	}
	turn := &rotation{channels: channels, given: factors}
	if i := slices.IndexFunc(b.rotations, func(r *rotation) bool { return r.equal(turn) }); i >= 0 { // that of another block
		turn = b.rotations[i]
	} else {
		for i, f := range factors {
			for c := range n {
				for p := range places + cols - 1 {
					turn.factors[i] = append(turn.factors[i], f[p%places*n+c])
				}
			}
		}
		b.rotations = append(b.rotations, turn)
	}
	return b.add(&layer{kind: rotated, in: x, c: n, h: x.h, w: x.w, turn: turn})
}

func (r *rotation) equal(o *rotation) bool {
	for i := range r.channels {
		if !slices.Equal(r.channels[i], o.channels[i]) || !slices.Equal(r.given[i], o.given[i]) {
			return false
		}
	}
	return true
}

// rotate adds up pairs of channels.
func (w *Worker) rotate(l *layer) {
	x, y, apart, stride, places := w.maps[l.in.slot], w.maps[l.slot], rows(l.in.c)*cols, rows(l.c)*cols, l.h*l.w
	n, length := blocks(w.images*places), places+cols-1
	for b := range n {
		from, to := x[b*apart:(b+1)*apart], y[b*stride:(b+1)*stride]
		for c := range l.c {
			at := c*length + b*cols%places
			f, g := l.turn.factors[0][at:at+cols], l.turn.factors[1][at:at+cols]
			u, v := from[l.turn.channels[0][c]*cols:][:cols], from[l.turn.channels[1][c]*cols:][:cols]
			for j := range to[c*cols : (c+1)*cols] {
				to[c*cols+j] = f[j]*u[j] + g[j]*v[j]
			}
		}
		clear(to[l.c*cols:])
	}
	l.end(y[:n*stride])
}
