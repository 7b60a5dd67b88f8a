package imported

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// operations are those that are computed as the format says, for images: what onnx-gomlx has, less
// what was not compared with ONNX Runtime.
var operations = func() map[string]bool {
	m := map[string]bool{}
	for _, op := range []string{
		"Abs", "Add", "And", "ArgMax", "ArgMin", "AveragePool", "BatchNormalization", "Cast", "Ceil", "Clip", "Concat", "Constant",
		"ConstantOfShape", "Conv", "Cos", "CumSum", "Div", "Einsum", "Equal", "Erf", "Exp", "Expand", "FastGelu", "Flatten", "Floor",
		"Gather", "GatherElements", "GatherND", "Gelu", "Gemm", "GlobalAveragePool", "Greater", "GreaterOrEqual", "HardSwish",
		"Identity", "LayerNormalization", "Less", "LessOrEqual", "Log", "MatMul", "Max", "MaxPool", "Min", "Mod", "Mul", "Neg",
		"Not", "Or", "Pad", "Pow", "Range", "Reciprocal", "ReduceL2", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
		"ReduceSum", "Relu", "Reshape", "Resize", "ScatterND", "Shape", "Sigmoid", "Sign", "Sin", "Size", "Slice", "Softmax",
		"Split", "Sqrt", "Squeeze", "Sub", "Tanh", "Tile", "Transpose", "Trilu", "Unsqueeze", "Where",
	} {
		m[op] = true
	}
	return m
}()

// mend writes the nodes such that onnx-gomlx computes what they say, and refuses those of which
// it would compute something else.
func (n *Network) mend() error {
	if n.mended {
		return nil
	}
	if n.graph.functional {
		return errors.New("it has functions of its own, which are not taken: export it with its functions inlined")
	}
	if n.known == nil {
		n.known = map[string]resizing{}
	}
	m := &mender{content: n.graph}
	for _, t := range n.graph.weights {
		t.widen()
	}
	old := n.graph.nodes
	n.graph.nodes = nil
	for _, x := range old {
		for i := range x.attrs {
			if t := x.attrs[i].t; t != nil {
				if t.outside {
					return fmt.Errorf("node %q: a constant outside the file is not taken", x.name)
				}
				t.widen()
			}
		}
		for len(x.in) > 0 && x.in[len(x.in)-1] == "" {
			x.in = x.in[:len(x.in)-1]
		}
		if err := m.node(x); err != nil {
			return fmt.Errorf("node %q (%s): %w", x.name, x.op, err)
		}
		if x.op == "Softmax" && n.graph.opset < 13 {
			n.softmax = append(n.softmax, x)
		}
		known := operations[x.op] && (x.domain == "" || x.domain == "ai.onnx" || x.domain == "com.microsoft" && (x.op == "Gelu" || x.op == "FastGelu" && len(x.in) == 1))
		if n.problem == nil && !known {
			n.problem = x
		}
		n.graph.nodes = append(n.graph.nodes, x)
	}
	n.mended = true
	return nil
}

// mender adds nodes to a graph.
type mender struct {
	*content
	added int
}

// op adds a node and returns its output.
func (m *mender) op(op string, in ...string) string {
	m.added++
	out := fmt.Sprintf("ledg %s %d", op, m.added)
	m.nodes = append(m.nodes, &node{op: op, name: out, in: in, out: []string{out}})
	return out
}

// number adds a constant scalar.
func (m *mender) number(v float32) string {
	return m.constant(&tensor{kind: float32Type, raw: binary.LittleEndian.AppendUint32(nil, math.Float32bits(v))})
}

// integers adds a constant vector.
func (m *mender) integers(v []int64) string { return m.constant(integers(v)) }

func (m *mender) constant(t *tensor) string {
	out := m.op("Constant")
	m.nodes[len(m.nodes)-1].attrs = []attr{{name: "value", kind: tensorAttr, t: t}}
	return out
}

func integers(v []int64) *tensor {
	t := &tensor{kind: int64Type, dims: []int64{int64(len(v))}, raw: []byte{}}
	for _, x := range v {
		t.raw = binary.LittleEndian.AppendUint64(t.raw, uint64(x))
	}
	return t
}

func floats(v []float32) *tensor {
	t := &tensor{kind: float32Type, dims: []int64{int64(len(v))}, raw: []byte{}}
	for _, x := range v {
		t.raw = binary.LittleEndian.AppendUint32(t.raw, math.Float32bits(x))
	}
	return t
}

// get returns an attribute, nil if it is not there.
func (n *node) get(name string) *attr {
	i := slices.IndexFunc(n.attrs, func(a attr) bool { return a.name == name })
	if i < 0 {
		return nil
	}
	return &n.attrs[i]
}

func (n *node) drop(name string) *attr {
	a := n.get(name)
	if a != nil {
		had := *a
		n.attrs = slices.DeleteFunc(n.attrs, func(a attr) bool { return a.name == name })
		return &had
	}
	return nil
}

func (n *node) float(name string, or float32) float32 {
	if a := n.get(name); a != nil {
		return a.f
	}
	return or
}

func (n *node) int(name string, or int64) int64 {
	if a := n.get(name); a != nil {
		return a.i
	}
	return or
}

func (n *node) text(name, or string) string {
	if a := n.get(name); a != nil {
		return a.s
	}
	return or
}

// become makes n another operation.
func (n *node) become(op string, in ...string) { n.op, n.in, n.attrs, n.domain = op, in, nil, "" }

// node mends one. What it adds comes before it.
func (m *mender) node(n *node) error {
	in := func(i int) string {
		if i < len(n.in) {
			return n.in[i]
		}
		return ""
	}
	x := in(0)
	switch n.op {
	case "Constant":
		for _, a := range n.attrs {
			t := a.t
			switch {
			case a.kind == intAttr && a.name == "value_int":
				t = integers([]int64{a.i})
				t.dims = nil
			case a.kind == floatAttr && a.name == "value_float":
				t = floats([]float32{a.f})
				t.dims = nil
			case a.kind == intsAttr && a.name == "value_ints":
				t = integers(a.ints)
			case a.kind == floatsAttr && a.name == "value_floats":
				t = floats(a.floats)
			case a.kind != tensorAttr:
				return fmt.Errorf("a constant that is said by %s is not taken", a.name)
			}
			n.attrs = []attr{{name: "value", kind: tensorAttr, t: t}}
		}
	case "Cast":
		if a := n.get("to"); a != nil && (a.i == float16Type || a.i == bfloat16Type) {
			a.i = float32Type
		}
	case "Gelu":
		if a := n.drop("approximate"); a != nil && a.s == "tanh" {
			n.op = "FastGelu"
		}
	case "Dropout":
		n.become("Identity", x)
		n.out = n.out[:1]
	case "Softmax":
		if m.opset < 13 && n.get("axis") == nil {
			n.attrs = append(n.attrs, attr{name: "axis", kind: intAttr, i: 1})
		}
	case "Clip":
		if m.opset < 11 {
			n.become("Clip", x, m.number(n.float("min", -math.MaxFloat32)), m.number(n.float("max", math.MaxFloat32)))
		}
	case "Pad":
		if a := n.drop("pads"); a != nil {
			v := m.number(n.float("value", 0))
			n.drop("value")
			n.in = []string{x, m.integers(a.ints), v}
		}
		if len(n.in) > 3 {
			return fmt.Errorf("padding of chosen axes is not taken")
		}
	case "Range": // whose length onnx-gomlx computes with tensors of another backend than [lowered]
		if step := m.constants(in(2)); len(step) == 1 && step[0] == 1 {
			n.become("Add", m.count(m.with("Unsqueeze", 0, m.op("Sub", in(1), x)), false), x)
		}
	case "Slice":
		if len(n.in) > 4 {
			return m.slice(n)
		}
	case "Split":
		if a := n.drop("split"); a != nil {
			n.in = []string{x, m.integers(a.ints)}
		}
	case "BatchNormalization":
		n.drop("momentum")
	case "Conv", "MaxPool", "AveragePool":
		return m.window(n)
	case "Resize":
		return m.resize(n)
	case "InstanceNormalization":
		lines := m.op("Reshape", x, m.integers([]int64{0, 0, -1}))
		off := m.op("Sub", lines, m.mean(lines))
		deviation := m.op("Sqrt", m.op("Add", m.mean(m.op("Mul", off, off)), m.number(n.float("epsilon", 1e-5))))
		y := m.op("Add", m.op("Mul", m.op("Div", off, deviation), m.column(in(1))), m.column(in(2)))
		n.become("Reshape", y, m.op("Shape", x))
	case "HardSigmoid":
		y := m.op("Add", m.op("Mul", x, m.number(n.float("alpha", 0.2))), m.number(n.float("beta", 0.5)))
		n.become("Clip", y, m.number(0), m.number(1))
	case "LeakyRelu":
		n.become("Add", m.op("Relu", x), m.op("Mul", m.op("Min", x, m.number(0)), m.number(n.float("alpha", 0.01))))
	case "PRelu":
		n.become("Add", m.op("Relu", x), m.op("Mul", m.op("Min", x, m.number(0)), in(1)))
	case "Elu":
		e := m.op("Sub", m.op("Exp", m.op("Min", x, m.number(0))), m.number(1))
		n.become("Add", m.op("Relu", x), m.op("Mul", e, m.number(n.float("alpha", 1))))
	case "Softplus":
		n.become("Identity", m.softplus(x))
	case "Mish":
		n.become("Mul", x, m.op("Tanh", m.softplus(x)))
	case "Swish":
		n.become("Mul", x, m.op("Sigmoid", m.op("Mul", x, m.number(n.float("alpha", 1)))))
	case "Sum":
		for len(n.in) > 2 {
			n.in = append([]string{m.op("Add", n.in[0], n.in[1])}, n.in[2:]...)
		}
		if n.op = "Add"; len(n.in) == 1 {
			n.op = "Identity"
		}
	}
	return nil
}

// mean is that of each line [n, c, 1] of [n, c, length], and column makes [c, 1] of [c].
func (m *mender) mean(x string) string   { return m.with("ReduceMean", 2, x) }
func (m *mender) column(x string) string { return m.with("Unsqueeze", 1, x) }

// with adds an operation along an axis.
func (m *mender) with(op string, axis int64, x string) string {
	out := m.op(op, x)
	m.nodes[len(m.nodes)-1].attrs = []attr{{name: "axes", kind: intsAttr, ints: []int64{axis}}}
	return out
}

// softplus is log(1 + exp(x)), without overflow.
func (m *mender) softplus(x string) string {
	return m.op("Add", m.op("Relu", x), m.op("Log", m.op("Add", m.op("Exp", m.op("Neg", m.op("Abs", x))), m.number(1))))
}

// slice turns what is read backwards, of which onnx-gomlx makes something else: an axis as a whole,
// as PyTorch writes padding.
func (m *mender) slice(n *node) error {
	var v [4][]int64 // starts, ends, axes, steps
	for i := range v {
		v[i] = m.constants(n.in[1+i])
	}
	steps := v[3]
	switch {
	case steps != nil && !slices.ContainsFunc(steps, func(s int64) bool { return s < 0 }):
		return nil
	case len(steps) != 1 || steps[0] != -1 || len(v[0]) != 1 || len(v[1]) != 1 || len(v[2]) != 1 || v[0][0] != -1 || v[1][0] > math.MinInt32:
		return fmt.Errorf("a Slice with steps %v is not taken, only steps above 0, and a whole axis backwards", steps)
	}
	axis := attr{name: "axis", kind: intAttr, i: v[2][0]}
	length := m.op("Gather", m.op("Shape", n.in[0]), m.integers(v[2]))
	n.become("Gather", n.in[0], m.count(length, true))
	n.attrs = []attr{axis}
	return nil
}

// count is 0, 1 ... before a length, a vector of one integer, or the same backwards.
func (m *mender) count(length string, backwards bool) string {
	one := m.op("ConstantOfShape", length)
	m.nodes[len(m.nodes)-1].attrs = []attr{{name: "value", kind: tensorAttr, t: integers([]int64{1})}}
	sum := m.op("CumSum", one, m.scalar(0))
	m.nodes[len(m.nodes)-1].attrs = []attr{{name: "exclusive", kind: intAttr, i: 1}}
	if backwards {
		m.nodes[len(m.nodes)-1].attrs = append(m.nodes[len(m.nodes)-1].attrs, attr{name: "reverse", kind: intAttr, i: 1})
	}
	return sum
}

// scalar adds a constant integer.
func (m *mender) scalar(v int64) string {
	t := integers([]int64{v})
	t.dims = nil
	return m.constant(t)
}

// constants returns the integers of a constant, nil where a value is none.
func (m *mender) constants(name string) []int64 {
	var t *tensor
	for _, w := range m.weights {
		if w.name == name {
			t = w
		}
	}
	for _, n := range m.nodes {
		if n.op == "Constant" && n.out[0] == name {
			t = n.get("value").t
		}
	}
	if t == nil || t.kind != int64Type || t.outside {
		return nil
	}
	list := []int64{}
	for raw := t.raw; len(raw) >= 8; raw = raw[8:] {
		list = append(list, int64(binary.LittleEndian.Uint64(raw)))
	}
	if t.raw == nil { // int64_data, field 7
		if each(t.rest, func(_ protowire.Number, kind protowire.Type, v uint64, data []byte) (err error) {
			list, err = varints(list, kind, v, data)
			return err
		}) != nil {
			return nil
		}
	}
	return list
}

// window mends what looks at windows of maps.
func (m *mender) window(n *node) error {
	switch n.text("auto_pad", "NOTSET") {
	case "NOTSET":
	case "VALID":
		n.drop("pads")
	default:
		return fmt.Errorf("auto_pad %s is not taken: export it with pads", n.text("auto_pad", ""))
	}
	n.drop("auto_pad")
	if n.op == "Conv" {
		return nil
	}
	if a := n.drop("dilations"); a != nil && slices.ContainsFunc(a.ints, func(d int64) bool { return d != 1 }) {
		return fmt.Errorf("dilations %v are not taken", a.ints)
	}
	kernel := n.get("kernel_shape")
	if kernel == nil {
		return fmt.Errorf("it has no kernel_shape")
	}
	if n.get("strides") == nil {
		n.attrs = append(n.attrs, attr{name: "strides", kind: intsAttr, ints: slices.Repeat([]int64{1}, len(kernel.ints))})
	}
	if n.op == "AveragePool" {
		include := n.drop("count_include_pad")
		if include == nil || include.i == 0 {
			return nil
		}
		if pads := n.drop("pads"); pads != nil {
			half := len(pads.ints) / 2
			all := slices.Concat([]int64{0, 0}, pads.ints[:half], []int64{0, 0}, pads.ints[half:])
			n.in[0] = m.op("Pad", n.in[0], m.integers(all), m.number(0))
		}
	}
	return nil
}

// resize refuses what would be computed differently, but for a cubic one, which
// [Network.resizings] writes, and makes scales constants.
func (m *mender) resize(n *node) error {
	mode, place := n.text("mode", "nearest"), n.text("coordinate_transformation_mode", "half_pixel")
	ok := mode == "cubic" && slices.Contains(placements, place) || mode == "linear" && slices.Contains([]string{"half_pixel", "pytorch_half_pixel", "align_corners"}, place) ||
		mode == "nearest" && place == "asymmetric" && n.text("nearest_mode", "round_prefer_floor") == "floor"
	if !ok || n.int("antialias", 0) != 0 || n.get("axes") != nil || m.opset < 11 {
		return fmt.Errorf("a Resize of mode %s (%s) is not taken, only linear, nearest and cubic ones: export the network for one image size, where it is a constant", mode, place)
	}
	for i, s := range n.in {
		at := slices.IndexFunc(m.weights, func(t *tensor) bool { return t.name == s })
		if i > 0 && at >= 0 && !m.weights[at].outside && m.weights[at].kind == float32Type {
			n.in[i] = m.constant(m.weights[at])
		}
	}
	return nil
}
