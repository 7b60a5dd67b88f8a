package onnx

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

const (
	irVersion = 8
	opset     = 17

	// Element types, onnx.TensorProto.DataType.
	float32Type = 1
	uint8Type   = 2
)

// message is an encoded protocol buffer.
type message []byte

func (m *message) text(field protowire.Number, s string) {
	*m = protowire.AppendString(protowire.AppendTag(*m, field, protowire.BytesType), s)
}

func (m *message) bytes(field protowire.Number, b []byte) {
	*m = protowire.AppendBytes(protowire.AppendTag(*m, field, protowire.BytesType), b)
}

func (m *message) number(field protowire.Number, v int) {
	*m = protowire.AppendVarint(protowire.AppendTag(*m, field, protowire.VarintType), uint64(v))
}

// ints, integer and float are a node's attributes (AttributeProto).
func ints(name string, values ...int) message {
	var m message
	m.text(1, name)
	for _, v := range values {
		m.number(8, v)
	}
	m.number(20, 7) // INTS
	return m
}

func integer(name string, v int) message {
	var m message
	m.text(1, name)
	m.number(3, v)
	m.number(20, 2) // INT
	return m
}

func float(name string, v float32) message {
	var m message
	m.text(1, name)
	m = protowire.AppendFixed32(protowire.AppendTag(m, 2, protowire.Fixed32Type), math.Float32bits(v))
	m.number(20, 1) // FLOAT
	return m
}

// node is a NodeProto with one output, whose name is the node's name, too.
func node(op, output string, inputs []string, attributes []message) message {
	var m message
	for _, name := range inputs {
		m.text(1, name)
	}
	m.text(2, output)
	m.text(3, output)
	m.text(4, op)
	for _, a := range attributes {
		m.bytes(5, a)
	}
	return m
}

// tensor is a float32 value that is part of the file.
type tensor struct {
	name   string
	shape  []int
	values []float32
}

// append adds the tensor as a TensorProto in a field of m.
func (t tensor) append(m *message, field protowire.Number) {
	var head message
	for _, d := range t.shape {
		head.number(1, d)
	}
	head.number(2, float32Type)
	head.text(8, t.name)
	// The values are most of the file: they are written without a copy.
	size := 4 * len(t.values)
	*m = protowire.AppendTag(*m, field, protowire.BytesType)
	*m = protowire.AppendVarint(*m, uint64(len(head)+protowire.SizeTag(9)+protowire.SizeBytes(size)))
	*m = append(*m, head...)
	*m = protowire.AppendTag(*m, 9, protowire.BytesType)
	*m = protowire.AppendVarint(*m, uint64(size))
	for _, v := range t.values {
		*m = binary.LittleEndian.AppendUint32(*m, math.Float32bits(v))
	}
}

// port is a ValueInfoProto: an input or output with a free first axis.
func port(name, doc string, elem int, dims ...int) message {
	var shape, batch, kind, tensorType, m message
	batch.text(2, "batch")
	shape.bytes(1, batch)
	for _, d := range dims {
		var dim message
		dim.number(1, d)
		shape.bytes(1, dim)
	}
	tensorType.number(1, elem)
	tensorType.bytes(2, shape)
	kind.bytes(1, tensorType)
	m.text(1, name)
	m.bytes(2, kind)
	m.text(3, doc)
	return m
}

// model encodes the whole file, a ModelProto.
func (b *builder) model(classes, features int) []byte {
	size := 1 << 16
	for _, i := range b.weights {
		size += 4*len(b.n.Values[i]) + 128
	}
	g := make(message, 0, size)
	for _, n := range b.nodes {
		g.bytes(1, n)
	}
	g.text(2, b.n.Name)
	for _, i := range b.weights {
		p := b.n.Params[i]
		tensor{p.Name, p.Shape, b.n.Values[i]}.append(&g, 5)
	}
	for _, t := range b.constants {
		t.append(&g, 5)
	}
	for _, t := range b.encoded {
		g.bytes(5, t)
	}
	s := b.n.ImageSize
	if b.n.Input == Uint8 {
		g.bytes(11, port(ImageInput, "RGB bytes, 0 to 255", uint8Type, s, s, 3))
	} else {
		g.bytes(11, port(ImageInput, "RGB, 0 to 1", float32Type, 3, s, s))
	}
	g.bytes(12, port(ProbsOutput, "class probabilities, in the order of the names in the metadata", float32Type, classes))
	g.bytes(12, port(LogitsOutput, "class logits, before the temperature", float32Type, classes))
	g.bytes(12, port(FeaturesOutput, "features of the backbone", float32Type, features))

	m := make(message, 0, len(g)+1<<12)
	m.number(1, irVersion)
	m.text(2, "ledg")
	m.bytes(7, g)
	var ops message
	ops.text(1, "")
	ops.number(2, b.opset)
	m.bytes(8, ops)
	for _, domain := range b.domains {
		var ops message
		ops.text(1, domain)
		ops.number(2, 1)
		m.bytes(8, ops)
	}
	for _, kv := range b.n.Metadata {
		var entry message
		entry.text(1, kv[0])
		entry.text(2, kv[1])
		m.bytes(14, entry)
	}
	return m
}
