package imported

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ledg-go/ledg/ceg/internal/half"
)

// Element types, onnx.TensorProto.DataType.
const (
	float32Type  = 1
	int64Type    = 7
	float16Type  = 10
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

// content is what is used of a ModelProto.
type content struct {
	opset           int
	nodes           []*node
	weights         []*tensor
	inputs, outputs []value
	functions       bool
}

// node is a NodeProto.
type node struct {
	op, name, domain string
	in, out          []string
	attrs            []attr
}

// attr is an AttributeProto; kind says which value counts.
type attr struct {
	name   string
	kind   int
	i      int64
	f      float32
	s      string
	ints   []int64
	floats []float32
	t      *tensor
}

// tensor is a TensorProto. Its numbers are in raw, or outside the file, or in the fields of their
// types, of which rest are the encoded ones.
type tensor struct {
	name     string
	dims     []int64
	kind     int
	raw      []byte
	rest     []byte
	ints     []int64 // int32_data, which float16 is in, too
	outside  bool
	half     int // the type of what lies outside, if it is to be widened
	location string
	offset   int64
	length   int64
}

// value is a ValueInfoProto of a tensor; a dimension of -1 is open.
type value struct {
	name  string
	kind  int
	dims  []int64
	shape bool
}

var errDamaged = errors.New("it is damaged")

// each calls f for the fields of a message: numbers for varints and fixed ones, bytes for others.
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

// varints appends a repeated integer, which is packed or not.
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

// parse reads a ModelProto, whose bytes it refers to.
func parse(b []byte) (*content, error) {
	g, found := &content{}, false
	err := each(b, func(num protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
		switch num {
		case 7:
			found = true
			return g.parse(data)
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
			g.functions = true
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

func (g *content) parse(b []byte) error {
	return each(b, func(num protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
		switch num {
		case 1:
			n, err := parseNode(data)
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
			return errors.New("its weights are sparse")
		}
		return nil
	})
}

func parseNode(b []byte) (*node, error) {
	n := &node{}
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
			a, err := parseAttr(data)
			n.attrs = append(n.attrs, a)
			return err
		case 7:
			n.domain = string(data)
		}
		return nil
	})
}

func parseAttr(b []byte) (attr, error) {
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
			a.t, err = parseTensor(data)
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

func parseTensor(b []byte) (*tensor, error) {
	t := &tensor{length: -1}
	err := each(b, func(num protowire.Number, kind protowire.Type, v uint64, data []byte) (err error) {
		switch num {
		case 1:
			t.dims, err = varints(t.dims, kind, v, data)
		case 2:
			t.kind = int(v)
		case 5:
			t.ints, err = varints(t.ints, kind, v, data)
		case 4, 7, 10, 11:
			if kind == protowire.BytesType {
				t.rest = protowire.AppendBytes(protowire.AppendTag(t.rest, num, kind), data)
			} else if kind == protowire.VarintType {
				t.rest = protowire.AppendVarint(protowire.AppendTag(t.rest, num, kind), v)
			} else if kind == protowire.Fixed32Type {
				t.rest = protowire.AppendFixed32(protowire.AppendTag(t.rest, num, kind), uint32(v))
			} else {
				t.rest = protowire.AppendFixed64(protowire.AppendTag(t.rest, num, kind), v)
			}
		case 8:
			t.name = string(data)
		case 9:
			t.raw = data
		case 13:
			err = t.parseOutside(data)
		case 14:
			t.outside = v == 1
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return t, t.check()
}

func (t *tensor) parseOutside(b []byte) error {
	var key, text string
	err := each(b, func(num protowire.Number, _ protowire.Type, _ uint64, data []byte) error {
		if num == 1 {
			key = string(data)
		} else if num == 2 {
			text = string(data)
		}
		return nil
	})
	switch key {
	case "location":
		t.location = text
	case "offset":
		t.offset, err = strconv.ParseInt(text, 10, 64)
	case "length":
		t.length, err = strconv.ParseInt(text, 10, 64)
	}
	return err
}

// width is the number of bytes of an element by type, 0 for those that are not taken.
func width(kind int) int64 {
	switch kind {
	case 2, 3, 9: // uint8, int8, bool
		return 1
	case 4, 5, float16Type, bfloat16Type: // uint16, int16
		return 2
	case float32Type, 6, 12: // int32, uint32
		return 4
	case int64Type, 11, 13: // double, uint64
		return 8
	}
	return 0
}

// count is the number of elements.
func (t *tensor) count() int64 {
	n := int64(1)
	for _, d := range t.dims {
		n *= d
	}
	return n
}

// check compares the shape of a tensor with what there is of it.
func (t *tensor) check() error {
	w, n := width(t.kind), int64(1)
	if w == 0 {
		return fmt.Errorf("weights %q are of type %d, which is not taken", t.name, t.kind)
	}
	for _, d := range t.dims {
		if d < 0 || d > 0 && n > math.MaxInt32/d {
			return fmt.Errorf("weights %q of shape %v are too large", t.name, t.dims)
		}
		n *= d
	}
	switch {
	case t.outside || n == 0:
		return nil
	case t.raw == nil && t.rest == nil && t.ints == nil:
		return fmt.Errorf("weights %q have no numbers", t.name)
	case t.raw != nil && int64(len(t.raw)) != w*n:
		return fmt.Errorf("weights %q of shape %v have %d bytes, want %d", t.name, t.dims, len(t.raw), w*n)
	}
	return nil
}

// widen makes float32 of what is a half-precision float.
func (t *tensor) widen() {
	from := t.kind
	if from != float16Type && from != bfloat16Type {
		return
	}
	t.kind = float32Type
	if t.outside {
		t.half = from // for when it is read
		return
	}
	raw := t.raw
	for _, v := range t.ints {
		raw = binary.LittleEndian.AppendUint16(raw[:len(raw):len(raw)], uint16(v))
	}
	t.raw, t.ints = widen(raw, from), nil
}

// widen makes float32 of the bytes of half-precision floats.
func widen(raw []byte, kind int) []byte {
	b := make([]byte, 0, 2*len(raw))
	for ; len(raw) >= 2; raw = raw[2:] {
		bits := binary.LittleEndian.Uint16(raw)
		wide := uint32(bits) << 16
		if kind == float16Type {
			wide = math.Float32bits(half.Float32(bits))
		}
		b = binary.LittleEndian.AppendUint32(b, wide)
	}
	return b
}

// stored is the type of the numbers outside.
func (t *tensor) stored() int { return cmp.Or(t.half, t.kind) }

func parseValue(b []byte) (value, error) {
	var v value
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

// message is an encoded protocol buffer.
type message []byte

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) number(field protowire.Number, v int64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
}

// encode writes the graph as a ModelProto, whose weights are "outside": their location is their
// index.
func (g *content) encode() []byte {
	var m, body, ops message
	for _, n := range g.nodes {
		body.bytes(1, n.encode())
	}
	body.text(2, "network")
	for i, t := range g.weights {
		var w message
		t.head(&w)
		if t.rest == nil && t.ints == nil {
			var e message
			e.text(1, "location")
			e.text(2, strconv.Itoa(i))
			w.bytes(13, e)
			w.number(14, 1)
		} else {
			t.body(&w)
		}
		body.bytes(5, w)
	}
	for _, v := range g.inputs {
		body.bytes(11, v.encode())
	}
	for _, v := range g.outputs {
		body.bytes(12, v.encode())
	}
	ops.text(1, "")
	ops.number(2, int64(g.opset))
	m.number(1, 8)
	m.bytes(8, ops)
	m.bytes(7, body)
	return m
}

func (n *node) encode() []byte {
	var m message
	for _, s := range n.in {
		m.text(1, s)
	}
	for _, s := range n.out {
		m.text(2, s)
	}
	m.text(3, n.name)
	m.text(4, n.op)
	m.text(7, n.domain)
	for _, a := range n.attrs {
		m.bytes(5, a.encode())
	}
	return m
}

func (a attr) encode() []byte {
	var m message
	m.text(1, a.name)
	m.number(20, int64(a.kind))
	switch a.kind {
	case floatAttr:
		m = protowire.AppendFixed32(protowire.AppendTag(m, 2, protowire.Fixed32Type), math.Float32bits(a.f))
	case intAttr:
		m.number(3, a.i)
	case stringAttr:
		m.text(4, a.s)
	case tensorAttr:
		var t message
		a.t.head(&t)
		a.t.body(&t)
		m.bytes(5, t)
	case floatsAttr:
		for _, f := range a.floats {
			m = protowire.AppendFixed32(protowire.AppendTag(m, 7, protowire.Fixed32Type), math.Float32bits(f))
		}
	case intsAttr:
		for _, i := range a.ints {
			m.number(8, i)
		}
	}
	return m
}

func (t *tensor) head(m *message) {
	for _, d := range t.dims {
		m.number(1, d)
	}
	m.number(2, int64(t.kind))
	m.text(8, t.name)
}

func (t *tensor) body(m *message) {
	for _, v := range t.ints {
		m.number(5, v)
	}
	*m = slices.Concat(*m, t.rest)
	if t.raw != nil {
		m.bytes(9, t.raw)
	}
}

func (v value) encode() []byte {
	var m, kind, tensor, shape message
	for _, d := range v.dims {
		var dim message
		if d >= 0 {
			dim.number(1, d)
		}
		shape.bytes(1, dim)
	}
	tensor.number(1, int64(v.kind))
	if v.shape {
		tensor.bytes(2, shape)
	}
	kind.bytes(1, tensor)
	m.text(1, v.name)
	m.bytes(2, kind)
	return m
}
