package imported

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// operations are the supported ones. For images they compute what the format specifies. Each
// operation of onnx-gomlx is included if it was compared with ONNX Runtime.
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

// mend rewrites nodes so that onnx-gomlx computes what the format specifies. It refuses nodes that
// onnx-gomlx would compute differently.
func (n *Network) mend() error {
	if n.mended {
		return nil
	}
	if n.graph.opset > newestOpset || n.graph.version > newestFormat {
		return fmt.Errorf("it is of opset %d and version %d of the format, and %d and %d are known here; export it with an older opset", n.graph.opset, n.graph.version, newestOpset, newestFormat)
	}
	if n.graph.functional {
		return errors.New("it defines functions, which are not supported: export it with its functions inlined")
	}
	if n.known == nil {
		n.known = map[string]resizing{}
	}
	m := &mender{content: n.graph, sequences: map[string]sequence{}}
	for _, t := range n.graph.weights {
		t.widen()
	}
	old := n.graph.nodes
	n.graph.nodes = nil
	for _, x := range old {
		for i := range x.attrs {
			if t := x.attrs[i].t; t != nil {
				if t.outside {
					return fmt.Errorf("node %q: a constant outside the file is not supported", x.name)
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

// node mends one node. Nodes that it adds come before it.
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
				return fmt.Errorf("a constant in the attribute %s is not supported", a.name)
			}
			n.attrs = []attr{{name: "value", kind: tensorAttr, t: t}}
		}
	case "CastLike":
		kind := m.kind(in(1))
		n.become("Cast", x)
		n.attrs = []attr{{name: "to", kind: intAttr, i: int64(kind)}}
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
			return fmt.Errorf("padding of chosen axes is not supported")
		}
	case "Range": // onnx-gomlx computes its length on another backend than [lowered]
		if step := m.constants(in(2)); len(step) == 1 && step[0] > 0 {
			length := m.op("Div", m.op("Add", m.op("Sub", in(1), x), m.scalar(step[0]-1)), m.scalar(step[0]))
			n.become("Add", m.op("Mul", m.count(m.with("Unsqueeze", 0, length), false), m.scalar(step[0])), x)
		} else {
			return fmt.Errorf("a step that is no positive integer constant is not supported")
		}
	case "Slice":
		if len(n.in) > 4 {
			return m.slice(n)
		}
	case "Split":
		if a := n.drop("split"); a != nil {
			n.in = []string{x, m.integers(a.ints)}
		}
	case "SplitToSequence": // written by PyTorch's newer exporter without optimisation
		if len(n.out) == 1 && n.int("keepdims", 1) == 1 {
			sizes, scalar := m.shaped(in(1))
			m.sequences[n.out[0]] = sequence{of: x, axis: n.int("axis", 0), sizes: sizes.int64s(), equal: scalar}
			n.become("Identity", x)
		}
	case "SequenceAt":
		if s, ok := m.sequences[x]; ok {
			from, to, err := s.part(m.constants(in(1)))
			if err != nil {
				return err
			}
			n.become("Slice", s.of, m.integers([]int64{from}), m.integers([]int64{to}), m.integers([]int64{s.axis}))
		}
	case "BatchNormalization":
		n.drop("momentum")
	case "Conv", "MaxPool", "AveragePool":
		return m.window(n)
	case "Einsum":
		if a := n.get("equation"); a != nil { // spaces in it have no meaning
			a.s = strings.ReplaceAll(a.s, " ", "")
		}
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
	case "IsNaN":
		n.become("Not", m.op("Equal", x, x))
	case "LeakyRelu":
		n.become("Add", m.op("Max", m.number(0), x), m.op("Mul", m.op("Min", m.number(0), x), m.number(n.float("alpha", 0.01))))
	case "PRelu":
		n.become("Add", m.op("Max", m.number(0), x), m.op("Mul", m.op("Min", m.number(0), x), in(1)))
	case "Elu":
		e := m.op("Sub", m.op("Exp", m.op("Min", m.number(0), x)), m.number(1))
		n.become("Add", m.op("Max", m.number(0), x), m.op("Mul", e, m.number(n.float("alpha", 1))))
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

// sequence is a value that is split along an axis, by sizes, or evenly except for the last part.
type sequence struct {
	of    string
	axis  int64
	sizes []int64
	equal bool
}

// part returns the start and end of one part, clipped to the axis.
func (s sequence) part(at []int64) (from, to int64, err error) {
	if len(at) != 1 || len(s.sizes) == 0 || s.equal && at[0] < 0 {
		return 0, 0, fmt.Errorf("SequenceAt: indices %v of a sequence of sizes %v are not supported, only constant ones", at, s.sizes)
	}
	i, count := at[0], int64(len(s.sizes))
	if s.equal {
		return i * s.sizes[0], (i + 1) * s.sizes[0], nil
	}
	if i < 0 {
		i += count
	}
	if i < 0 || i >= count {
		return 0, 0, fmt.Errorf("SequenceAt: index %d of a sequence of %d", at[0], count)
	}
	for _, size := range s.sizes[:i] {
		from += size
	}
	return from, from + s.sizes[i], nil
}

// softplus is log(1 + exp(x)), without overflow.
func (m *mender) softplus(x string) string {
	return m.op("Add", m.op("Relu", x), m.op("Log", m.op("Add", m.op("Exp", m.op("Neg", m.op("Abs", x))), m.number(1))))
}
