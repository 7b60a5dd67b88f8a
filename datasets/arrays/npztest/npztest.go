// Package npztest reads the arrays of reference values that tests compare with.
package npztest

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// File is a .npz file of arrays in C order and little-endian.
type File struct {
	testing.TB
	arrays map[string]array
}

type array struct {
	dtype string // as NumPy names it, such as <f4
	shape []int
	data  []byte
}

var header = regexp.MustCompile(`'descr': '(.*?)', 'fortran_order': False, 'shape': \((.*?)\)`)

// Open reads a .npz file, or a .npy file, whose array has the empty name.
func Open(t testing.TB, path string) File {
	t.Helper()
	if strings.HasSuffix(path, ".npy") {
		b := fatal.Get(os.ReadFile(path))(t)
		return File{t, map[string]array{"": parse(t, path, b)}}
	}
	z := fatal.Get(zip.OpenReader(path))(t)
	defer z.Close()
	f := File{t, map[string]array{}}
	for _, e := range z.File {
		r := fatal.Get(e.Open())(t)
		b := fatal.Get(io.ReadAll(r))(t)
		f.arrays[strings.TrimSuffix(e.Name, ".npy")] = parse(t, e.Name, b)
	}
	return f
}

// parse reads a .npy file of version 1.
func parse(t testing.TB, name string, b []byte) (a array) {
	t.Helper()
	if !bytes.HasPrefix(b, []byte("\x93NUMPY\x01")) {
		t.Fatalf("%s is no .npy file of version 1", name)
	}
	start := 10 + int(binary.LittleEndian.Uint16(b[8:]))
	m := header.FindSubmatch(b[:start])
	if m == nil {
		t.Fatalf("%s has the header %q", name, b[:start])
	}
	a.dtype, a.data = string(m[1]), b[start:]
	for text := range strings.SplitSeq(string(m[2]), ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			a.shape = append(a.shape, n)
		}
	}
	return a
}

func (f File) array(name string) array {
	f.Helper()
	a, ok := f.arrays[name]
	if !ok {
		f.Fatalf("there is no array %s", name)
	}
	return a
}

// Names lists the arrays.
func (f File) Names() (names []string) {
	for name := range f.arrays {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Has reports whether an array of that name exists.
func (f File) Has(name string) bool { _, ok := f.arrays[name]; return ok }

// Shape returns an array's shape.
func (f File) Shape(name string) []int { f.Helper(); return f.array(name).shape }

// Type returns NumPy's name of an array's type.
func (f File) Type(name string) string { f.Helper(); return f.array(name).dtype }

// Read reads an array, whose type must be T.
func Read[T any](f File, name string) []T {
	f.Helper()
	a := f.array(name)
	v := make([]T, len(a.data)/max(binary.Size(*new(T)), 1))
	types := map[string]string{"<f4": "[]float32", "<f8": "[]float64", "<i8": "[]int64", "|u1": "[]uint8"}
	if got := fmt.Sprintf("%T", v); types[a.dtype] != got {
		f.Fatalf("%s has type %s, which is no %s", name, a.dtype, got)
	}
	if _, err := binary.Decode(a.data, binary.LittleEndian, v); err != nil {
		f.Fatalf("%s: %v", name, err)
	}
	return v
}

// Floats reads an array of float32.
func (f File) Floats(name string) []float32 { f.Helper(); return Read[float32](f, name) }

// Ints reads an array of int64.
func (f File) Ints(name string) (list []int) {
	f.Helper()
	for _, v := range Read[int64](f, name) {
		list = append(list, int(v))
	}
	return list
}

// Matrix reads an array of float32 as rows of a number of columns.
func (f File) Matrix(name string, cols int) blas32.General {
	f.Helper()
	v := f.Floats(name)
	return blas32.General{Rows: len(v) / cols, Cols: cols, Stride: cols, Data: v}
}
