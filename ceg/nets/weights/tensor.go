package weights

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/ledg-go/ledg/datasets/arrays/half"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

// Tensor is a named array as stored in a file.
type Tensor struct {
	// Name is the key in the state dict, for example "layer1.0.conv1.weight".
	Name string
	// DType is the type of the elements as stored.
	DType safetensors.DType
	// Shape has one number for each axis and is empty for a scalar.
	Shape []int
	// Data holds the elements, little-endian and in C order.
	Data []byte
}

// Len returns the number of elements, 1 for a scalar.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d
	}
	return n
}

// FromFloat32 returns a float32 tensor with a copy of the values, in C order. It panics if their
// number does not match the shape.
func FromFloat32(name string, shape []int, values []float32) Tensor {
	t := Tensor{Name: name, DType: safetensors.Float32, Shape: append([]int{}, shape...)}
	if t.Len() != len(values) {
		panic(fmt.Sprintf("weights: tensor %q of shape %v needs %d values, got %d", name, shape, t.Len(), len(values)))
	}
	t.Data = safetensors.AppendFloats(nil, values)
	return t
}

// Float32s converts a floating-point tensor to float32, in C order. float16 and bfloat16 convert
// exactly; float64 is rounded to nearest even, and a finite value beyond float32 becomes an
// infinity, which [Assign] refuses. Other element types are an error.
func (t Tensor) Float32s() ([]float32, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	out := make([]float32, t.Len())
	le := binary.LittleEndian
	switch t.DType {
	case safetensors.Float32:
		safetensors.Floats(out, t.Data)
	case safetensors.Float16:
		for i := range out {
			out[i] = half.Float32(le.Uint16(t.Data[2*i:]))
		}
	case safetensors.BFloat16:
		for i := range out {
			out[i] = math.Float32frombits(uint32(le.Uint16(t.Data[2*i:])) << 16)
		}
	case safetensors.Float64:
		for i := range out {
			out[i] = float32(math.Float64frombits(le.Uint64(t.Data[8*i:])))
		}
	default:
		return nil, fmt.Errorf("tensor %q: element type %s is not floating point", t.Name, t.DType)
	}
	return out, nil
}

// check reports whether the data fit the type and the shape, which they always
// do in a state dict that this package has read.
func (t Tensor) check() error {
	if want := t.Len() * t.DType.Size(); len(t.Data) != want || t.DType.Size() == 0 {
		return fmt.Errorf("tensor %q: %s %v needs %d bytes, got %d", t.Name, t.DType, t.Shape, want, len(t.Data))
	}
	return nil
}

// StateDict is a list of tensors with distinct names, in the file's order.
type StateDict []Tensor

// Lookup returns the tensor of that name; the bool is false if there is none.
func (sd StateDict) Lookup(name string) (Tensor, bool) {
	for _, t := range sd {
		if t.Name == name {
			return t, true
		}
	}
	return Tensor{}, false
}

// Names returns the tensors' names in order.
func (sd StateDict) Names() []string {
	names := make([]string, len(sd))
	for i, t := range sd {
		names[i] = t.Name
	}
	return names
}

// CheckFinite returns an error for the first NaN or infinity among the values, with the tensor's
// name and the flat index in C order.
func CheckFinite(name string, values []float32) error {
	for i, v := range values {
		if v-v != 0 { // NaN and both infinities, nothing else
			return fmt.Errorf("tensor %q: element %d is %v, want a finite number", name, i, v)
		}
	}
	return nil
}
