// Package vector builds backbones on feature vectors (nets.Backbone.Vector) as matrix products,
// on any backend, with GoMLX's automatic differentiation.
//
// A vector is a map of size 1x1, [n, 1, 1, c], so a linear layer is a 1x1 convolution in
// nets.Ops. Other kernel sizes and BatchNorm panic.
package vector

import (
	"fmt"

	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Build adds backbone b to the graph: it passes every pass, [n, 1, 1, b.Vector], through the
// network with the parameters by name (see [nets.Params] for shapes). Training and evaluation
// are the same. It panics if a parameter is missing or misshapen.
func Build(b nets.Backbone, params map[string]*Node, passes []nets.Pass, _ bool) nets.Features {
	v := &vector{params: params, inputs: make([]*Node, len(passes))}
	f := nets.Features{Passes: make([]*Node, len(passes)), Running: map[string]*Node{}}
	for i, p := range passes {
		p.Images.AssertDims(-1, 1, 1, b.Vector)
		x := p.Images
		if p.ImageGrad {
			x = Identity(StopGradient(x)) // a node of the pass's own, at which gradients end
			v.inputs[i] = x
		}
		out := b.Layers(v, &maps{Reshape(x, -1, b.Vector)}).(*maps).x
		if p.NoGrad {
			out = StopGradient(out)
		}
		if p.Maps || b.Pooling == nets.NoPool {
			out = InsertAxes(out, 1, 1)
		}
		f.Passes[i] = out
	}
	f.Pull = nets.Pull(passes, f.Passes, params, v.trained, v.inputs)
	return f
}

// vector implements nets.Ops.
type vector struct {
	params  map[string]*Node
	trained []string
	inputs  []*Node // of the passes whose vectors have gradients
}

// maps are the vectors of some passes, [n, c].
type maps struct{ x *Node }

func (m *maps) Dims() (c, h, w int) { return m.x.Shape().Dimensions[1], 1, 1 }

// Conv implements nets.Ops: with a 1x1 kernel it is a linear layer.
func (v *vector) Conv(in nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	if kernel != 1 || stride != 1 || padding != 0 {
		panic(fmt.Sprintf("conv %s: vectors have no neighbours: want a 1x1 kernel, got %dx%d", name, kernel, kernel))
	}
	x := in.(*maps).x
	c := x.Shape().Dimensions[1]
	y := DotGeneral(x, []int{1}, nil, Reshape(v.param(name+".weight", out, c, 1, 1), out, c), []int{1}, nil)
	if bias {
		y = Add(y, InsertAxes(v.param(name+".bias", out), 0))
	}
	return &maps{y}
}

func (v *vector) param(name string, shape ...int) *Node {
	p, ok := v.params[name]
	if !ok {
		panic(fmt.Sprintf("no parameter %q", name))
	}
	p.AssertDims(shape...)
	for _, n := range v.trained {
		if n == name {
			return p
		}
	}
	v.trained = append(v.trained, name)
	return p
}

func (v *vector) ReLU(in nets.Maps) nets.Maps {
	x := in.(*maps).x
	return &maps{Mul(x, StopGradient(ConvertDType(GreaterThan(x, ScalarZero(x.Graph(), x.DType())), x.DType())))}
}

func (v *vector) ReLU6(in nets.Maps) nets.Maps { panic("ReLU6 of vectors is not built") }

func (v *vector) Add(a, b nets.Maps) nets.Maps { return &maps{Add(a.(*maps).x, b.(*maps).x)} }

// BatchNorm implements nets.Ops: it is not for vectors.
func (v *vector) BatchNorm(_ nets.Maps, name string) nets.Maps {
	panic(fmt.Sprintf("BatchNorm %s of vectors is not built", name))
}

// Depthwise implements nets.Ops: it is not for vectors.
func (v *vector) Depthwise(_ nets.Maps, name string, _, _, _ int) nets.Maps {
	panic(fmt.Sprintf("conv %s: vectors have no neighbours", name))
}

// MaxPool implements nets.Ops: it is not for vectors.
func (v *vector) MaxPool(nets.Maps, int, int, int) nets.Maps { panic("vectors have no neighbours") }

func (v *vector) Apply(in nets.Maps, channels, h, w int, f func(*Node) *Node) nets.Maps {
	x := in.(*maps).x
	y := f(Reshape(x, -1, 1, 1, x.Shape().Dimensions[1]))
	y.AssertDims(x.Shape().Dimensions[0], 1, 1, channels)
	return &maps{Reshape(y, -1, channels)}
}
