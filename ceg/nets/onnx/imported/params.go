package imported

import (
	"errors"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
)

// learns are the inputs of operations through which a weight gets a gradient; nil for all inputs.
var learns = map[string][]int{
	"Conv": {1, 2}, "Gemm": nil, "MatMul": nil, "Einsum": nil, "LayerNormalization": {1, 2}, "BatchNormalization": {1, 2},
	"Add": nil, "Sub": nil, "Mul": nil, "Div": nil, "Concat": nil, "ReduceMean": {0}, "Expand": {0}, "Gather": {0},
	"Transpose": nil, "Reshape": {0}, "Unsqueeze": {0}, "Squeeze": {0}, "Slice": {0}, "Split": {0}, "Tile": {0},
	"Sigmoid": nil, "Tanh": nil, "Softmax": nil, "Exp": nil, "Neg": nil, "Clip": {0}, "Min": {0}, "Max": {0}, // gates, temperatures
}

// ofModule reports whether a name is a module path, as PyTorch's exporters name parameters and
// buffers. They name other constants differently.
func ofModule(name string) bool {
	return strings.Contains(name, ".") && !strings.ContainsAny(name, "/:") && !strings.Contains(name, "lifted_tensor") && !strings.Contains(name, "_tensor_constant")
}

// learning returns the trainable weights: floats whose uses are all in learns, and that are not
// combined with the images themselves, as their normalisation is. A scalar is trainable only by
// its name.
func (t *Trainable) learning() map[string]*onnxpb.Tensor {
	no, yes := map[string]bool{}, map[string]bool{}
	for _, n := range t.file.Graph.Nodes {
		at, ok := learns[n.Op]
		for i, s := range n.In {
			if n.Op == "Shape" {
				continue
			}
			if yes[s] = true; !ok || at != nil && !slices.Contains(at, i) || n.Op != "Conv" && slices.Contains(n.In, t.input) {
				no[s] = true
			}
		}
	}
	weights := map[string]*onnxpb.Tensor{}
	for _, w := range t.file.Graph.Weights {
		if count := w.Count(); w.Type == onnxpb.Float32 && (count > 1 || count == 1 && ofModule(w.Name)) && yes[w.Name] && !no[w.Name] {
			weights[w.Name] = w
		}
	}
	return weights
}

// separate replaces every Identity of a weight by a separate weight.
func (t *Trainable) separate() {
	g := t.file.Graph
	by := map[string]*onnxpb.Tensor{}
	for _, w := range g.Weights {
		by[w.Name] = w
	}
	used := map[string]bool{}
	g.Nodes = slices.DeleteFunc(g.Nodes, func(n *onnxpb.Node) bool {
		if n.Op == "Identity" && by[n.In[0]] != nil && n.Out[0] != t.Output {
			own := *by[n.In[0]]
			own.Name = n.Out[0]
			by[own.Name] = &own
			g.Weights = append(g.Weights, &own)
			return true
		}
		for _, s := range needs(n) {
			used[s] = true
		}
		return false
	})
	g.Weights = slices.DeleteFunc(g.Weights, func(w *onnxpb.Tensor) bool { return !used[w.Name] })
}

// chooseParams describes the parameters, in the order in which nodes use them.
func (t *Trainable) chooseParams() error {
	t.weights = t.learning()
	seen := map[string]bool{}
	for _, n := range t.file.Graph.Nodes {
		for i, s := range n.In {
			w := t.weights[s]
			if w == nil || seen[s] {
				continue
			}
			seen[s] = true
			p := nets.Param{Name: Prefix + s, Kind: nets.Normal}
			if strings.HasSuffix(n.Op, "Normalization") && i > 0 {
				p.Kind = []nets.Kind{nets.Scale, nets.Shift}[i-1]
			}
			for _, d := range w.Dims {
				p.Shape = append(p.Shape, int(d))
			}
			t.params = append(t.params, p)
		}
	}
	if len(t.params) == 0 {
		return errNoWeights
	}
	return nil
}

var errNoWeights = errors.New("it has no float32 weights that could be trained")
