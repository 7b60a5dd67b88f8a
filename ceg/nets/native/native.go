// Package native builds backbones from GoMLX's convolution, pooling and automatic
// differentiation, which XLA compiles well for a GPU. On a CPU some of XLA's convolutions are a
// hundred times slower than others. Results equal package flat's within float32 rounding.
package native

import (
	"fmt"
	"math"

	"github.com/gomlx/compute/dtypes"
	. "github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Build adds backbone b to the graph: it passes every pass through the network with the
// parameters by name (see [nets.Params] for shapes), in training or evaluation mode. It panics
// if a parameter is missing or misshapen.
func Build(b nets.Backbone, params map[string]*Node, passes []nets.Pass, train bool) nets.Features {
	return Target{}.Build(b, params, passes, train)
}

// Target is the precision that a graph is built for.
type Target struct {
	// BFloat16 computes convolutions and the maps between layers in bfloat16 (8 bits of
	// mantissa), which halves memory traffic and uses tensor cores of GPUs and TPUs. BatchNorm
	// and the final pooling compute in float32; parameters, features, running statistics and
	// gradients are float32. PyTorch calls this autocast.
	BFloat16 bool
}

// Build is the function Build for the target.
func (t Target) Build(b nets.Backbone, params map[string]*Node, passes []nets.Pass, train bool) nets.Features {
	n := &native{params: params, passes: passes, images: make([]*Node, len(passes)), train: train, norm: b.Norm.OrDefault(), dtype: dtypes.Float32, running: map[string]*Node{}}
	n.lanes, n.updates = nets.Lanes(passes)
	if t.BFloat16 {
		n.dtype = dtypes.BFloat16
	}
	dtype := n.dtype
	d := passes[0].Images.Shape().Dimensions
	x := &maps{c: b.In(), h: d[1], w: d[2]}
	for _, p := range passes {
		p.Images.AssertDims(-1, x.h, x.w, x.c)
	}
	for _, l := range n.lanes {
		x.at = append(x.at, cast(l.Join(passes, n.images), dtype))
	}
	last := b.Layers(n, x).(*maps)
	feats := nets.Features{Running: n.running, Passes: make([]*Node, len(passes))}
	for i, v := range last.at {
		v = cast(v, dtypes.Float32)
		n.lanes[i].Split(passes, nets.Pool(b.Pooling, v), v, feats.Passes)
	}
	feats.Pull = nets.Pull(passes, feats.Passes, params, n.trained, n.images)
	return feats
}

type native struct {
	norm    nets.Norm
	params  map[string]*Node
	passes  []nets.Pass
	images  []*Node // of the passes whose images have gradients, else nil
	lanes   []nets.Lane
	updates int // groups that update the running statistics
	train   bool
	dtype   dtypes.DType // of maps and convolutions
	trained []string     // names of the parameters that need a gradient
	running map[string]*Node
}

// cast converts x where it has another dtype.
func cast(x *Node, dtype dtypes.DType) *Node {
	if x.DType() == dtype {
		return x
	}
	return ConvertDType(x, dtype)
}

// maps are [images, h, w, c] nodes, one for every lane.
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

func (n *native) Conv(in nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	x := in.(*maps)
	w := n.param(name+".weight", true, out, x.c, kernel, kernel)
	var b *Node
	if bias {
		b = n.param(name+".bias", true, out)
	}
	return x.each(out, nets.OutSize(x.h, kernel, stride, padding), nets.OutSize(x.w, kernel, stride, padding),
		func(v *Node) *Node {
			k := TransposeAllAxes(cast(w, n.dtype), 2, 3, 1, 0)
			v, padding := evenly(v, kernel, stride, padding)
			v, k = oddly(v, k)
			y := Convolve(v, k).Strides(stride).PaddingPerDim([][2]int{{padding, padding}, {padding, padding}}).Done()
			if b != nil {
				y = Add(y, Reshape(cast(b, n.dtype), 1, 1, 1, out))
			}
			return y
		})
}

// evenly pads the maps v for a convolution, where that is not by as many zeros on all
// sides or the kernel's side is even, and returns the padding that is left.
func evenly(v *Node, kernel, stride, padding int) (*Node, int) {
	d := v.Shape().Dimensions
	top, bottom := nets.Padding(d[1], kernel, stride, padding)
	left, right := nets.Padding(d[2], kernel, stride, padding)
	if top == bottom && left == right && top == left && kernel%2 == 1 {
		return v, top
	}
	return padded(v, PadAxis{}, PadAxis{Start: top, End: bottom}, PadAxis{Start: left, End: right}, PadAxis{}), 0
}

// oddly gives a kernel [ky, kx, in, out] of an even side another row and column of
// zeros, and the maps v those that it meets. GoMLX's gradient of the images is wrong
// for an even side (v0.28.16: one pixel off, or a panic where the padding is as large).
func oddly(v, kernel *Node) (*Node, *Node) {
	if kernel.Shape().Dimensions[0]%2 == 1 {
		return v, kernel
	}
	one := PadAxis{End: 1}
	return padded(v, PadAxis{}, one, one, PadAxis{}), padded(kernel, one, one, PadAxis{}, PadAxis{})
}

// padded pads x with zeros.
func padded(x *Node, axes ...PadAxis) *Node {
	return Pad(x, ScalarZero(x.Graph(), x.DType()), axes...)
}

// Depthwise implements nets.Ops: as a sum over taps of products, which XLA makes one loop
// of. The kernel's gradient is a sum over all pixels for every tap.
func (n *native) Depthwise(in nets.Maps, name string, kernel, stride, padding int) nets.Maps {
	x := in.(*maps)
	w := n.param(name+".weight", true, x.c, 1, kernel, kernel)
	ho, wo := nets.OutSize(x.h, kernel, stride, padding), nets.OutSize(x.w, kernel, stride, padding)
	return x.each(x.c, ho, wo, func(v *Node) *Node {
		top, _ := nets.Padding(x.h, kernel, stride, padding)
		left, _ := nets.Padding(x.w, kernel, stride, padding)
		h, w0 := (ho-1)*stride+kernel, (wo-1)*stride+kernel // the pixels that are seen
		v = Pad(v, ScalarZero(v.Graph(), v.DType()), PadAxis{}, PadAxis{Start: top, End: max(h-x.h-top, 0)}, PadAxis{Start: left, End: max(w0-x.w-left, 0)}, PadAxis{})
		// [c, 1, k, k] to [k*k, c]
		k := TransposeAllAxes(Reshape(cast(w, n.dtype), x.c, kernel*kernel), 1, 0)
		var sum *Node
		for ky := range kernel {
			for kx := range kernel {
				tap := Slice(v, AxisRange(), AxisRange(ky, ky+(ho-1)*stride+1).Stride(stride), AxisRange(kx, kx+(wo-1)*stride+1).Stride(stride), AxisRange())
				weight := Reshape(SliceAxis(k, 0, AxisElem(ky*kernel+kx)), 1, 1, 1, x.c)
				if term := Mul(tap, weight); sum == nil {
					sum = term
				} else {
					sum = Add(sum, term)
				}
			}
		}
		return sum
	})
}

func (n *native) ReLU(in nets.Maps) nets.Maps {
	x := in.(*maps)
	return x.each(x.c, x.h, x.w, func(x *Node) *Node {
		return Mul(x, StopGradient(ConvertDType(GreaterThan(x, ScalarZero(x.Graph(), x.DType())), x.DType())))
	})
}

func (n *native) ReLU6(in nets.Maps) nets.Maps {
	x := in.(*maps)
	return x.each(x.c, x.h, x.w, func(x *Node) *Node {
		six := Scalar(x.Graph(), x.DType(), 6)
		inside := LogicalAnd(GreaterThan(x, ScalarZero(x.Graph(), x.DType())), LessThan(x, six))
		above := StopGradient(Mul(ConvertDType(GreaterOrEqual(x, six), x.DType()), six))
		return Add(Mul(x, StopGradient(ConvertDType(inside, x.DType()))), above)
	})
}

func (n *native) MaxPool(in nets.Maps, kernel, stride, padding int) nets.Maps {
	x := in.(*maps)
	return x.each(x.c, nets.OutSize(x.h, kernel, stride, padding), nets.OutSize(x.w, kernel, stride, padding),
		func(x *Node) *Node {
			return MaxPool(x).Window(kernel).Strides(stride).PaddingPerDim([][2]int{{padding, padding}, {padding, padding}}).Done()
		})
}

func (n *native) Add(a, b nets.Maps) nets.Maps {
	x, z := a.(*maps), b.(*maps)
	i := -1
	return x.each(x.c, x.h, x.w, func(x *Node) *Node { i++; return Add(x, z.at[i]) })
}

func (n *native) Apply(in nets.Maps, channels, h, w int, f func(*Node) *Node) nets.Maps {
	return in.(*maps).each(channels, h, w, func(x *Node) *Node {
		y := f(cast(x, dtypes.Float32))
		y.AssertDims(x.Shape().Dimensions[0], h, w, channels)
		return cast(y, n.dtype)
	})
}

func (n *native) BatchNorm(in nets.Maps, name string) nets.Maps {
	eps, momentum := n.norm.Eps, n.norm.Momentum
	x := in.(*maps)
	row := func(v *Node) *Node { return Reshape(v, 1, 1, 1, x.c) }
	gamma, beta := n.param(name+".weight", true, x.c), n.param(name+".bias", true, x.c)
	mean, variance := n.param(name+".running_mean", false, x.c), n.param(name+".running_var", false, x.c)
	// scale is of one variance a row, [rows, c].
	scale := func(variance *Node) *Node {
		return Mul(Reshape(gamma, 1, x.c), Inverse(Sqrt(AddScalar(variance, eps))))
	}
	if !n.train {
		return x.each(x.c, x.h, x.w, func(v *Node) *Node {
			v = Sub(cast(v, dtypes.Float32), row(mean))
			return cast(Add(Mul(v, row(scale(Reshape(variance, 1, x.c)))), row(beta)), n.dtype)
		})
	}
	// PyTorch moves the running statistics by a tenth (the momentum) toward the statistics of each
	// pass in turn: all in all, a weighted sum.
	weight := math.Pow(1-momentum, float64(n.updates))
	mean, variance = MulScalar(mean, weight), MulScalar(variance, weight)
	next := 0
	y := x.each(x.c, x.h, x.w, func(v *Node) *Node {
		l := lane{n.lanes[next]}
		next++
		v = cast(v, dtypes.Float32)
		mu := l.means(v)
		v = Sub(v, l.spread(mu))
		s := l.means(Square(v))
		v = cast(Add(Mul(v, l.spread(scale(s))), row(beta)), n.dtype)
		ofMean, ofVariance := make([]float32, len(l.Groups)), make([]float32, len(l.Groups))
		for i, g := range l.Groups {
			if g.Update > 0 {
				w, count := momentum*math.Pow(1-momentum, float64(n.updates-g.Update)), float64(g.Images*x.h*x.w)
				ofMean[i], ofVariance[i] = float32(w), float32(w*count/math.Max(count-1, 1))
			}
		}
		weighted := func(t *Node, w []float32) *Node {
			return ReduceSum(Mul(t, Reshape(Const(t.Graph(), w), -1, 1)), 0)
		}
		mean, variance = Add(mean, weighted(mu, ofMean)), Add(variance, weighted(s, ofVariance))
		return v
	})
	n.running[name+".running_mean"] = StopGradient(mean)
	n.running[name+".running_var"] = StopGradient(variance)
	return y
}
