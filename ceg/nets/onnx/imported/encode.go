package imported

import (
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// message is an encoded protocol buffer.
type message []byte

func (m *message) text(field protowire.Number, s string) { m.bytes(field, []byte(s)) }

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) number(field protowire.Number, v int64) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
}

// encode writes the graph as a ModelProto with external weights: the location of a weight is its
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
