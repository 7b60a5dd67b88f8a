package direct

import (
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
)

// Builder makes networks of layers whose numbers are at hand: those that [nets.Ops] has, in
// evaluation, and others. Its methods take maps that it made, and panic on shapes that do not fit.
type Builder struct {
	size      int
	layers    []*layer
	rotations []*rotation
}

// NewBuilder returns a builder of networks of square images of a size.
func NewBuilder(size int) *Builder {
	b := &Builder{size: size}
	b.add(&layer{kind: input, c: 3, h: size, w: size})
	return b
}

// Images are what a network begins with, normalised: red, green and blue.
func (b *Builder) Images() nets.Maps { return b.layers[0] }

func (b *Builder) add(l *layer) *layer {
	if l.lo == 0 && l.hi == 0 {
		l.lo, l.hi = float32(math.Inf(-1)), float32(math.Inf(1))
	}
	for _, x := range l.inputs() {
		x.uses++
	}
	l.index = len(b.layers)
	b.layers = append(b.layers, l)
	return l
}

// like returns a layer of maps as large as x.
func like(k kind, x *layer) *layer { return &layer{kind: k, in: x, c: x.c, h: x.h, w: x.w} }

// want panics unless there are so many numbers.
func want(what string, v []float32, n int) {
	if len(v) != n {
		panic(fmt.Errorf("%s: %d numbers, want %d", what, len(v), n))
	}
}

// windowed returns a layer with a window over x.
func windowed(k kind, x *layer, out, kernel, stride, padding int) *layer {
	top, _ := nets.Padding(x.h, kernel, stride, padding)
	left, _ := nets.Padding(x.w, kernel, stride, padding)
	return &layer{kind: k, in: x, c: out, h: nets.OutSize(x.h, kernel, stride, padding), w: nets.OutSize(x.w, kernel, stride, padding),
		kernel: kernel, stride: stride, top: top, left: left}
}

// Conv is a cross-correlation with zero padding, which may be [nets.Same], and weights
// [out, channels/groups, kernel, kernel]: outputs of a group read the channels of that group. The
// bias is [out], or nil.
func (b *Builder) Conv(in nets.Maps, weight, bias []float32, out, kernel, stride, padding, groups int) nets.Maps {
	x := in.(*layer)
	if groups < 1 || x.c%groups != 0 || out%groups != 0 {
		panic(fmt.Errorf("%d groups of %d channels to %d", groups, x.c, out))
	}
	want("weights of a convolution", weight, out*x.c/groups*kernel*kernel)
	l := windowed(convolution, x, out, kernel, stride, padding)
	if l.groups = groups; groups == x.c && out == x.c && groups > 1 {
		l.kind = depthwise
	}
	l.weight, l.bias = slices.Clone(weight), make([]float32, out)
	if bias != nil {
		want("bias of a convolution", bias, out)
		copy(l.bias, bias)
	}
	return b.add(l)
}

// BatchNorm normalises every channel with statistics that are known, each [channels].
func (b *Builder) BatchNorm(x nets.Maps, weight, bias, mean, variance []float32, eps float64) nets.Maps {
	scale, shift := make([]float32, len(weight)), make([]float32, len(weight))
	for i := range scale {
		s := float64(weight[i]) / math.Sqrt(float64(variance[i])+eps)
		scale[i], shift[i] = float32(s), float32(float64(bias[i])-float64(mean[i])*s)
	}
	return b.Affine(x, scale, shift)
}

// Affine is x*scale + bias, each [channels].
func (b *Builder) Affine(in nets.Maps, scale, bias []float32) nets.Maps {
	x := in.(*layer)
	want("scales", scale, x.c)
	want("biases", bias, x.c)
	l := like(pointwise, x)
	l.scale, l.bias = slices.Clone(scale), slices.Clone(bias)
	return b.add(l)
}

// LayerNorm normalises the channels of every pixel by their own mean and variance (Ba et al. 2016): eps is
// added to the variance; weight and bias are [channels].
func (b *Builder) LayerNorm(in nets.Maps, weight, bias []float32, eps float32) nets.Maps {
	x := in.(*layer)
	want("weights of LayerNorm", weight, x.c)
	want("biases of LayerNorm", bias, x.c)
	l := like(across, x)
	l.scale, l.bias, l.eps = slices.Clone(weight), slices.Clone(bias), eps
	return b.add(l)
}

// Clip is min(max(x, lo), hi).
func (b *Builder) Clip(x nets.Maps, lo, hi float32) nets.Maps {
	l := like(pointwise, x.(*layer))
	l.lo, l.hi = lo, hi
	return b.add(l)
}

// Activate applies an activation to every value.
func (b *Builder) Activate(x nets.Maps, c Activation) nets.Maps {
	l := like(pointwise, x.(*layer))
	l.curve = &c
	return b.add(l)
}

// MaxPool takes the maximum of square windows. Padding counts as minus infinity.
func (b *Builder) MaxPool(in nets.Maps, kernel, stride, padding int) nets.Maps {
	x := in.(*layer)
	return b.add(windowed(maximum, x, x.c, kernel, stride, padding))
}

// Mean is that of each channel of an image, maps of one place.
func (b *Builder) Mean(in nets.Maps) nets.Maps {
	_, h, w := in.Dims()
	return b.MeanOf(in, 0, h*w)
}

// MeanOf is the mean over some places, in reading order, from one on; of one place, that place.
func (b *Builder) MeanOf(in nets.Maps, from, count int) nets.Maps {
	x := in.(*layer)
	if from < 0 || count < 1 || from+count > x.h*x.w {
		panic(fmt.Errorf("%d places from place %d on, of %d", count, from, x.h*x.w))
	}
	return b.add(&layer{kind: average, in: x, c: x.c, h: 1, w: 1, from: from, count: count})
}

// Responses are the L2 norms of the channels over all places of an image, divided by their mean over the channels, to
// which eps is added: maps of one place (global response normalisation, Woo et al. 2023, equations 1 and 2).
func (b *Builder) Responses(in nets.Maps, eps float32) nets.Maps {
	x := in.(*layer)
	return b.add(&layer{kind: responses, in: x, c: x.c, h: 1, w: 1, eps: eps})
}

// Prepend puts places in front of those of maps, which become maps of one column, as a transformer's
// tokens: the same for all images, numbers [places, channels].
func (b *Builder) Prepend(in nets.Maps, places []float32) nets.Maps {
	x := in.(*layer)
	if len(places) == 0 || len(places)%x.c != 0 {
		panic(fmt.Errorf("%d numbers of places of %d channels", len(places), x.c))
	}
	return b.add(&layer{kind: led, in: x, c: x.c, h: len(places)/x.c + x.h*x.w, w: 1, weight: slices.Clone(places)})
}

// AddConstant adds numbers [places, channels] to the maps of every image.
func (b *Builder) AddConstant(in nets.Maps, numbers []float32) nets.Maps {
	x := in.(*layer)
	want("numbers of places", numbers, x.h*x.w*x.c)
	l := like(placed, x)
	l.weight = slices.Clone(numbers)
	return b.add(l)
}

// Reorder is some places of maps, in reading order, as maps of one column. A place may be there
// more than once.
func (b *Builder) Reorder(in nets.Maps, order []int) nets.Maps {
	x := in.(*layer)
	if len(order) == 0 || slices.Min(order) < 0 || slices.Max(order) >= x.h*x.w {
		panic(fmt.Errorf("places out of [0, %d)", x.h*x.w))
	}
	return b.add(&layer{kind: reordered, in: x, c: x.c, h: len(order), w: 1, order: slices.Clone(order)})
}

// Heads say which channels of queries, keys and values attention takes: Dim for each of Count heads,
// those of head i from From + i*Apart on. Inner products are multiplied with Scale.
type Heads struct {
	Count, Dim            int
	Queries, Keys, Values struct{ From, Apart int }
	Scale                 float32
	// Windows are so many equal parts, one after the other, of the places, with attention in each of them
	// by itself; 0 means 1.
	Windows int
	// Bias is added to what Scale has been multiplied with, [1 or Windows, Count, queries, keys]; nil for none.
	Bias []float32
}

// Attention is softmax(Scale * queries * keys + Bias) * values over the places of every image (Vaswani et al.
// 2017, equation 1; with windows and a bias Liu et al. 2021, equation 4), by heads whose outputs lie one after
// the other: [Count*Dim, places, 1].
func (b *Builder) Attention(queries, keys, values nets.Maps, h Heads) nets.Maps {
	q, k, v := queries.(*layer), keys.(*layer), values.(*layer)
	for _, of := range []struct {
		x           *layer
		from, apart int
	}{{q, h.Queries.From, h.Queries.Apart}, {k, h.Keys.From, h.Keys.Apart}, {v, h.Values.From, h.Values.Apart}} {
		if h.Count < 1 || h.Dim < 1 || of.from < 0 || of.apart < 0 || of.from+(h.Count-1)*of.apart+h.Dim > of.x.c {
			panic(fmt.Errorf("%d heads of %d channels, %d apart from channel %d on, of %d", h.Count, h.Dim, of.apart, of.from, of.x.c))
		}
	}
	n, m := q.h*q.w, k.h*k.w
	if m != v.h*v.w {
		panic(fmt.Errorf("%d keys and %d values", m, v.h*v.w))
	}
	h.Windows = max(h.Windows, 1)
	if n%h.Windows != 0 || m%h.Windows != 0 {
		panic(fmt.Errorf("%d windows of %d queries and %d keys", h.Windows, n, m))
	}
	if one := h.Count * (n / h.Windows) * (m / h.Windows); h.Bias != nil && len(h.Bias) != one && len(h.Bias) != h.Windows*one {
		panic(fmt.Errorf("a bias of %d numbers, want %d or %d", len(h.Bias), one, h.Windows*one))
	}
	return b.add(&layer{kind: attention, in: q, more: []*layer{k, v}, c: h.Count * h.Dim, h: q.h * q.w, w: 1, heads: &h})
}

// Add adds two maps of as many channels and places.
func (b *Builder) Add(v, u nets.Maps) nets.Maps {
	x, y := v.(*layer), u.(*layer)
	if x.c != y.c || x.h*x.w != y.h*y.w {
		panic(fmt.Errorf("cannot add maps [%d, %d, %d] and [%d, %d, %d]", x.c, x.h, x.w, y.c, y.h, y.w))
	}
	if x.index < y.index {
		x, y = y, x // what comes later can add what was there before
	}
	l := like(pointwise, x)
	l.plus = y
	return b.add(l)
}

// Mul multiplies two maps of as many channels and places, or every place with maps of one place.
func (b *Builder) Mul(v, u nets.Maps) nets.Maps {
	x, y := v.(*layer), u.(*layer)
	if x.h*x.w == 1 {
		x, y = y, x
	}
	if x.c != y.c || x.h*x.w != y.h*y.w && y.h*y.w != 1 {
		panic(fmt.Errorf("cannot multiply maps [%d, %d, %d] and [%d, %d, %d]", x.c, x.h, x.w, y.c, y.h, y.w))
	}
	l := like(product, x)
	l.plus = y
	return b.add(l)
}

// Concat is the channels of maps of as many places, one after the other.
func (b *Builder) Concat(list ...nets.Maps) nets.Maps {
	l := like(joined, list[0].(*layer))
	for _, v := range list[1:] {
		x := v.(*layer)
		if x.h*x.w != l.h*l.w {
			panic(fmt.Errorf("cannot join maps [%d, %d, %d] and [%d, %d, %d]", l.c, l.h, l.w, x.c, x.h, x.w))
		}
		l.more, l.c = append(l.more, x), l.c+x.c
	}
	return b.add(l)
}

// Network compiles what leads to the last maps, of which features are made by pooling, for images
// whose pixels are normalised as p says. The builder is of no use afterwards.
func (b *Builder) Network(last nets.Maps, pooling config.Pooling, p nets.Pixels) *Network {
	end := last.(*layer)
	end.uses++
	for _, l := range slices.Backward(b.layers) {
		if l.uses == 0 {
			for _, x := range l.inputs() {
				x.uses--
			}
		}
	}
	b.layers = slices.DeleteFunc(b.layers, func(l *layer) bool { return l.uses == 0 })
	b.fuse()
	n := &Network{size: b.size, pooling: pooling, features: end.c, last: resolve(end)}
	if pooling == nets.NoPool || pooling == config.FlattenPool {
		n.features *= end.h * end.w
	}
	for _, l := range b.layers {
		if l.into == nil {
			l.in, l.plus = resolve(l.in), resolve(l.plus)
			for i, x := range l.more {
				l.more[i] = resolve(x)
			}
			l.pack()
			n.layers = append(n.layers, l)
		}
	}
	n.place()
	p = p.OrDefault()
	for c := range 3 {
		scale, shift := float32(1/(255*p.Std[c])), float32(-p.Mean[c]/p.Std[c])
		for v := range 256 {
			n.pixels[c][v] = float32(v)*scale + shift
		}
	}
	return n
}

// Features is the length of a feature vector.
func (n *Network) Features() int { return n.features }

// Memory is how many values of maps a worker keeps.
func (n *Network) Memory() int {
	sum := 0
	for _, s := range n.buffers() {
		sum += s
	}
	return sum
}
