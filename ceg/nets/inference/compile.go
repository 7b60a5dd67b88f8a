package inference

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/dot"
	"github.com/ledg-go/ledg/ceg/nets"
)

// ErrGraph is the error of a backbone with a layer that needs a graph.
var ErrGraph = errors.New("a layer of it is a graph function")

// Network is a compiled backbone with its weights.
type Network struct {
	size     int
	pooling  config.Pooling
	features int
	layers   []*layer
	last     *layer
	// pixels [3][256] are what the bytes of red, green and blue are normalised to.
	pixels [3][256]float32
	// slots are the sizes, in values for each image, of the buffers that layers share.
	slots []int
}

type kind uint8

const (
	input kind = iota
	convolution
	depthwise
	maximum
	pointwise // y = x*scale + bias
)

// layer is one step: of maps, with what follows it in place.
type layer struct {
	kind    kind
	in      *layer
	c, h, w int
	// kernel, stride and the padding before both axes.
	kernel, stride, top, left int

	// weight is packed for the kind; before that it is PyTorch's.
	weight []float32
	// scale, bias are for each channel, filled up to whole tiles.
	scale, bias []float32
	// plus is added. The output is clipped to [lo, hi].
	plus   *layer
	lo, hi float32
	// index is the layer's place, and uses counts the layers that read this one, and into is
	// the layer that computes it as well, while the network is compiled.
	index, uses int
	into        *layer
	// slot is the buffer of the output, and until the last layer that reads it.
	slot, until int
}

func (l *layer) inputs() []*layer {
	return slices.DeleteFunc([]*layer{l.in, l.plus}, func(x *layer) bool { return x == nil })
}

func (l *layer) Dims() (c, h, w int) { return l.c, l.h, l.w }

// rows returns the channels of a block, filled up to whole tiles.
func rows(c int) int { return (c + dot.TileRows - 1) / dot.TileRows * dot.TileRows }

// New compiles backbone b for square images of side size, with the values of its parameters by
// name (see [nets.Params]); other values are ignored. A missing or misshapen parameter is an
// error, and so are images that are too small; a layer that needs a graph is [ErrGraph].
func New(b nets.Backbone, values map[string][]float32, size int) (n *Network, err error) {
	params, _, err := nets.Params(b, size)
	if err != nil {
		return nil, err
	}
	for _, p := range params {
		if v, ok := values[p.Name]; !ok {
			return nil, fmt.Errorf("network %s: no parameter %q", b.Name, p.Name)
		} else if len(v) != p.Size() {
			return nil, fmt.Errorf("network %s: parameter %q has %d values, want %v", b.Name, p.Name, len(v), p.Shape)
		}
	}
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(error)
			if !ok {
				panic(r)
			}
			n, err = nil, fmt.Errorf("network %s: %w", b.Name, e)
		}
	}()
	c := &compiler{size: size, values: values, eps: b.Norm.OrDefault().Eps}
	images := c.add(&layer{kind: input, c: 3, h: size, w: size})
	return c.network(b.Layers(c, images), b.Pooling, b.Pixels), nil
}

func resolve(l *layer) *layer {
	for l != nil && l.into != nil {
		l = l.into
	}
	return l
}

// fuse makes layers compute what follows them and nothing else reads.
func (b *compiler) fuse() {
	for _, l := range b.layers {
		if x := resolve(l.in); l.kind == pointwise && l.in.uses == 1 && x.takes(l) {
			if l.scale != nil {
				x.multiply(l.scale, l.bias)
			}
			if l.plus != nil {
				x.plus = l.plus
			}
			x.lo, x.hi, l.into = l.lo, l.hi, x
		}
	}
}

// takes reports whether a layer can compute a pointwise one that follows it.
func (l *layer) takes(next *layer) bool {
	sums := l.kind == convolution || l.kind == depthwise || l.kind == pointwise
	switch {
	case l.kind == input || l.limited():
		return false
	case next.scale != nil && (!sums || l.plus != nil):
		return false
	}
	return next.plus == nil || sums && l.plus == nil && resolve(next.plus).index < l.index
}

// limited reports whether the output is clipped.
func (l *layer) limited() bool {
	return !math.IsInf(float64(l.lo), -1) || !math.IsInf(float64(l.hi), 1)
}

// multiply makes the output of l, without a limit, be y*scale + bias.
func (l *layer) multiply(scale, bias []float32) {
	switch {
	case l.kind == pointwise && l.scale == nil:
		l.scale, l.bias = slices.Clone(scale), slices.Clone(bias)
		return
	case l.kind == pointwise:
		for i, s := range scale {
			l.scale[i] *= s
		}
	default:
		n := len(l.weight) / l.c
		for i := range l.weight {
			l.weight[i] *= scale[i/n]
		}
	}
	for i := range l.bias {
		l.bias[i] = l.bias[i]*scale[i] + bias[i]
	}
}

// pack lays out the weights for the loops.
func (l *layer) pack() {
	if l.bias != nil {
		l.bias = append(l.bias, make([]float32, rows(l.c)-l.c)...)
	}
	if l.kind == pointwise && l.scale != nil {
		l.scale = append(l.scale, make([]float32, rows(l.c)-l.c)...)
	}
	if l.kind != convolution {
		return
	}
	// Strips of TileRows outputs, input by input; 1x1 kernels read the filled-up channels of a
	// block, others their taps channel by channel.
	k, from := l.depth(), l.in.c*l.kernel*l.kernel
	packed := make([]float32, rows(l.c)*k)
	for o := range l.c {
		strip := packed[o/dot.TileRows*dot.TileRows*k:]
		for i, v := range l.weight[o*from : (o+1)*from] {
			strip[i*dot.TileRows+o%dot.TileRows] = v
		}
	}
	l.weight = packed
}

// plain reports whether a convolution reads every pixel of all channels by itself.
func (l *layer) plain() bool { return l.kernel == 1 && l.stride == 1 }

// depth returns the number of values that an output of a convolution sums over.
func (l *layer) depth() int {
	if l.plain() {
		return rows(l.in.c)
	}
	return l.in.c * l.kernel * l.kernel
}

// place gives every layer a buffer that is free while its output is needed.
func (n *Network) place() {
	for i, l := range n.layers {
		for _, x := range l.inputs() {
			x.until = i
		}
	}
	n.last.until = len(n.layers)
	var busy []int // the layer until which a slot is in use
	for i, l := range n.layers {
		need := rows(l.c) * l.h * l.w
		best := -1
		for s, until := range busy {
			if until < i && (best < 0 || abs(n.slots[s]-need) < abs(n.slots[best]-need)) {
				best = s
			}
		}
		if best < 0 {
			best = len(n.slots)
			n.slots, busy = append(n.slots, 0), append(busy, 0)
		}
		l.slot, busy[best] = best, l.until
		n.slots[best] = max(n.slots[best], need)
	}
}

func abs(a int) int { return max(a, -a) }
