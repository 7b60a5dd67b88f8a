package imported

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Element types, onnx.TensorProto.DataType.
const (
	float32Type  = 1
	uint8Type    = 2
	int32Type    = 6
	int64Type    = 7
	boolType     = 9
	float16Type  = 10
	doubleType   = 11
	bfloat16Type = 16
)

// Attribute types, onnx.AttributeProto.AttributeType.
const (
	floatAttr  = 1
	intAttr    = 2
	stringAttr = 3
	tensorAttr = 4
	floatsAttr = 6
	intsAttr   = 7
)

// content is the used part of a ModelProto.
type content struct {
	opset           int
	nodes           []*node
	original        []*node // the nodes before mend
	weights         []*tensor
	inputs, outputs []value
	functional      bool // it defines functions
	functions       []*node
	// head has the encoded fields of the ModelProto, except the graph, the version and training
	// information. rest has the fields of the GraphProto that are not listed above. version is the
	// IR version.
	head, rest []byte
	version    int64
}

// node is a NodeProto.
type node struct {
	op, name, domain string
	in, out          []string
	attrs            []attr
	source           []byte // encoded, as in weights and values
}

// attr is an AttributeProto; kind selects its value.
type attr struct {
	name   string
	kind   int
	i      int64
	f      float32
	s      string
	ints   []int64
	floats []float32
	t      *tensor
	list   []*tensor
	graphs []*content
}

// tensor is a TensorProto. Its numbers are in raw, in an external file, or in the fields by type.
// rest has the encoded fields.
type tensor struct {
	name     string
	dims     []int64
	kind     int
	raw      []byte
	rest     []byte
	ints     []int64 // int32_data, also for float16
	outside  bool
	half     int // the type of external numbers to widen
	location string
	offset   int64
	length   int64
	source   []byte
}

// value is a ValueInfoProto of a tensor; a dimension of -1 is open.
type value struct {
	name  string
	kind  int
	dims  []int64
	shape bool

	source []byte
}

var (
	errDamaged = errors.New("it is damaged")
	errSparse  = errors.New("its weights are sparse")
)

// each calls f for the fields of a message, with a number for varints and fixed-size fields, with
// bytes for others.
func each(b []byte, f func(field protowire.Number, kind protowire.Type, v uint64, data []byte) error) error {
	for len(b) > 0 {
		num, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errDamaged
		}
		b = b[n:]
		var v uint64
		var data []byte
		switch kind {
		case protowire.VarintType:
			v, n = protowire.ConsumeVarint(b)
		case protowire.Fixed32Type:
			var x uint32
			x, n = protowire.ConsumeFixed32(b)
			v = uint64(x)
		case protowire.Fixed64Type:
			v, n = protowire.ConsumeFixed64(b)
		case protowire.BytesType:
			data, n = protowire.ConsumeBytes(b)
		default:
			return errDamaged
		}
		if n < 0 {
			return errDamaged
		}
		b = b[n:]
		if err := f(num, kind, v, data); err != nil {
			return err
		}
	}
	return nil
}

// appendField appends a field as [each] reads it.
func appendField(b []byte, field protowire.Number, kind protowire.Type, v uint64, data []byte) []byte {
	b = protowire.AppendTag(b, field, kind)
	switch kind {
	case protowire.BytesType:
		return protowire.AppendBytes(b, data)
	case protowire.VarintType:
		return protowire.AppendVarint(b, v)
	case protowire.Fixed32Type:
		return protowire.AppendFixed32(b, uint32(v))
	}
	return protowire.AppendFixed64(b, v)
}

// varints appends a repeated integer, packed or not.
func varints(list []int64, kind protowire.Type, v uint64, data []byte) ([]int64, error) {
	if kind != protowire.BytesType {
		return append(list, int64(v)), nil
	}
	for len(data) > 0 {
		v, n := protowire.ConsumeVarint(data)
		if n < 0 {
			return nil, errDamaged
		}
		list, data = append(list, int64(v)), data[n:]
	}
	return list, nil
}

// parse reads a ModelProto and keeps references to its bytes.
func parse(b []byte) (*content, error) {
	g, found := &content{}, false
	err := each(b, func(num protowire.Number, kind protowire.Type, v uint64, data []byte) error {
		switch num {
		case 1:
			g.version = int64(v)
			return nil
		case 7:
			found = true
			return g.parse(data, 0)
		case 20:
			return nil
		}
		g.head = appendField(g.head, num, kind, v, data)
		switch num {
		case 8:
			var domain string
			var version int
			if err := each(data, func(num protowire.Number, _ protowire.Type, v uint64, data []byte) error {
				if num == 1 {
					domain = string(data)
				} else if num == 2 {
					version = int(v)
				}
				return nil
			}); err != nil {
				return err
			}
			if domain == "" || domain == "ai.onnx" {
				g.opset = version
			}
		case 25:
			g.functional = true
			return each(data, func(num protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
				if num != 7 {
					return nil
				}
				n, err := parseNode(data, 0)
				g.functions = append(g.functions, n)
				return err
			})
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case !found || g.opset == 0 || len(g.nodes) == 0:
		return nil, errors.New("it has no graph")
	}
	return g, nil
}

// deepest limits the depth of nested graphs, since each needs stack.
const deepest = 16

func (g *content) parse(b []byte, depth int) error {
	if depth > deepest {
		return fmt.Errorf("it has graphs in graphs, more than %d deep", deepest)
	}
	return each(b, func(num protowire.Number, kind protowire.Type, v uint64, data []byte) error {
		switch num {
		case 1:
			n, err := parseNode(data, depth)
			g.nodes = append(g.nodes, n)
			return err
		case 5:
			t, err := parseTensor(data)
			g.weights = append(g.weights, t)
			return err
		case 11, 12:
			v, err := parseValue(data)
			if num == 11 {
				g.inputs = append(g.inputs, v)
			} else {
				g.outputs = append(g.outputs, v)
			}
			return err
		case 15:
			return errSparse
		default:
			g.rest = appendField(g.rest, num, kind, v, data)
		}
		return nil
	})
}

func parseNode(b []byte, depth int) (*node, error) {
	n := &node{source: b}
	return n, each(b, func(num protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
		switch num {
		case 1:
			n.in = append(n.in, string(data))
		case 2:
			n.out = append(n.out, string(data))
		case 3:
			n.name = string(data)
		case 4:
			n.op = string(data)
		case 5:
			a, err := parseAttr(data, depth)
			n.attrs = append(n.attrs, a)
			return err
		case 7:
			n.domain = string(data)
		}
		return nil
	})
}

func parseAttr(b []byte, depth int) (attr, error) {
	var a attr
	err := each(b, func(num protowire.Number, kind protowire.Type, v uint64, data []byte) (err error) {
		switch num {
		case 1:
			a.name = string(data)
		case 2:
			a.f = math.Float32frombits(uint32(v))
		case 3:
			a.i = int64(v)
		case 4:
			a.s = string(data)
		case 5:
			if a.t != nil { // parsers differ on which one counts
				return fmt.Errorf("an attribute %q holds its tensor twice", a.name)
			}
			a.t, err = parseTensor(data)
		case 6, 11:
			g := &content{}
			a.graphs, err = append(a.graphs, g), g.parse(data, depth+1)
		case 10:
			var t *tensor
			t, err = parseTensor(data)
			a.list = append(a.list, t)
		case 22, 23:
			err = errSparse
		case 7:
			if kind != protowire.BytesType {
				a.floats = append(a.floats, math.Float32frombits(uint32(v)))
			}
			for ; len(data) >= 4; data = data[4:] {
				a.floats = append(a.floats, math.Float32frombits(binary.LittleEndian.Uint32(data)))
			}
		case 8:
			a.ints, err = varints(a.ints, kind, v, data)
		case 20:
			a.kind = int(v)
		}
		return err
	})
	if err == nil && a.kind == tensorAttr && a.t == nil {
		err = errDamaged
	}
	return a, err
}

func parseValue(b []byte) (value, error) {
	v := value{source: b}
	err := each(b, func(num protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
		if num == 1 {
			v.name = string(data)
		}
		if num != 2 {
			return nil
		}
		return each(data, func(num protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
			if num != 1 { // a tensor
				return nil
			}
			return each(data, func(num protowire.Number, _ protowire.Type, n uint64, data []byte) error {
				if num == 1 {
					v.kind = int(n)
				}
				if num != 2 {
					return nil
				}
				v.shape = true
				return each(data, func(_ protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
					d := int64(-1)
					err := each(data, func(num protowire.Number, _ protowire.Type, n uint64, _ []byte) error {
						if num == 1 {
							d = int64(n)
						}
						return nil
					})
					v.dims = append(v.dims, d)
					return err
				})
			})
		})
	})
	return v, err
}
