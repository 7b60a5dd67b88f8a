package nets

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/engine"
)

// Func is a network as a graph function. x are images or feature vectors, as [Input] says. It returns features
// [n, d], or maps [n, h, w, d], whose spatial means are the features. It must treat examples independently, as
// batches are joined and divided: no statistics of a batch, and no random numbers.
type Func func(s *Scope, x *graph.Node) *graph.Node

// Scope declares the parameters of a graph function. Width is the setting network.width.
type Scope struct {
	Width   int
	params  []Param
	nodes   map[string]*graph.Node
	declare func(p Param) *graph.Node // nil where all are known
}

// Param declares a parameter, or returns the one of that name again. [Param.Init] initialises it by its Kind; the
// FanIn of a matrix [out, in] or kernel [out, in, ky, kx] is derived from its shape.
func (s *Scope) Param(p Param) *graph.Node {
	if p.FanIn == 0 && p.Kind <= LinearWeight && len(p.Shape) > 1 {
		p.FanIn, p.FanOut = Param{Shape: p.Shape[1:]}.Size(), p.Shape[0]*Param{Shape: p.Shape[2:]}.Size()
	}
	if p.Name == "" || !p.Trained() || p.FanIn == 0 && p.Kind <= ConvBias {
		panic(fmt.Errorf("parameter %q of shape %v: want a name, a kind that is trained and, for weights and biases, a FanIn", p.Name, p.Shape))
	}
	n := s.nodes[p.Name]
	if n == nil {
		if s.declare == nil {
			panic(fmt.Errorf("parameter %s was not declared before: parameters may not depend on the batch", p.Name))
		}
		n = s.declare(p)
		s.params, s.nodes[p.Name] = append(s.params, p), n
	}
	n.AssertDims(p.Shape...)
	return n
}

// Linear is a linear layer of x [n, in] with parameters name+".weight" [out, in] and name+".bias" [out].
func (s *Scope) Linear(name string, x *graph.Node, out int) *graph.Node {
	x.AssertRank(2)
	params := map[string]*graph.Node{}
	for _, p := range LinearParams(name, x.Shape().Dim(1), out) {
		params[p.Name] = s.Param(p)
	}
	return Linear(params, name, x)
}

// Conv is a convolution of maps x [n, h, w, in] with a square kernel of an odd side and zero padding, which keeps
// their size at stride 1. Parameters are name+".weight" [out, in, kernel, kernel] and name+".bias" [out]. (GoMLX's
// gradient is wrong for kernels of an even side.)
func (s *Scope) Conv(name string, x *graph.Node, out, kernel, stride int) *graph.Node {
	if x.AssertRank(4); kernel%2 == 0 {
		panic(fmt.Errorf("convolution %s has a kernel of side %d, want an odd one", name, kernel))
	}
	in, pad := x.Shape().Dim(3), [2]int{kernel / 2, kernel / 2}
	w := s.Param(Param{Name: name + ".weight", Shape: []int{out, in, kernel, kernel}, Kind: BiasedConvWeight})
	b := s.Param(Param{Name: name + ".bias", Shape: []int{out}, Kind: ConvBias, FanIn: in * kernel * kernel})
	y := graph.Convolve(x, graph.TransposeAllAxes(w, 2, 3, 1, 0)).Strides(stride).PaddingPerDim([][2]int{pad, pad}).Done()
	return graph.Add(y, graph.Reshape(b, 1, 1, 1, out))
}

// OfFunc returns the backbone of a graph function. vector is the length of feature vectors, 0 for images.
func OfFunc(name string, width, vector int, f Func) Backbone {
	b := OfGraph(fmt.Sprintf("%s-w%d", name, width), function{name, f, width, vector}, Pixels{})
	b.Vector = vector
	return b
}

// function implements Graph.
type function struct {
	name          string
	f             Func
	width, vector int
}

// Params implements Graph: it builds a graph of a few examples without computing it.
func (f function) Params(size int) (params []Param, features int, err error) {
	on, err := engine.Open("go")
	if err != nil {
		return nil, 0, err
	}
	defer on.Close()
	shape := shapes.Make(dtypes.Float32, 3, size, size, 3)
	if f.vector > 0 {
		shape = shapes.Make(dtypes.Float32, 3, 1, 1, f.vector)
	}
	defer func() {
		if r := recover(); r != nil { // GoMLX's errors have a stack with the line
			e, _ := r.(error)
			err = fmt.Errorf("network %s on examples %v: %w", f.name, shape.Dimensions, cmp.Or(e, fmt.Errorf("%v", r)))
		}
	}()
	g := graph.NewGraph(on.Compute, "shapes")
	defer g.Finalize()
	s := &Scope{Width: f.width, nodes: map[string]*graph.Node{}, declare: func(p Param) *graph.Node {
		return graph.Parameter(g, p.Name, shapes.Make(dtypes.Float32, p.Shape...))
	}}
	y, _ := f.output(s, graph.Parameter(g, "the examples of a batch", shape))
	return s.params, y.Shape().Dim(1), nil
}

// output adds features [n, d] and maps [n, h, w, d] of examples to a graph.
func (f function) output(s *Scope, x *graph.Node) (features, maps *graph.Node) {
	n := x.Shape().Dim(0)
	if f.vector > 0 {
		x = graph.Reshape(x, n, f.vector)
	}
	y := f.f(s, x)
	switch shape := y.Shape(); {
	case shape.DType != dtypes.Float32 || shape.Rank() != 2 && shape.Rank() != 4 || shape.Dim(0) != n:
		panic(fmt.Errorf("it returns %s for %d examples, want float32 features [%[2]d, d] or maps [%[2]d, h, w, d]", shape, n))
	case shape.Rank() == 2:
		return y, graph.InsertAxes(y, 1, 1)
	}
	return graph.ReduceMean(y, 1, 2), y
}

// MapSizes implements Graph: they are not known.
func (function) MapSizes() MapSizes { return MapSizes{} }

// Files implements Graph: there are none.
func (function) Files() []string { return nil }

// ONNX implements Graph: there is none.
func (f function) ONNX(string) (ONNX, error) {
	return ONNX{}, fmt.Errorf("network %s is a graph function, which has no ONNX form: export its weights as .safetensors, or register it as layers (nets.Register)", f.name)
}

func (f function) Build(params map[string]*graph.Node, passes []Pass, _ bool) Features {
	return Joined(params, slices.Sorted(maps.Keys(params)), passes, func(x *graph.Node) (features, maps *graph.Node) {
		return f.output(&Scope{Width: f.width, nodes: params}, x)
	})
}

// Joined builds passes of a function of independent examples: all with gradients are one batch, and all without.
// trained names the parameters with gradients.
func Joined(params map[string]*graph.Node, trained []string, passes []Pass, f func(x *graph.Node) (features, maps *graph.Node)) Features {
	out := Features{Passes: make([]*graph.Node, len(passes)), Running: map[string]*graph.Node{}}
	inputs, alone := make([]*graph.Node, len(passes)), slices.Clone(passes)
	for i := range alone {
		alone[i].Group = i
	}
	lanes, _ := Lanes(alone)
	for _, l := range lanes {
		features, maps := f(l.Join(passes, inputs))
		l.Split(passes, features, maps, out.Passes)
	}
	out.Pull = Pull(passes, out.Passes, params, trained, inputs)
	return out
}
