package imported

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// mender adds nodes to a graph.
type mender struct {
	*content
	added     int
	sequences map[string]sequence
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

// mean averages [n, c, length] over its last axis, to [n, c, 1]. column reshapes [c] to [c, 1].
func (m *mender) mean(x string) string   { return m.with("ReduceMean", 2, x) }
func (m *mender) column(x string) string { return m.with("Unsqueeze", 1, x) }

// with adds an operation with the attribute axis.
func (m *mender) with(op string, axis int64, x string) string {
	out := m.op(op, x)
	m.nodes[len(m.nodes)-1].attrs = []attr{{name: "axes", kind: intsAttr, ints: []int64{axis}}}
	return out
}

// count adds the integers from 0 up to a length, a vector of one integer, or the same in reverse.
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

// constants returns the integers of a constant, or nil. A reshaped constant, as PyTorch's newer
// exporter writes it, counts too.
func (m *mender) constants(name string) []int64 {
	t, _ := m.shaped(name)
	return t.int64s()
}

// shaped returns a constant, or nil, and whether it is reshaped to a scalar.
func (m *mender) shaped(name string) (t *tensor, scalar bool) {
	for _, w := range m.weights {
		if w.name == name {
			t = w
		}
	}
	for _, n := range m.nodes {
		if len(n.out) == 0 || n.out[0] != name || n.op != "Constant" && len(n.in) == 0 {
			continue
		}
		switch n.op {
		case "Constant":
			if a := n.get("value"); a != nil {
				t = a.t
			}
		case "Cast":
			if t, scalar = m.shaped(n.in[0]); n.int("to", 0) != int64Type || t == nil {
				return nil, false
			}
			if v, err := t.float32s(t.raw); t.kind == float32Type && !t.outside && err == nil {
				list := make([]int64, len(v))
				for i := range v {
					list[i] = int64(v[i])
				}
				t = integers(list)
			}
			return t, scalar
		case "Reshape", "Unsqueeze", "Squeeze", "Identity":
			t, scalar = m.shaped(n.in[0])
			return t, n.op == "Squeeze" || n.op == "Identity" && scalar
		}
	}
	return t, t != nil && len(t.dims) == 0
}

// int64s returns a tensor's integers, nil if it has another type or is stored outside of the file.
func (t *tensor) int64s() []int64 {
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

// kind returns the element type of a value if it can be derived from the node that computes it,
// or else float32, the type of images. It follows only earlier nodes, so it ends on a cycle.
func (m *mender) kind(name string) int {
	for before := len(m.nodes); ; {
		for _, w := range m.weights {
			if w.name == name {
				return w.kind
			}
		}
		at := slices.IndexFunc(m.nodes[:before], func(n *node) bool { return slices.Contains(n.out, name) })
		if at < 0 {
			return float32Type
		}
		n, like := m.nodes[at], 0 // the input with the same type
		before = at
		switch n.op {
		case "Constant", "ConstantOfShape":
			if a := n.get("value"); a != nil && a.t != nil {
				return a.t.kind
			}
		case "Cast":
			return int(n.int("to", float32Type))
		case "Shape", "Size", "ArgMax", "ArgMin":
			return int64Type
		case "And", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "Or":
			return boolType
		case "Where":
			like = 1
		}
		if like >= len(n.in) {
			return float32Type
		}
		name = n.in[like]
	}
}
