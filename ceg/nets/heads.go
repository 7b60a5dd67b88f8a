package nets

import (
	"fmt"

	"github.com/gomlx/gomlx/core/graph"
)

// Linear applies a linear layer with parameters name+".weight" [out, in] and
// name+".bias" [out] to x [images, in].
func Linear(params map[string]*graph.Node, name string, x *graph.Node) *graph.Node {
	w, b := params[name+".weight"], params[name+".bias"]
	if w == nil || b == nil {
		panic(fmt.Sprintf("no parameters for linear layer %q", name))
	}
	y := graph.DotGeneral(x, []int{1}, nil, w, []int{1}, nil)
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

// DomainHead is the discriminator H from features to domain logits: linear
// layers through Hidden widths.
type DomainHead struct {
	// Hidden are the widths of the hidden layers. CEG has 128 and 64.
	Hidden []int
	// ReLU puts a ReLU after every hidden layer. The published code declares
	// them but never applies them (NormalClassifierD.forward), which leaves a
	// linear map in factors.
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
func (h DomainHead) Logits(params map[string]*graph.Node, features *graph.Node) *graph.Node {
	x := features
	for i := range len(h.Hidden) + 1 {
		x = Linear(params, h.layer(i), x)
		if h.ReLU && i < len(h.Hidden) {
			x = graph.Max(x, graph.ScalarZero(x.Graph(), x.DType()))
		}
	}
	return x
}
