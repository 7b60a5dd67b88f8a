package nettest

import (
	"math"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/datasets/arrays/npztest"
)

// Arrays are the arrays of a .npz file.
type Arrays struct{ npztest.File }

// Open reads a .npz file.
func Open(t *testing.T, path string) Arrays { t.Helper(); return Arrays{npztest.Open(t, path)} }

// Ints reads an array of int64 as int32.
func (a Arrays) Ints(name string) (v []int32) {
	a.Helper()
	for _, x := range a.File.Ints(name) {
		v = append(v, int32(x))
	}
	return v
}

// Values reads an array with its own element type.
func Values[T any](a Arrays, name string) []T { a.Helper(); return npztest.Read[T](a.File, name) }

// Tensor reads an array as an input of a step: images channels-last, integers as int32, bytes
// that are not images as float32.
func (a Arrays) Tensor(name string) *tensors.Tensor {
	a.Helper()
	shape := a.Shape(name)
	switch kind := a.Type(name); kind {
	case "<f4":
		v, shape := channelsLast(a.Floats(name), shape)
		return tensors.FromFlatDataAndDimensions(v, shape...)
	case "|u1":
		if len(shape) != 4 { // yes or no, not pixels
			return tensors.FromFlatDataAndDimensions(converted(Values[uint8](a, name)), shape...)
		}
		v, shape := channelsLast(Values[uint8](a, name), shape)
		return tensors.FromFlatDataAndDimensions(v, shape...)
	case "<i8":
		return tensors.FromFlatDataAndDimensions(a.Ints(name), shape...)
	default:
		a.Fatalf("%s has type %s", name, kind)
		return nil
	}
}

// LikeTensor returns the numbers of an array's [Arrays.Tensor].
func (a Arrays) LikeTensor(name string) []float32 {
	a.Helper()
	return Floats(a.Tensor(name))
}

// channelsLast turns images [n, 3, h, w], and maps, into [n, h, w, 3].
func channelsLast[T any](v []T, shape []int) ([]T, []int) {
	if len(shape) != 4 {
		return v, shape
	}
	n, c, hw := shape[0], shape[1], shape[2]*shape[3]
	out := make([]T, len(v))
	for i := range n {
		for k := range c {
			for p := range hw {
				out[(i*hw+p)*c+k] = v[(i*c+k)*hw+p]
			}
		}
	}
	return out, []int{n, shape[2], shape[3], c}
}

// Floats returns the numbers of a tensor.
func Floats(x *tensors.Tensor) []float32 {
	switch x.DType() {
	case dtypes.Float32:
		return tensors.MustCopyFlatData[float32](x)
	case dtypes.Uint8:
		return converted(tensors.MustCopyFlatData[uint8](x))
	default:
		return converted(tensors.MustCopyFlatData[int32](x))
	}
}

func converted[T uint8 | int32](v []T) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

// Near fails the test unless every value is within abs + rel*|want| of its golden value.
func Near(t *testing.T, name string, got, want []float32, abs, rel float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %d values, want %d", name, len(got), len(want))
		return
	}
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= abs+rel*math.Abs(float64(want[i]))) {
			t.Errorf("%s[%d] = %v, want %v", name, i, got[i], want[i])
			return
		}
	}
}
