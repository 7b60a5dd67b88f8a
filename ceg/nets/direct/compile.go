package direct

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/dot"
	"github.com/ledg-go/ledg/ceg/nets"
)

// ErrGraph is the error of a backbone with a layer that only a graph can compute.
var ErrGraph = errors.New("a layer of it is a graph function")

// Network is a backbone with its values, ready to compute.
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

// kind says what a layer computes.
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
	// plus is added, and the sum limited to [lo, hi].
	plus   *layer
	lo, hi float32

	name string
	// index is the layer's place, and uses counts the layers that read this one, and into is
	// the layer that computes it as well, while the network is compiled.
	index, uses int
	into        *layer
	// slot is the buffer of the output, and until the last layer that reads it.
	slot, until int
}

// Dims implements nets.Maps.
func (l *layer) Dims() (c, h, w int) { return l.c, l.h, l.w }

// rows returns the channels of a block, filled up to whole tiles.
func rows(c int) int { return (c + dot.TileRows - 1) / dot.TileRows * dot.TileRows }

// New compiles backbone b for square images of a size, with the values of its parameters
// by name (see [nets.Params]); others are ignored. It returns an error if a parameter is missing
// or misshapen, or the images are too small, and one that is [ErrGraph] if a layer is a graph function.
func New(b nets.Backbone, values map[string][]float32, size int) (n *Network, err error) {
	params, features, err := nets.Params(b, size)
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
	c := &compiler{values: values, eps: b.Norm.OrDefault().Eps}
	first := c.add(&layer{kind: input, c: 3, h: size, w: size})
	last := b.Layers(c, first).(*layer)
	last.uses++
	c.fuse()
	n = &Network{size: size, pooling: b.Pooling, features: features, last: resolve(last)}
	if b.Pooling == nets.NoPool {
		n.features = last.c * last.h * last.w
	}
	for _, l := range c.layers {
		if l.into == nil {
			l.in, l.plus = resolve(l.in), resolve(l.plus)
			l.pack()
			n.layers = append(n.layers, l)
		}
	}
	n.place()
	p := b.Pixels.OrDefault()
	for c := range 3 {
		scale, shift := float32(1/(255*p.Std[c])), float32(-p.Mean[c]/p.Std[c])
		for v := range 256 {
			n.pixels[c][v] = float32(v)*scale + shift
		}
	}
	return n, nil
}

// resolve returns the layer that computes l.
func resolve(l *layer) *layer {
	for l != nil && l.into != nil {
		l = l.into
	}
	return l
}

// compiler implements nets.Ops by writing down layers.
type compiler struct {
	layers []*layer
	values map[string][]float32
	eps    float64
}

func (c *compiler) add(l *layer) *layer {
	if l.hi == 0 {
		l.lo, l.hi = float32(math.Inf(-1)), float32(math.Inf(1))
	}
	for _, x := range []*layer{l.in, l.plus} {
		if x != nil {
			x.uses++
		}
	}
	l.index = len(c.layers)
	c.layers = append(c.layers, l)
	return l
}

// windowed returns a layer with a window over x.
func windowed(k kind, x *layer, out, kernel, stride, padding int) *layer {
	top, _ := nets.Padding(x.h, kernel, stride, padding)
	left, _ := nets.Padding(x.w, kernel, stride, padding)
	return &layer{kind: k, in: x, c: out, h: nets.OutSize(x.h, kernel, stride, padding), w: nets.OutSize(x.w, kernel, stride, padding),
		kernel: kernel, stride: stride, top: top, left: left}
}

// Conv implements nets.Ops.
func (c *compiler) Conv(in nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	l := windowed(convolution, in.(*layer), out, kernel, stride, padding)
	l.name, l.weight = name, slices.Clone(c.values[name+".weight"])
	if bias {
		l.bias = slices.Clone(c.values[name+".bias"])
	} else {
		l.bias = make([]float32, out)
	}
	return c.add(l)
}

// Depthwise implements nets.Ops.
func (c *compiler) Depthwise(in nets.Maps, name string, kernel, stride, padding int) nets.Maps {
	x := in.(*layer)
	l := windowed(depthwise, x, x.c, kernel, stride, padding)
	l.name, l.weight, l.bias = name, slices.Clone(c.values[name+".weight"]), make([]float32, x.c)
	return c.add(l)
}

// BatchNorm implements nets.Ops, with the running statistics.
func (c *compiler) BatchNorm(in nets.Maps, name string) nets.Maps {
	x := in.(*layer)
	l := &layer{kind: pointwise, in: x, c: x.c, h: x.h, w: x.w, scale: make([]float32, x.c), bias: make([]float32, x.c)}
	v := func(part string) []float32 { return c.values[name+part] }
	for i := range l.scale {
		s := float64(v(".weight")[i]) / math.Sqrt(float64(v(".running_var")[i])+c.eps)
		l.scale[i], l.bias[i] = float32(s), float32(float64(v(".bias")[i])-float64(v(".running_mean")[i])*s)
	}
	return c.add(l)
}

// ReLU implements nets.Ops.
func (c *compiler) ReLU(in nets.Maps) nets.Maps { return c.limit(in, math.Inf(1)) }

// ReLU6 implements nets.Ops.
func (c *compiler) ReLU6(in nets.Maps) nets.Maps { return c.limit(in, 6) }

func (c *compiler) limit(in nets.Maps, hi float64) nets.Maps {
	x := in.(*layer)
	return c.add(&layer{kind: pointwise, in: x, c: x.c, h: x.h, w: x.w, hi: float32(hi)})
}

// MaxPool implements nets.Ops.
func (c *compiler) MaxPool(in nets.Maps, kernel, stride, padding int) nets.Maps {
	x := in.(*layer)
	return c.add(windowed(maximum, x, x.c, kernel, stride, padding))
}

// Add implements nets.Ops.
func (c *compiler) Add(a, b nets.Maps) nets.Maps {
	x, y := a.(*layer), b.(*layer)
	if x.c != y.c || x.h != y.h || x.w != y.w {
		panic(fmt.Errorf("cannot add maps [%d, %d, %d] and [%d, %d, %d]", x.c, x.h, x.w, y.c, y.h, y.w))
	}
	if x.index < y.index {
		x, y = y, x // what comes later can add what was there before
	}
	return c.add(&layer{kind: pointwise, in: x, plus: y, c: x.c, h: x.h, w: x.w})
}

// Apply implements nets.Ops: it cannot.
func (c *compiler) Apply(nets.Maps, int, int, int, func(*graph.Node) *graph.Node) nets.Maps {
	panic(ErrGraph)
}

// fuse makes layers compute what follows them and nothing else reads.
func (c *compiler) fuse() {
	for _, l := range c.layers {
		if l.kind != pointwise {
			continue
		}
		x := resolve(l.in)
		limited := x.lo == 0
		if l.in.uses != 1 || x.kind == input || limited || l.scale != nil && (x.plus != nil || x.kind == maximum) ||
			l.plus != nil && (x.plus != nil || x.kind == maximum || resolve(l.plus).index > x.index) {
			continue
		}
		if l.scale != nil {
			x.multiply(l.scale, l.bias)
		}
		if l.plus != nil {
			x.plus = l.plus
		}
		x.lo, x.hi, l.into = l.lo, l.hi, x
	}
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
	if l.kind != convolution {
		return
	}
	// Strips of TileRows outputs, input by input; 1x1 kernels read the filled-up
	// channels of a block, others their taps channel by channel.
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

// plain reports whether a convolution reads every pixel by itself.
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
		for _, x := range []*layer{l.in, l.plus} {
			if x != nil {
				x.until = i
			}
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
