// Package onnxpb has the messages of ONNX files, as far as ledg reads and writes them.
//
// google.golang.org/protobuf encodes the structs by their tags, which follow onnx.proto (IR version
// 13, github.com/onnx/onnx). It keeps fields that are not listed as they are.
package onnxpb

import (
	"encoding/binary"
	"math"
	"slices"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/protoadapt"
)

// Element types, onnx.TensorProto.DataType.
const (
	Float32  = 1
	Uint8    = 2
	Int32    = 6
	Int64    = 7
	Float16  = 10
	BFloat16 = 16
)

// Model is a ModelProto: a file.
type Model struct {
	Version          int64       `protobuf:"varint,1,opt,name=ir_version,proto3"`
	Producer         string      `protobuf:"bytes,2,opt,name=producer_name,proto3"`
	Graph            *Graph      `protobuf:"bytes,7,opt,name=graph,proto3"`
	Opsets           []*Opset    `protobuf:"bytes,8,rep,name=opset_import,proto3"`
	Metadata         []*Pair     `protobuf:"bytes,14,rep,name=metadata_props,proto3"`
	Functions        []*Function `protobuf:"bytes,25,rep,name=functions,proto3"`
	XXX_unrecognized []byte
}

// Opset is an OperatorSetIdProto, Pair a StringStringEntryProto, Function a FunctionProto.
type (
	Opset struct {
		Domain  string `protobuf:"bytes,1,opt,name=domain,proto3"`
		Version int64  `protobuf:"varint,2,opt,name=version,proto3"`
	}
	Pair struct {
		Key   string `protobuf:"bytes,1,opt,name=key,proto3"`
		Value string `protobuf:"bytes,2,opt,name=value,proto3"`
	}
	Function struct {
		Nodes            []*Node `protobuf:"bytes,7,rep,name=node,proto3"`
		XXX_unrecognized []byte
	}
)

// Graph is a GraphProto. Weights are its initializers.
type Graph struct {
	Nodes            []*Node   `protobuf:"bytes,1,rep,name=node,proto3"`
	Name             string    `protobuf:"bytes,2,opt,name=name,proto3"`
	Weights          []*Tensor `protobuf:"bytes,5,rep,name=initializer,proto3"`
	Inputs           []*Value  `protobuf:"bytes,11,rep,name=input,proto3"`
	Outputs          []*Value  `protobuf:"bytes,12,rep,name=output,proto3"`
	XXX_unrecognized []byte
}

// Node is a NodeProto: an operation on named values.
type Node struct {
	In               []string     `protobuf:"bytes,1,rep,name=input,proto3"`
	Out              []string     `protobuf:"bytes,2,rep,name=output,proto3"`
	Name             string       `protobuf:"bytes,3,opt,name=name,proto3"`
	Op               string       `protobuf:"bytes,4,opt,name=op_type,proto3"`
	Attributes       []*Attribute `protobuf:"bytes,5,rep,name=attribute,proto3"`
	Domain           string       `protobuf:"bytes,7,opt,name=domain,proto3"`
	XXX_unrecognized []byte
}

// Attribute is an AttributeProto; Type selects its value.
type Attribute struct {
	Name             string    `protobuf:"bytes,1,opt,name=name,proto3"`
	Float            float32   `protobuf:"fixed32,2,opt,name=f,proto3"`
	Int              int64     `protobuf:"varint,3,opt,name=i,proto3"`
	Tensor           *Tensor   `protobuf:"bytes,5,opt,name=t,proto3"`
	Graph            *Graph    `protobuf:"bytes,6,opt,name=g,proto3"`
	Ints             []int64   `protobuf:"varint,8,rep,name=ints"`
	Tensors          []*Tensor `protobuf:"bytes,10,rep,name=tensors,proto3"`
	Graphs           []*Graph  `protobuf:"bytes,11,rep,name=graphs,proto3"`
	Type             int32     `protobuf:"varint,20,opt,name=type,proto3"`
	XXX_unrecognized []byte
}

// Tensor is a TensorProto. Its numbers are Raw (little-endian), in a field by type, or in a file that
// External describes where Location is 1.
type Tensor struct {
	Dims             []int64   `protobuf:"varint,1,rep,name=dims"`
	Type             int32     `protobuf:"varint,2,opt,name=data_type,proto3"`
	Floats           []float32 `protobuf:"fixed32,4,rep,packed,name=float_data,proto3"`
	Name             string    `protobuf:"bytes,8,opt,name=name,proto3"`
	Raw              []byte    `protobuf:"bytes,9,opt,name=raw_data,proto3"`
	External         []*Pair   `protobuf:"bytes,13,rep,name=external_data,proto3"`
	Location         int32     `protobuf:"varint,14,opt,name=data_location,proto3"`
	XXX_unrecognized []byte
}

// Value is a ValueInfoProto, of a tensor.
type Value struct {
	Name             string `protobuf:"bytes,1,opt,name=name,proto3"`
	Type             *Type  `protobuf:"bytes,2,opt,name=type,proto3"`
	Doc              string `protobuf:"bytes,3,opt,name=doc_string,proto3"`
	XXX_unrecognized []byte
}

// Type is a TypeProto, TensorType a TypeProto.Tensor, Shape a TensorShapeProto, and Dim one of its
// dimensions, with a number, a name or neither.
type (
	Type struct {
		Tensor           *TensorType `protobuf:"bytes,1,opt,name=tensor_type,proto3"`
		XXX_unrecognized []byte
	}
	TensorType struct {
		Element int32  `protobuf:"varint,1,opt,name=elem_type,proto3"`
		Shape   *Shape `protobuf:"bytes,2,opt,name=shape,proto3"`
	}
	Shape struct {
		Dims []*Dim `protobuf:"bytes,1,rep,name=dim,proto3"`
	}
	Dim struct {
		Value *int64  `protobuf:"varint,1,opt,name=dim_value"`
		Name  *string `protobuf:"bytes,2,opt,name=dim_param"`
	}
)

// Reset, String and ProtoMessage implement protoadapt.MessageV1.
func (m *Model) Reset()         { *m = Model{} }
func (m *Model) String() string { return "an ONNX network" }
func (m *Model) ProtoMessage()  {}

// deepest limits how deep messages are nested, such as graphs in graphs.
const deepest = 100

// Parse reads a file.
func Parse(b []byte) (*Model, error) {
	m := &Model{}
	return m, proto.UnmarshalOptions{RecursionLimit: deepest}.Unmarshal(b, protoadapt.MessageV2Of(m))
}

// Encode writes a file. Equal messages give equal bytes.
func (m *Model) Encode() ([]byte, error) {
	return proto.MarshalOptions{Deterministic: true}.Marshal(protoadapt.MessageV2Of(m))
}

// Ints, Int, Float and Constant are attributes; the last is that of an operation Constant.
func Ints[T int | int64](name string, v ...T) *Attribute {
	return &Attribute{Name: name, Ints: Int64s(v...), Type: 7}
}

func Int(name string, v int) *Attribute       { return &Attribute{Name: name, Int: int64(v), Type: 2} }
func Float(name string, v float32) *Attribute { return &Attribute{Name: name, Float: v, Type: 1} }
func Constant(t *Tensor) *Attribute           { return &Attribute{Name: "value", Tensor: t, Type: 4} }

// Get returns an attribute; a zero one if it is not there.
func (n *Node) Get(name string) *Attribute {
	if i := slices.IndexFunc(n.Attributes, func(a *Attribute) bool { return a.Name == name }); i >= 0 {
		return n.Attributes[i]
	}
	return &Attribute{}
}

// Floats is a tensor of a shape, Integers a vector of int64.
func Floats(name string, shape []int, v ...float32) *Tensor {
	return &Tensor{Name: name, Dims: Int64s(shape...), Type: Float32, Raw: raw(v)}
}

func Integers(v ...int64) *Tensor {
	return &Tensor{Dims: []int64{int64(len(v))}, Type: Int64, Raw: raw(v)}
}

func raw(v any) []byte {
	b, err := binary.Append([]byte{}, binary.LittleEndian, v)
	if err != nil {
		panic(err) // numbers have a size
	}
	return b
}

// Int64s converts numbers.
func Int64s[T int | int64](v ...T) (list []int64) {
	for _, x := range v {
		list = append(list, int64(x))
	}
	return list
}

// NewValue describes a tensor value; a dimension below 0 is open.
func NewValue(name, doc string, element int32, dims ...int64) *Value {
	s := &Shape{}
	for _, d := range dims {
		if d < 0 {
			s.Dims = append(s.Dims, &Dim{})
		} else {
			s.Dims = append(s.Dims, &Dim{Value: &d})
		}
	}
	return &Value{Name: name, Doc: doc, Type: &Type{Tensor: &TensorType{Element: element, Shape: s}}}
}

// Tensor returns the element type and the dimensions of a value, -1 for open ones; nil for a value
// without a shape, and for one that is not a tensor.
func (v *Value) Tensor() (element int, dims []int64) {
	if v.Type == nil || v.Type.Tensor == nil {
		return 0, nil
	}
	if element = int(v.Type.Tensor.Element); v.Type.Tensor.Shape == nil {
		return element, nil
	}
	dims = []int64{}
	for _, d := range v.Type.Tensor.Shape.Dims {
		n := int64(-1)
		if d.Value != nil {
			n = *d.Value
		}
		dims = append(dims, n)
	}
	return element, dims
}

// Count is the number of elements of a tensor, 0 where it is more than an int has.
func (t *Tensor) Count() int {
	n := int64(1)
	for _, d := range t.Dims {
		if d < 0 || d > 0 && n > math.MaxInt32/d {
			return 0
		}
		n *= d
	}
	return int(n)
}
