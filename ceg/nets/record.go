package nets

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// recorder implements Ops by writing layers down: their parameters, the sizes of their maps, and
// how they are played on other Ops.
type recorder struct {
	params []Param
	sizes  MapSizes
	layers []call // the first has the images
}

// call is a layer: a call of one of Ops' methods.
type call struct {
	dims
	// from are the layers that it reads, and play makes its maps of theirs.
	from []int
	play func(o Ops, x []Maps) Maps
	// params is the number of parameters up to its own.
	params int
}

// recorded are the maps of a layer.
type recorded struct {
	dims
	at int
}

type dims struct{ c, h, w int }

func (d dims) Dims() (c, h, w int) { return d.c, d.h, d.w }

func (d dims) size() int { return d.c * d.h * d.w }

// record lets a backbone's layers be written down.
func record(b Backbone, size int) (*recorder, recorded) {
	if b.Vector > 0 {
		size = 1
	}
	r := new(recorder)
	return r, b.Layers(r, r.add(dims{b.In(), size, size}, nil)).(recorded)
}

func (r *recorder) add(d dims, play func(o Ops, x []Maps) Maps, from ...Maps) Maps {
	l := call{dims: d, play: play, params: len(r.params)}
	for _, x := range from {
		l.from = append(l.from, x.(recorded).at)
	}
	r.layers = append(r.layers, l)
	return recorded{d, len(r.layers) - 1}
}

// play computes the maps of layer to on o, from those of layer from.
func (r *recorder) play(o Ops, x Maps, from, to int) Maps {
	maps := map[int]Maps{from: x}
	for at := from + 1; at <= to; at++ {
		var read []Maps
		for _, i := range r.layers[at].from {
			read = append(read, maps[i])
		}
		maps[at] = r.layers[at].play(o, read)
	}
	return maps[to]
}

// window returns the dimensions of what a kernel makes of maps. Those of a convolution count in
// the sizes.
func (r *recorder) window(x Maps, channels, kernel, stride, padding int, conv bool) dims {
	d := x.(recorded).dims
	y := dims{channels, OutSize(d.h, kernel, stride, padding), OutSize(d.w, kernel, stride, padding)}
	if conv {
		r.sizes.Inputs += d.size()
		r.sizes.Largest = max(r.sizes.Largest, d.size(), y.size())
	}
	return y
}

func (r *recorder) Conv(x Maps, name string, out, kernel, stride, padding int, bias bool) Maps {
	c := x.(recorded).c
	w := Param{Name: name + ".weight", Shape: []int{out, c, kernel, kernel}, Kind: ConvWeight,
		FanIn: c * kernel * kernel, FanOut: out * kernel * kernel}
	if bias {
		w.Kind = BiasedConvWeight
		r.params = append(r.params, w, Param{Name: name + ".bias", Shape: []int{out}, Kind: ConvBias, FanIn: w.FanIn})
	} else {
		r.params = append(r.params, w)
	}
	return r.add(r.window(x, out, kernel, stride, padding, true), func(o Ops, x []Maps) Maps {
		return o.Conv(x[0], name, out, kernel, stride, padding, bias)
	}, x)
}

func (r *recorder) Depthwise(x Maps, name string, kernel, stride, padding int) Maps {
	c, n := x.(recorded).c, kernel*kernel
	r.params = append(r.params, Param{Name: name + ".weight", Shape: []int{c, 1, kernel, kernel}, Kind: ConvWeight, FanIn: n, FanOut: n})
	return r.add(r.window(x, c, kernel, stride, padding, true), func(o Ops, x []Maps) Maps {
		return o.Depthwise(x[0], name, kernel, stride, padding)
	}, x)
}

func (r *recorder) BatchNorm(x Maps, name string) Maps {
	d := x.(recorded).dims
	for i, kind := range []Kind{Scale, Shift, RunningMean, RunningVar} {
		part := []string{".weight", ".bias", ".running_mean", ".running_var"}[i]
		r.params = append(r.params, Param{Name: name + part, Shape: []int{d.c}, Kind: kind})
	}
	return r.add(d, func(o Ops, x []Maps) Maps { return o.BatchNorm(x[0], name) }, x)
}

func (r *recorder) ReLU(x Maps) Maps {
	return r.add(x.(recorded).dims, func(o Ops, x []Maps) Maps { return o.ReLU(x[0]) }, x)
}

func (r *recorder) ReLU6(x Maps) Maps {
	return r.add(x.(recorded).dims, func(o Ops, x []Maps) Maps { return o.ReLU6(x[0]) }, x)
}

func (r *recorder) MaxPool(x Maps, kernel, stride, padding int) Maps {
	return r.add(r.window(x, x.(recorded).c, kernel, stride, padding, false), func(o Ops, x []Maps) Maps {
		return o.MaxPool(x[0], kernel, stride, padding)
	}, x)
}

func (r *recorder) Add(x, y Maps) Maps {
	a, b := x.(recorded).dims, y.(recorded).dims
	if a != b {
		panic(fmt.Sprintf("cannot add maps %v and %v", a, b))
	}
	return r.add(a, func(o Ops, x []Maps) Maps { return o.Add(x[0], x[1]) }, x, y)
}

func (r *recorder) Apply(x Maps, channels, h, w int, f func(*graph.Node) *graph.Node) Maps {
	return r.add(dims{channels, h, w}, func(o Ops, x []Maps) Maps { return o.Apply(x[0], channels, h, w, f) }, x)
}
