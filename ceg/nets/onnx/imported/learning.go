package imported

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledg-go/ledg/ceg/nets"
)

// learns are the inputs of operations through which a weight gets a gradient; nil for all inputs.
var learns = map[string][]int{
	"Conv": {1, 2}, "Gemm": nil, "MatMul": nil, "Einsum": nil, "LayerNormalization": {1, 2}, "InstanceNormalization": {1, 2},
	"BatchNormalization": {1, 2, 3, 4}, "PRelu": {1}, "Add": nil, "Sub": nil, "Mul": nil, "Div": nil, "Sum": nil, "Concat": nil, "ReduceMean": {0},
	"Expand": {0}, "Gather": {0}, "Transpose": nil, "Reshape": {0}, "Unsqueeze": {0}, "Squeeze": {0}, "Slice": {0}, "Split": {0}, "Tile": {0},
	"Sigmoid": nil, "Tanh": nil, "Softmax": nil, "Exp": nil, "Neg": nil, "Clip": {0}, "Min": {0}, "Max": {0}, // gates, temperatures
}

// formal reports whether an operation uses only the shape or type of an input, which does not
// count as a use of a weight.
func (n *node) formal(input int) bool {
	return n.op == "Shape" || n.op == "Size" || n.op == "CastLike" && input == 1
}

// ofModule reports whether a name is a module path, as PyTorch's exporters name parameters and
// buffers. They name other constants differently.
func ofModule(name string) bool {
	return strings.Contains(name, ".") && !strings.ContainsAny(name, "/:") && !strings.Contains(name, "lifted_tensor") && !strings.Contains(name, "_tensor_constant")
}

// learning returns the trainable weights: floats whose uses are all in learns, and that are not
// combined with the images themselves, as their normalisation is. A scalar is trainable only by
// its name.
func (g *content) learning() []*tensor {
	image := g.inputs[0].name
	no, yes := map[string]bool{}, map[string]bool{}
	for _, n := range g.nodes {
		at, ok := learns[n.op]
		for i, s := range n.in {
			if n.formal(i) {
				continue
			}
			if yes[s] = true; !ok || at != nil && !slices.Contains(at, i) || n.op != "Conv" && slices.Contains(n.in, image) {
				no[s] = true
			}
		}
	}
	var list []*tensor
	for _, t := range g.weights {
		if t.kind == float32Type && (t.count() > 1 || t.count() == 1 && ofModule(t.name)) && yes[t.name] && !no[t.name] {
			list = append(list, t)
		}
	}
	return list
}

// separate replaces every Identity of a weight by a separate weight.
func (g *content) separate() {
	by := map[string]*tensor{}
	for _, t := range g.weights {
		by[t.name] = t
	}
	g.nodes = slices.DeleteFunc(g.nodes, func(n *node) bool {
		if n.op != "Identity" || by[n.in[0]] == nil || n.out[0] == g.outputs[0].name {
			return false
		}
		own := *by[n.in[0]]
		own.name = n.out[0]
		by[own.name] = &own
		g.weights = append(g.weights, &own)
		return true
	})
	used := g.used()
	g.weights = slices.DeleteFunc(g.weights, func(t *tensor) bool { return !used[t.name] })
}

// used returns the values that nodes use.
func (g *content) used() map[string]bool {
	used := map[string]bool{}
	for _, n := range g.nodes {
		for _, s := range n.in {
			used[s] = true
		}
	}
	return used
}

// chooseParams describes the parameters, in the order in which nodes use them.
func (t *Trainable) chooseParams() error {
	t.tensors = map[string]*tensor{}
	for _, w := range t.graph.learning() {
		t.tensors[w.name] = w
	}
	kinds := map[string]nets.Kind{}
	var order []string
	for _, n := range t.graph.nodes {
		for i, s := range n.in {
			w := t.tensors[s]
			if n.formal(i) {
				continue
			}
			if w == nil {
				if n.op == "BatchNormalization" && i > 0 {
					return fmt.Errorf("node %q (BatchNormalization): its %q is no weight of the file, or of one channel", n.name, s)
				}
				continue
			}
			kind, known := kinds[s]
			if !known {
				order = append(order, s)
			}
			now := nets.Normal
			switch n.op {
			case "BatchNormalization":
				now = []nets.Kind{nets.Scale, nets.Shift, nets.RunningMean, nets.RunningVar}[i-1]
			case "LayerNormalization", "InstanceNormalization":
				now = []nets.Kind{nets.Scale, nets.Shift}[i-1]
			}
			if known && kind != now && (!now.Trained() || !kind.Trained()) {
				return fmt.Errorf("weights %q are used both as statistics of a BatchNormalization and elsewhere", s)
			}
			kinds[s] = now
		}
	}
	if len(order) == 0 {
		return errNoWeights
	}
	for _, s := range order {
		p := nets.Param{Name: Prefix + s, Kind: kinds[s]}
		for _, d := range t.tensors[s].dims {
			p.Shape = append(p.Shape, int(d))
		}
		t.params = append(t.params, p)
	}
	return nil
}

// float32s returns the numbers of a float32 tensor, given its raw bytes if it has any.
func (t *tensor) float32s(raw []byte) ([]float32, error) {
	var v []float32
	if raw != nil {
		for ; len(raw) >= 4; raw = raw[4:] {
			v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
	} else if err := each(t.rest, func(num protowire.Number, kind protowire.Type, one uint64, data []byte) error {
		if num != 4 { // float_data
			return nil
		}
		if kind == protowire.Fixed32Type {
			v = append(v, math.Float32frombits(uint32(one)))
		}
		for ; len(data) >= 4; data = data[4:] {
			v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(data)))
		}
		return nil
	}); err != nil {
		return nil, err
	}
	if int64(len(v)) != t.count() {
		return nil, fmt.Errorf("weights %q of shape %v have %d numbers", t.name, t.dims, len(v))
	}
	return v, nil
}
