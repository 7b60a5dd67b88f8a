package safetensors

import (
	"cmp"
	"encoding/binary"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/ledg-go/ledg/datasets/regular"
)

// MaxHeader is the maximum header size in bytes, the limit of the format's reference
// implementation.
const MaxHeader = 100_000_000

// maxRank bounds the axes of one tensor; no framework goes beyond 64.
const maxRank = 64

// metadataKey is the one key of the header which is no tensor.
const metadataKey = "__metadata__"

// Header is the validated header of a file.
type Header struct {
	// Tensors holds every tensor, in the order of the header.
	Tensors []Tensor
	// Metadata is the content of "__metadata__"; nil if there is none.
	Metadata map[string]string

	index map[string]int
}

// Tensor describes a tensor and the position of its data.
type Tensor struct {
	Name  string
	DType DType
	// Shape has one non-negative number for each axis; it is empty for a scalar.
	Shape []int

	begin, end int64 // counted from the end of the header
	data       io.ReaderAt
	dataStart  int64
}

// Len returns the number of elements, 1 for a scalar.
func (t Tensor) Len() int {
	n := 1
	for _, d := range t.Shape {
		n *= d // ParseHeader has checked that this does not overflow
	}
	return n
}

// Bytes returns the number of bytes of the data, Len times the element's size.
func (t Tensor) Bytes() int64 { return t.end - t.begin }

// Data returns a reader over the tensor's bytes: little-endian, C order. It reads from the
// io.ReaderAt passed to [ParseHeader], which must still be open; separate readers may be used
// concurrently.
func (t Tensor) Data() *io.SectionReader {
	return io.NewSectionReader(t.data, t.dataStart+t.begin, t.end-t.begin)
}

// Lookup returns the tensor of that name; the bool is false if there is none.
func (h *Header) Lookup(name string) (Tensor, bool) {
	i, ok := h.index[name]
	if !ok {
		return Tensor{}, false
	}
	return h.Tensors[i], true
}

// Sniff reports whether the first nine bytes of a file can be the start of a
// .safetensors file: a plausible header length and then an opening brace.
func Sniff(first []byte) bool {
	if len(first) < 9 || first[8] != '{' {
		return false
	}
	n := binary.LittleEndian.Uint64(first)
	return n >= 2 && n <= MaxHeader
}

// ParseHeader reads and validates the header of a file of the given size in bytes.
//
// It is an error if the header is longer than [MaxHeader] or than the file, or is not one JSON
// object in valid UTF-8. Repeated names, unknown dtypes and unknown
// fields are errors. So are a negative dimension, a size that does not match the shape, an
// offset outside the data, and tensors that overlap or leave gaps. Errors name the tensor, got
// and want.
func ParseHeader(r io.ReaderAt, size int64) (*Header, error) {
	var lead [8]byte
	if size < int64(len(lead)) {
		return nil, fmt.Errorf("safetensors: file has %d bytes, too short for the 8-byte header length", size)
	}
	if err := regular.ReadAt(r, lead[:], 0); err != nil {
		return nil, fmt.Errorf("safetensors: reading header length: %w", err)
	}
	n := binary.LittleEndian.Uint64(lead[:])
	switch rest := size - 8; {
	case n < 2:
		return nil, fmt.Errorf("safetensors: header length %d, want at least 2", n)
	case n > MaxHeader:
		return nil, fmt.Errorf("safetensors: not such a file, or a damaged one: header length %d is above the limit of %d bytes", n, int64(MaxHeader))
	case int64(n) > rest:
		return nil, fmt.Errorf("safetensors: header length %d, but only %d bytes follow: truncated file", n, rest)
	}
	raw := make([]byte, n)
	if err := regular.ReadAt(r, raw, 8); err != nil {
		return nil, fmt.Errorf("safetensors: reading header: %w", err)
	}
	if raw[0] != '{' {
		return nil, errors.New("safetensors: header: does not start with an opening brace")
	}
	h := &Header{index: map[string]int{}}
	if err := json.Unmarshal(raw, h); err != nil {
		return nil, fmt.Errorf("safetensors: header: %w", err)
	}
	start := 8 + int64(n)
	if err := h.checkLayout(size - start); err != nil {
		return nil, fmt.Errorf("safetensors: %w", err)
	}
	for i := range h.Tensors {
		h.Tensors[i].data, h.Tensors[i].dataStart = r, start
	}
	return h, nil
}

// UnmarshalJSONFrom reads the header's object in its order. The decoder refuses repeated names.
func (h *Header) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		var name string
		if err := json.UnmarshalDecode(d, &name); err != nil {
			return err
		}
		if name == metadataKey {
			if err := json.UnmarshalDecode(d, &h.Metadata); err != nil {
				return err
			}
			continue
		}
		var t struct {
			DType   DType     `json:"dtype"`
			Shape   []int     `json:"shape"`
			Offsets *[2]int64 `json:"data_offsets"`
		}
		if err := json.UnmarshalDecode(d, &t, json.RejectUnknownMembers(true)); err != nil {
			return err
		}
		if t.Shape == nil || t.Offsets == nil {
			return fmt.Errorf("tensor %q: shape or data_offsets are missing", name)
		}
		h.index[name] = len(h.Tensors)
		h.Tensors = append(h.Tensors, Tensor{Name: name, DType: t.DType, Shape: t.Shape, begin: t.Offsets[0], end: t.Offsets[1]})
	}
	_, err := d.ReadToken()
	return err
}

// checkLayout checks every tensor against its own shape and all of them
// against the dataLen bytes after the header.
func (h *Header) checkLayout(dataLen int64) error {
	order := make([]*Tensor, len(h.Tensors))
	for i := range h.Tensors {
		t := &h.Tensors[i]
		order[i] = t
		want, err := byteSize(t.DType, t.Shape)
		if err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		switch {
		case t.begin < 0 || t.begin > t.end:
			return fmt.Errorf("tensor %q: data offsets [%d, %d] are not in order", t.Name, t.begin, t.end)
		case t.end > dataLen:
			return fmt.Errorf("tensor %q: data offsets [%d, %d] reach beyond the %d data bytes of the file (truncated?)",
				t.Name, t.begin, t.end, dataLen)
		case t.end-t.begin != want:
			return fmt.Errorf("tensor %q: %s %v needs %d bytes, got %d from data offsets [%d, %d]",
				t.Name, t.DType, t.Shape, want, t.end-t.begin, t.begin, t.end)
		}
	}
	slices.SortStableFunc(order, func(a, b *Tensor) int {
		if a.begin != b.begin {
			return cmp.Compare(a.begin, b.begin)
		}
		return cmp.Compare(a.end, b.end)
	})
	var at int64
	last := ""
	for _, t := range order {
		if t.begin < at {
			return fmt.Errorf("tensor %q: data offsets [%d, %d] overlap tensor %q, which ends at %d", t.Name, t.begin, t.end, last, at)
		}
		if t.begin > at {
			return fmt.Errorf("tensor %q: data offsets [%d, %d] leave bytes %d to %d unused", t.Name, t.begin, t.end, at, t.begin)
		}
		at, last = t.end, t.Name
	}
	if at != dataLen {
		return fmt.Errorf("the tensors end at byte %d of the data, but the file has %d", at, dataLen)
	}
	return nil
}

// byteSize returns the bytes that a tensor needs; sizes which do not fit an
// int64, or an unknown dtype, are errors.
func byteSize(d DType, shape []int) (int64, error) {
	n := int64(d.Size())
	if n == 0 {
		return 0, fmt.Errorf("unknown dtype %q: save it as float32, by x.float() in PyTorch", string(d))
	}
	if len(shape) > maxRank {
		return 0, fmt.Errorf("%d axes, want at most %d", len(shape), maxRank)
	}
	zero := false
	for _, dim := range shape {
		switch {
		case dim < 0:
			return 0, fmt.Errorf("negative dimension in shape %v", shape)
		case dim == 0:
			zero = true
		case n > math.MaxInt64/int64(dim):
			return 0, fmt.Errorf("shape %v is too large", shape)
		default:
			n *= int64(dim)
		}
	}
	if zero {
		return 0, nil
	}
	return n, nil
}
