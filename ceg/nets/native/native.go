// Package native builds backbones from GoMLX's own convolution and pooling and
// its automatic differentiation: the form that XLA compiles well. It computes
// what package flat computes, within float32 rounding.
package native

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Build adds backbone b to the graph: it sends every pass through the network
// with the given parameters (by name; see [nets.Params] for shapes) in training
// or evaluation mode. It panics when a parameter is missing or misshapen.
func Build(b nets.Backbone, params map[string]*Node, passes []nets.Pass, train bool) nets.Features {
	return build(b, params, passes, train, dtypes.Float32)
}

// BuildBFloat16 is Build with convolutions, and the maps between layers, in
// bfloat16 (8 bits of mantissa): half the memory traffic, and the tensor cores of
// GPUs and TPUs. BatchNorm computes in float32, and so does the pooling at the
// end; parameters, features, running statistics and gradients are float32, and
// the gradients of a parameter that several passes use add up in it. What PyTorch
// calls autocast.
func BuildBFloat16(b nets.Backbone, params map[string]*Node, passes []nets.Pass, train bool) nets.Features {
	return build(b, params, passes, train, dtypes.BFloat16)
}

func build(b nets.Backbone, params map[string]*Node, passes []nets.Pass, train bool, dtype dtypes.DType) nets.Features {
	n := &native{params: params, passes: passes, train: train, dtype: dtype, running: map[string]*Node{}}
	x := &maps{c: 3}
	d := passes[0].Images.Shape().Dimensions
	x.h, x.w = d[1], d[2]
	for _, p := range passes {
		p.Images.AssertDims(-1, x.h, x.w, 3)
		x.at = append(x.at, cast(p.Images, dtype))
	}
	last := b.Layers(n, x).(*maps)
	feats := nets.Features{Running: n.running}
	for i, v := range last.at {
		v = cast(v, dtypes.Float32)
		if b.Pooling == nets.FlattenPool {
			v = Reshape(TransposeAllAxes(v, 0, 3, 1, 2), -1, last.c*last.h*last.w)
		} else {
			v = ReduceMean(v, 1, 2)
		}
		if passes[i].NoGrad {
			v = StopGradient(v)
		}
		feats.Passes = append(feats.Passes, v)
	}
	feats.Pull = func(adjoints []*Node) map[string]*Node { return n.pull(feats.Passes, adjoints) }
	return feats
}

type native struct {
	params  map[string]*Node
	passes  []nets.Pass
	train   bool
	dtype   dtypes.DType // of maps and convolutions
	trained []string     // names of the parameters that a gradient is wanted for
	running map[string]*Node
}

// cast converts x where it has another dtype.
func cast(x *Node, dtype dtypes.DType) *Node {
	if x.DType() == dtype {
		return x
	}
	return ConvertDType(x, dtype)
}

// maps are [images, h, w, c] nodes, one for every pass.
type maps struct {
	c, h, w int
	at      []*Node
}

func (m *maps) Dims() (c, h, w int) { return m.c, m.h, m.w }

func (m *maps) each(c, h, w int, f func(x *Node) *Node) *maps {
	out := &maps{c: c, h: h, w: w}
	for _, x := range m.at {
		out.at = append(out.at, f(x))
	}
	return out
}

// pull is the vector-Jacobian product of the features: the gradient of their
// inner product with the adjoints.
func (n *native) pull(feats, adjoints []*Node) map[string]*Node {
	var inner *Node
	for i, d := range adjoints {
		if d == nil || n.passes[i].NoGrad {
			continue
		}
		v := ReduceAllSum(Mul(feats[i], StopGradient(d)))
		if inner != nil {
			v = Add(inner, v)
		}
		inner = v
	}
	leaves := make([]*Node, len(n.trained))
	for i, name := range n.trained {
		leaves[i] = n.params[name]
	}
	grads := map[string]*Node{}
	for i, g := range Gradient(inner, leaves...) {
		grads[n.trained[i]] = g
	}
	return grads
}

func (n *native) param(name string, trained bool, shape ...int) *Node {
	p, ok := n.params[name]
	if !ok {
		panic(fmt.Sprintf("no parameter %q", name))
	}
	p.AssertDims(shape...)
	if trained {
		n.trained = append(n.trained, name)
	}
	return p
}

// Conv implements nets.Ops.
func (n *native) Conv(in nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	x := in.(*maps)
	w := n.param(name+".weight", true, out, x.c, kernel, kernel)
	var b *Node
	if bias {
		b = n.param(name+".bias", true, out)
	}
	return x.each(out, nets.OutSize(x.h, kernel, stride, padding), nets.OutSize(x.w, kernel, stride, padding),
		func(x *Node) *Node {
			// Cast once for every pass, so that the passes' gradients add up in the
			// parameter's own dtype.
			y := Convolve(x, TransposeAllAxes(cast(w, n.dtype), 2, 3, 1, 0)).
				Strides(stride).PaddingPerDim([][2]int{{padding, padding}, {padding, padding}}).Done()
			if b != nil {
				y = Add(y, Reshape(cast(b, n.dtype), 1, 1, 1, out))
			}
			return y
		})
}

// ReLU implements nets.Ops.
func (n *native) ReLU(in nets.Maps) nets.Maps {
	x := in.(*maps)
	return x.each(x.c, x.h, x.w, func(x *Node) *Node {
		return Mul(x, StopGradient(ConvertDType(GreaterThan(x, ScalarZero(x.Graph(), x.DType())), x.DType())))
	})
}

// MaxPool implements nets.Ops.
func (n *native) MaxPool(in nets.Maps, kernel, stride, padding int) nets.Maps {
	x := in.(*maps)
	return x.each(x.c, nets.OutSize(x.h, kernel, stride, padding), nets.OutSize(x.w, kernel, stride, padding),
		func(x *Node) *Node {
			return MaxPool(x).Window(kernel).Strides(stride).PaddingPerDim([][2]int{{padding, padding}, {padding, padding}}).Done()
		})
}

// Add implements nets.Ops.
func (n *native) Add(a, b nets.Maps) nets.Maps {
	x, z := a.(*maps), b.(*maps)
	i := -1
	return x.each(x.c, x.h, x.w, func(x *Node) *Node { i++; return Add(x, z.at[i]) })
}

// BatchNorm implements nets.Ops.
func (n *native) BatchNorm(in nets.Maps, name string) nets.Maps {
	const eps = 1e-5
	x := in.(*maps)
	row := func(v *Node) *Node { return Reshape(v, 1, 1, 1, x.c) }
	gamma, beta := row(n.param(name+".weight", true, x.c)), row(n.param(name+".bias", true, x.c))
	mean, variance := row(n.param(name+".running_mean", false, x.c)), row(n.param(name+".running_var", false, x.c))
	y := &maps{c: x.c, h: x.h, w: x.w, at: make([]*Node, len(x.at))}
	norm := func(v, mu, s *Node) *Node {
		return cast(Add(Mul(Mul(Sub(v, mu), gamma), Inverse(Sqrt(AddScalar(s, eps)))), beta), n.dtype)
	}
	at := make([]*Node, len(x.at)) // the maps in float32
	for i, v := range x.at {
		at[i] = cast(v, dtypes.Float32)
	}
	if !n.train {
		for i, v := range at {
			y.at[i] = norm(v, mean, variance)
		}
		return y
	}
	for _, group := range nets.Groups(n.passes) {
		parts := make([]*Node, len(group))
		for j, i := range group {
			parts[j] = at[i]
		}
		all := Concatenate(parts, 0)
		mu := ReduceAndKeep(all, ReduceMean, 0, 1, 2)
		s := ReduceAndKeep(Square(Sub(all, mu)), ReduceMean, 0, 1, 2)
		for _, i := range group {
			y.at[i] = norm(at[i], mu, s)
		}
		if n.passes[group[0]].UpdateStats {
			count := float64(all.Shape().Size() / x.c)
			mean = Add(MulScalar(mean, 0.9), MulScalar(mu, 0.1))
			variance = Add(MulScalar(variance, 0.9), MulScalar(s, 0.1*count/math.Max(count-1, 1)))
		}
	}
	n.running[name+".running_mean"] = StopGradient(Reshape(mean, x.c))
	n.running[name+".running_var"] = StopGradient(Reshape(variance, x.c))
	return y
}
