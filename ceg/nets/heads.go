package nets

import (
	"fmt"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// Layer applies a linear layer with parameters name+".weight" [out, in] and name+".bias"
// [out] to x [images, in], and returns [images, out]: [Linear] or [LinearOfVectors]. It
// panics when a parameter is missing.
type Layer func(params map[string]*graph.Node, name string, x *graph.Node) *graph.Node

// layer returns the parameters of a linear layer.
func layer(params map[string]*graph.Node, name string) (w, b *graph.Node) {
	w, b = params[name+".weight"], params[name+".bias"]
	if w == nil || b == nil {
		panic(fmt.Sprintf("no parameters for linear layer %q", name))
	}
	return w, b
}

// Linear is the [Layer] of images: x W' + b.
func Linear(params map[string]*graph.Node, name string, x *graph.Node) *graph.Node {
	w, b := layer(params, name)
	y := graph.DotGeneral(x, []int{1}, nil, w, []int{1}, nil)
	return graph.Add(y, graph.InsertAxes(b, 0))
}

// LinearOfVectors is the [Layer] of feature vectors: [Linear], optimised on the Go backend for
// few outputs of long vectors without a gradient. Weights are the left operand, so their
// gradient needs no transposed copy of x, and are padded with zero rows to a multiple of four,
// the kernels' block size. Sums may have another order.
func LinearOfVectors(params map[string]*graph.Node, name string, x *graph.Node) *graph.Node {
	w, b := layer(params, name)
	out, in := w.Shape().Dimensions[0], w.Shape().Dimensions[1]
	if over := out % 4; over > 0 {
		w = graph.Concatenate([]*graph.Node{w, graph.Zeros(w.Graph(), shapes.Make(w.DType(), 4-over, in))}, 0)
	}
	y := graph.DotGeneral(w, []int{1}, nil, x, []int{1}, nil)
	y = graph.SliceAxis(graph.Transpose(y, 0, 1), 1, graph.AxisRange(0, out))
	return graph.Add(y, graph.InsertAxes(b, 0))
}

// LinearParams describes the parameters of a linear layer.
func LinearParams(name string, in, out int) []Param {
	return []Param{
		{Name: name + ".weight", Shape: []int{out, in}, Kind: LinearWeight, FanIn: in},
		{Name: name + ".bias", Shape: []int{out}, Kind: LinearBias, FanIn: in},
	}
}

// ClassHead is the name of the linear layer from features to class logits, as
// in torchvision's networks.
const ClassHead = "fc"

// DomainHead is the domain discriminator H, from features to domain logits: linear layers with
// Hidden widths.
type DomainHead struct {
	// Hidden are the widths of the hidden layers: 128 and 64 in CEG.
	Hidden []int
	// ReLU applies a ReLU after every hidden layer. The published code declares but never
	// applies them (NormalClassifierD.forward), which leaves a factorised linear map.
	ReLU bool
}

func (h DomainHead) layer(i int) string { return fmt.Sprintf("domain.%d", i+1) }

// Params describes the head's parameters, named domain.1, domain.2 and so on.
func (h DomainHead) Params(features, domains int) []Param {
	var params []Param
	in := features
	for i, out := range append(append([]int{}, h.Hidden...), domains) {
		params = append(params, LinearParams(h.layer(i), in, out)...)
		in = out
	}
	return params
}

// Logits maps features [images, features] to domain logits [images, domains].
func (h DomainHead) Logits(params map[string]*graph.Node, features *graph.Node, linear Layer) *graph.Node {
	x := features
	for i := range len(h.Hidden) + 1 {
		x = linear(params, h.layer(i), x)
		if h.ReLU && i < len(h.Hidden) {
			x = graph.Max(x, graph.ScalarZero(x.Graph(), x.DType()))
		}
	}
	return x
}
