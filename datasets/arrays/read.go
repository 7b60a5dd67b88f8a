package arrays

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ledg-go/ledg/datasets/ahead"
	"github.com/ledg-go/ledg/datasets/arrays/half"
)

// Float is the type as which floating-point arrays are read. Reading float64 as float32 rounds
// to nearest, and overflow becomes infinity.
type Float interface{ float32 | float64 }

// blockBytes is about how much of a file is read at a time.
const blockBytes = 4 << 20

// Blocks reads a matrix of floats in blocks, in order: fn receives the rows from first on, in a
// slice that is valid until it returns. The next block is prefetched. It stops at fn's first
// error, which it returns unchanged, and when ctx is cancelled.
func Blocks[T Float](ctx context.Context, a *Array, fn func(first int, rows []T) error) error {
	rows, cols, err := a.Matrix()
	if err != nil {
		return err
	}
	if !a.dtype.IsFloat() {
		return a.Errorf("type %s, want float32 or float64", a.dtype)
	}
	r, err := a.open()
	if err != nil {
		return a.Errorf("%w", err)
	}
	defer r.Close()
	perBlock, stride := 64, max(cols, a.stride)
	if rows > 0 { // else any number of columns is possible
		perBlock *= max(blockBytes/(stride*a.dtype.size())/64, 1)
	}
	type block struct {
		first int
		rows  []T
	}
	var buffers [2][]T
	for i := range buffers {
		buffers[i] = make([]T, min(perBlock, rows)*cols)
	}
	raw := make([]byte, min(perBlock, rows)*stride*a.dtype.size())
	for b, err := range ahead.Of(ctx, func(_ context.Context, yield func(block) bool) error {
		for first, last := 0, false; !last; first += perBlock {
			b := block{first, buffers[first/perBlock%2][:min(perBlock, rows-first)*cols]}
			if len(b.rows) > 0 {
				if err := fill(b.rows, r, raw, a, cols); err != nil {
					return a.Errorf("%w", err)
				}
			}
			if last = first+perBlock >= rows; last {
				if err := atEnd(r); err != nil {
					return a.Errorf("%w", err)
				}
			}
			if len(b.rows) > 0 && !yield(b) {
				break
			}
		}
		return nil
	}) {
		if err == nil {
			err = fn(b.first, b.rows)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fill reads the next rows of r.
func fill[T Float](dst []T, r io.Reader, raw []byte, a *Array, cols int) error {
	size, stride := a.dtype.size(), max(cols, a.stride)
	raw = raw[:len(dst)/cols*stride*size]
	if err := readFull(r, raw); err != nil {
		return err
	}
	if stride == cols {
		decode(dst, raw, a.dtype)
		return nil
	}
	for i := range len(dst) / cols { // of each row the view
		decode(dst[i*cols:(i+1)*cols], raw[(i*stride+a.offset)*size:], a.dtype)
	}
	return nil
}

// decode converts little-endian numbers.
func decode[T Float](dst []T, raw []byte, t Type) {
	switch t {
	case Float32:
		for i := range dst {
			dst[i] = T(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
		}
	case Float16:
		for i := range dst {
			dst[i] = T(half.Float32(binary.LittleEndian.Uint16(raw[2*i:])))
		}
	case BFloat16:
		for i := range dst {
			dst[i] = T(math.Float32frombits(uint32(binary.LittleEndian.Uint16(raw[2*i:])) << 16))
		}
	default:
		for i := range dst {
			dst[i] = T(math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:])))
		}
	}
}

// atEnd reads to the end, where an archive checks its sum.
func atEnd(r io.Reader) error {
	var one [1]byte
	n, err := r.Read(one[:])
	switch {
	case n > 0:
		return errors.New("has more data than its shape says")
	case err == nil || errors.Is(err, io.EOF):
		return nil
	}
	return err
}

// ReadAll reads a matrix of floats into memory, row-major.
func ReadAll[T Float](ctx context.Context, a *Array) ([]T, error) {
	rows, cols, err := a.Matrix()
	if err != nil {
		return nil, err
	}
	if !a.dtype.IsFloat() {
		return nil, a.Errorf("type %s, want float32 or float64", a.dtype)
	}
	all := make([]T, rows*cols)
	err = Blocks(ctx, a, func(first int, block []T) error {
		copy(all[first*cols:], block)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// Ints reads a vector of integers. Floats are an error.
func Ints(a *Array) ([]int, error) {
	n, err := a.Vector()
	if err != nil {
		return nil, err
	}
	if a.dtype != Int32 && a.dtype != Int64 {
		return nil, a.Errorf("type %s, want int64 or int32", a.dtype)
	}
	r, err := a.open()
	if err != nil {
		return nil, a.Errorf("%w", err)
	}
	defer r.Close()
	raw := make([]byte, n*a.dtype.size())
	if err := readFull(r, raw); err != nil && n > 0 {
		return nil, a.Errorf("%w", err)
	}
	if err := atEnd(r); err != nil {
		return nil, a.Errorf("%w", err)
	}
	values := make([]int, n)
	for i := range values {
		if a.dtype == Int32 {
			values[i] = int(int32(binary.LittleEndian.Uint32(raw[4*i:])))
		} else {
			values[i] = int(int64(binary.LittleEndian.Uint64(raw[8*i:])))
		}
	}
	return values, nil
}

// Names reads a vector of text, or of whole numbers as text.
func Names(a *Array) ([]string, error) {
	if a.dtype.IsText() {
		return Strings(a)
	}
	numbers, err := Ints(a)
	list := make([]string, len(numbers))
	for i, v := range numbers {
		list[i] = strconv.Itoa(v)
	}
	return list, err
}

// Strings reads a vector of text: NumPy strings, a Parquet column of strings, or bytes [n] of a
// .safetensors file with one line, plain or a JSON string, for each.
func Strings(a *Array) ([]string, error) {
	n, err := a.Vector()
	if err != nil {
		return nil, err
	}
	if !a.dtype.IsText() {
		return nil, a.Errorf("type %s, want text", a.dtype)
	}
	r, err := a.open()
	if err != nil {
		return nil, a.Errorf("%w", err)
	}
	defer r.Close()
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, a.Errorf("%w", err)
	}
	if a.width > 0 {
		return a.fixedStrings(n, raw)
	}
	var list []string
	for at := 1; len(raw) > 0; at++ {
		line, rest, _ := bytes.Cut(raw, []byte("\n"))
		raw = rest
		s := string(line)
		if bytes.HasPrefix(line, []byte(`"`)) {
			if err := json.Unmarshal(line, &s); err != nil {
				return nil, a.Errorf("line %d: %w", at, err)
			}
		}
		if !utf8.ValidString(s) {
			return nil, a.Errorf("line %d is not UTF-8", at)
		}
		list = append(list, s)
	}
	if a.dtype == Lines && len(list) != n {
		return nil, a.Errorf("%d lines, want %d", len(list), n)
	}
	return list, nil
}

// fixedStrings reads NumPy's fixed-width strings, padded with zeros.
func (a *Array) fixedStrings(n int, raw []byte) ([]string, error) {
	one := a.width * a.dtype.size()
	if len(raw) != n*one {
		return nil, a.Errorf("%d bytes for %d strings of %d", len(raw), n, one)
	}
	list := make([]string, n)
	for i := range list {
		b := raw[i*one : (i+1)*one]
		if a.dtype == Bytes {
			list[i] = string(bytes.TrimRight(b, "\x00"))
		} else {
			var s []rune
			for j := 0; j < one; j += 4 {
				s = append(s, rune(binary.LittleEndian.Uint32(b[j:])))
			}
			list[i] = strings.TrimRight(string(s), "\x00")
		}
		if !utf8.ValidString(list[i]) {
			return nil, a.Errorf("row %d is not UTF-8", i)
		}
	}
	return list, nil
}

// ReadAt sets dst to the elements of a floating-point array from index first on, in C order, for
// random access. It is safe for concurrent use; each caller has its own scratch, which may grow.
// An array without a ReaderAt is an error.
func ReadAt(a *Array, first int, dst []float32, scratch *[]byte) error {
	if a.at == nil || !a.dtype.IsFloat() {
		return a.Errorf("type %s is compressed or no number: it cannot be read at random", a.dtype)
	}
	size := a.dtype.size()
	if n := len(dst) * size; cap(*scratch) < n {
		*scratch = make([]byte, n)
	}
	raw := (*scratch)[:len(dst)*size]
	if _, err := a.at.ReadAt(raw, int64(first)*int64(size)); err != nil && !(errors.Is(err, io.EOF) && len(raw) == 0) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return a.Errorf("%w", err)
	}
	decode(dst, raw, a.dtype)
	return nil
}

// Unpack writes the uncompressed elements of an array to w, for [Raw].
func Unpack(ctx context.Context, a *Array, w io.Writer) error {
	r, err := a.open()
	if err != nil {
		return a.Errorf("%w", err)
	}
	defer r.Close()
	n, err := io.Copy(w, &reader{ctx, r})
	if err == nil && n != a.bytes() {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return a.Errorf("%w", err)
	}
	return nil
}

// reader ends with its context.
type reader struct {
	ctx context.Context
	r   io.Reader
}

func (r *reader) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// Raw returns an array like a whose elements are read from at, as written by [Unpack].
func Raw(a *Array, at io.ReaderAt) (*Array, error) {
	raw := *a
	raw.at = io.NewSectionReader(at, 0, a.bytes())
	raw.open = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(at, 0, a.bytes())), nil }
	return &raw, nil
}
