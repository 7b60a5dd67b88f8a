package arrays

import (
	"fmt"
	"io"
	"slices"
)

// Type is the type of an array's elements.
type Type uint8

// Element types.
const (
	Float32 Type = iota
	Float64
	Int32
	Int64
	Float16
	BFloat16 // the upper half of a float32; of .safetensors files
	// Bytes are bytes in a .safetensors file that [Strings] reads as text, Text are fixed-width
	// NumPy strings, and Lines strings of a Parquet column.
	Bytes
	Text
	Lines
)

const supported = "float32, float64, float16, bfloat16, int32 or int64: save it by x.float() of PyTorch or x.astype(\"float32\") of NumPy"

var typeNames = [...]string{Float32: "float32", Float64: "float64", Int32: "int32", Int64: "int64", Float16: "float16", BFloat16: "bfloat16",
	Bytes: "bytes", Text: "text", Lines: "text"}

func (t Type) String() string { return typeNames[t] }

func (t Type) size() int {
	switch t {
	case Bytes, Lines:
		return 1
	case Float16, BFloat16:
		return 2
	case Float32, Int32, Text: // a code point of UTF-32
		return 4
	}
	return 8
}

// IsFloat reports whether the elements are floating-point numbers.
func (t Type) IsFloat() bool {
	return t == Float32 || t == Float64 || t == Float16 || t == BFloat16
}

// IsText reports whether the elements are what [Strings] reads.
func (t Type) IsText() bool { return t == Bytes || t == Text || t == Lines }

// Array is an array in an open [File], read on demand.
type Array struct {
	path, name string
	dtype      Type
	shape      []int
	offset     int                           // of a View, in elements of a row
	stride     int                           // of a View, elements from a row to the next; else 0
	width      int                           // of Text, in code points, and of Bytes that are strings of NumPy's
	open       func() (io.ReadCloser, error) // a reader at the first element
	at         io.ReaderAt                   // the elements, nil where they are compressed
}

func (a *Array) Name() string { return a.name }

// Type returns the element type.
func (a *Array) Type() Type { return a.dtype }

// Shape returns the array's dimensions.
func (a *Array) Shape() []int { return slices.Clone(a.shape) }

// Rows returns the array as a matrix with a row for each index of its first axis. An array with
// fewer than two dimensions is returned unchanged.
func (a *Array) Rows() *Array {
	if len(a.shape) < 3 {
		return a
	}
	m, cols := *a, 1
	for _, d := range a.shape[1:] {
		cols *= d
	}
	m.shape = []int{a.shape[0], cols}
	return &m
}

// View returns view v of an array [N, V, D] as a matrix [N, D], to be read in blocks. An array
// with another number of dimensions is returned unchanged.
func (a *Array) View(v int) *Array {
	if len(a.shape) != 3 || v < 0 || v >= a.shape[1] {
		return a
	}
	m := *a
	m.shape, m.at = []int{a.shape[0], a.shape[2]}, nil
	m.offset, m.stride = v*a.shape[2], a.shape[1]*a.shape[2]
	return &m
}

// ReaderAt returns the elements in the file, little-endian; nil for compressed archives and
// Parquet files.
func (a *Array) ReaderAt() io.ReaderAt { return a.at }

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

// Errorf returns an error that starts with the file and the array.
func (a *Array) Errorf(format string, args ...any) error {
	return fmt.Errorf("%s: %s: %w", a.path, a.name, fmt.Errorf(format, args...))
}

func (a *Array) shapeText() string { return fmt.Sprint(a.shape) }

// bytes returns the size of the data; it has been checked not to overflow.
func (a *Array) bytes() int64 {
	n, _ := byteSize(a.dtype, a.shape)
	if a.width > 0 {
		n *= int64(a.width)
	}
	return n
}
