package arrays

import (
	"fmt"
	"io"
)

// Type is the type of an array's elements.
type Type uint8

// The supported types.
const (
	Float32 Type = iota
	Float64
	Int32
	Int64
)

const supported = "float32, float64, int32 or int64"

func (t Type) String() string {
	switch t {
	case Float32:
		return "float32"
	case Float64:
		return "float64"
	case Int32:
		return "int32"
	case Int64:
		return "int64"
	}
	return fmt.Sprintf("Type(%d)", uint8(t))
}

func (t Type) size() int {
	if t == Float32 || t == Int32 {
		return 4
	}
	return 8
}

func (t Type) isFloat() bool { return t == Float32 || t == Float64 }

// Array is an array in an open [File]. Nothing of it is in memory.
type Array struct {
	path, name string
	dtype      Type
	shape      []int
	open       func() (io.ReadCloser, error) // a reader at the first element
}

// Name returns the array's name.
func (a *Array) Name() string { return a.name }

// Type returns the type of its elements.
func (a *Array) Type() Type { return a.dtype }

// Matrix returns the numbers of rows and columns of a two-dimensional array. Any
// other shape is an error, and so is one without columns.
func (a *Array) Matrix() (rows, cols int, err error) {
	if len(a.shape) != 2 {
		return 0, 0, a.Errorf("shape %s, want two dimensions", a.shapeText())
	}
	if a.shape[1] == 0 {
		return 0, 0, a.Errorf("shape %s has no columns", a.shapeText())
	}
	return a.shape[0], a.shape[1], nil
}

// Vector returns the number of elements of a one-dimensional array; any other
// shape is an error.
func (a *Array) Vector() (n int, err error) {
	if len(a.shape) != 1 {
		return 0, a.Errorf("shape %s, want one dimension", a.shapeText())
	}
	return a.shape[0], nil
}

// Errorf returns an error that begins with the file and the array.
func (a *Array) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", a.path, a.name, fmt.Errorf(format, args...))
}

func (a *Array) shapeText() string { return fmt.Sprint(a.shape) }

// bytes returns the size of the data; it has been checked not to overflow.
func (a *Array) bytes() int64 {
	n, _ := byteSize(a.dtype, a.shape)
	return n
}
