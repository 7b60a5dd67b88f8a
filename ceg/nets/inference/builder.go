package inference

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/nets"
)

// compiler collects the layers of a network in evaluation. It implements nets.Ops with the values
// of parameters; its methods take maps that it made, and panic on shapes that do not fit.
type compiler struct {
	size   int
	layers []*layer
	values map[string][]float32
	eps    float64
}

func (b *compiler) add(l *layer) *layer {
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

// windowed returns a layer with a window over x.
func windowed(k kind, x *layer, out, kernel, stride, padding int) *layer {
	top, _ := nets.Padding(x.h, kernel, stride, padding)
	left, _ := nets.Padding(x.w, kernel, stride, padding)
	return &layer{kind: k, in: x, c: out, h: nets.OutSize(x.h, kernel, stride, padding), w: nets.OutSize(x.w, kernel, stride, padding),
		kernel: kernel, stride: stride, top: top, left: left}
}

func (b *compiler) Conv(x nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	l := windowed(convolution, x.(*layer), out, kernel, stride, padding)
	l.weight, l.bias = slices.Clone(b.values[name+".weight"]), make([]float32, out)
	if bias {
		copy(l.bias, b.values[name+".bias"])
	}
	return b.add(l)
}

func (b *compiler) Depthwise(in nets.Maps, name string, kernel, stride, padding int) nets.Maps {
	x := in.(*layer)
	l := windowed(depthwise, x, x.c, kernel, stride, padding)
	l.weight, l.bias = slices.Clone(b.values[name+".weight"]), make([]float32, x.c)
	return b.add(l)
}

// BatchNorm implements nets.Ops, with the running statistics.
func (b *compiler) BatchNorm(x nets.Maps, name string) nets.Maps {
	v := func(part string) []float32 { return b.values[name+part] }
	weight, bias, mean, variance := v(".weight"), v(".bias"), v(".running_mean"), v(".running_var")
	l := like(pointwise, x.(*layer))
	l.scale, l.bias = make([]float32, len(weight)), make([]float32, len(weight))
	for i := range l.scale {
		s := float64(weight[i]) / math.Sqrt(float64(variance[i])+b.eps)
		l.scale[i], l.bias[i] = float32(s), float32(float64(bias[i])-float64(mean[i])*s)
	}
	return b.add(l)
}

func (b *compiler) ReLU(x nets.Maps) nets.Maps { return b.clip(x, 0, float32(math.Inf(1))) }

func (b *compiler) ReLU6(x nets.Maps) nets.Maps { return b.clip(x, 0, 6) }

// clip is min(max(x, lo), hi).
func (b *compiler) clip(x nets.Maps, lo, hi float32) nets.Maps {
	l := like(pointwise, x.(*layer))
	l.lo, l.hi = lo, hi
	return b.add(l)
}

func (b *compiler) MaxPool(in nets.Maps, kernel, stride, padding int) nets.Maps {
	x := in.(*layer)
	return b.add(windowed(maximum, x, x.c, kernel, stride, padding))
}

func (b *compiler) Add(v, u nets.Maps) nets.Maps {
	x, y := v.(*layer), u.(*layer)
	if x.c != y.c || x.h != y.h || x.w != y.w {
		panic(fmt.Errorf("cannot add maps [%d, %d, %d] and [%d, %d, %d]", x.c, x.h, x.w, y.c, y.h, y.w))
	}
	if x.index < y.index {
		x, y = y, x // what comes later can add what was there before
	}
	l := like(pointwise, x)
	l.plus = y
	return b.add(l)
}

// Apply implements nets.Ops: it cannot.
func (b *compiler) Apply(nets.Maps, int, int, int, func(*graph.Node) *graph.Node) nets.Maps {
	panic(ErrGraph)
}

// network compiles the layers up to the last maps, before pooling, for images that are normalised
// by p. The compiler must not be used afterwards.
func (b *compiler) network(last nets.Maps, pooling config.Pooling, p nets.Pixels) *Network {
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
