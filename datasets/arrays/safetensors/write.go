package safetensors

import (
	"bufio"
	"encoding/binary"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Entry is one tensor to write.
type Entry struct {
	// Name is any string but "" and "__metadata__", unique in the file.
	Name  string
	DType DType
	// Shape has one non-negative number for each axis; empty for a scalar.
	Shape []int
	// Data holds the elements, little-endian and in C order; its length must match DType and
	// Shape.
	Data []byte
	// From provides the elements instead of Data, for tensors larger than memory; an early end
	// is an error of Write.
	From io.Reader
}

// AppendFloats appends numbers as a file has them, little-endian.
func AppendFloats(b []byte, v []float32) []byte {
	b, _ = binary.Append(b, binary.LittleEndian, v) // numbers always have a size
	return b
}

// Floats sets dst to the numbers that b begins with.
func Floats(dst []float32, b []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
}

// FloatEntry is a tensor of float32.
func FloatEntry(name string, shape []int, v []float32) Entry {
	return Entry{Name: name, DType: Float32, Shape: shape, Data: AppendFloats(nil, v)}
}

// IntEntry is a vector of int64.
func IntEntry(name string, v []int) Entry {
	e := Entry{Name: name, DType: Int64, Shape: []int{len(v)}}
	for _, x := range v {
		e.Data = binary.LittleEndian.AppendUint64(e.Data, uint64(x))
	}
	return e
}

// Write writes a file with the entries and metadata (which may be nil).
//
// The header lists the entries in the given order. The data is sorted by decreasing element
// size, otherwise in that order, and the header is padded with spaces, so every tensor is
// aligned to its element size. Equal arguments give equal bytes. Empty, reserved and repeated
// names, and data that do not match the shape, are errors, found before anything is written.
func Write(w io.Writer, entries []Entry, metadata map[string]string) error {
	head, order, sizes, err := layout(entries, metadata)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	var lead [8]byte
	binary.LittleEndian.PutUint64(lead[:], uint64(len(head)))
	bw.Write(lead[:]) // a bufio.Writer keeps its first error for Flush
	bw.Write(head)
	for _, i := range order {
		e := entries[i]
		if e.From == nil {
			bw.Write(e.Data)
		} else if n, err := io.CopyN(bw, e.From, sizes[i]); err != nil {
			return fmt.Errorf("safetensors: tensor %q: %d of %d bytes: %w", e.Name, n, sizes[i], err)
		}
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("safetensors: writing: %w", err)
	}
	return nil
}

// layout returns the padded header, the order of the entries in the data, and their sizes.
func layout(entries []Entry, metadata map[string]string) (head []byte, order []int, sizes []int64, err error) {
	seen := make(map[string]bool, len(entries))
	order = make([]int, len(entries))
	sizes = make([]int64, len(entries))
	for i, e := range entries {
		order[i] = i
		switch {
		case e.Name == "" || e.Name == metadataKey:
			return nil, nil, nil, fmt.Errorf("tensor name %q is reserved", e.Name)
		case seen[e.Name]:
			return nil, nil, nil, fmt.Errorf("tensor %q occurs twice", e.Name)
		}
		seen[e.Name] = true
		want, err := byteSize(e.DType, e.Shape)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("tensor %q: %w", e.Name, err)
		}
		sizes[i] = want
		if e.From == nil && int64(len(e.Data)) != want {
			return nil, nil, nil, fmt.Errorf("tensor %q: %s %v needs %d bytes, got %d", e.Name, e.DType, e.Shape, want, len(e.Data))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return entries[b].DType.Size() - entries[a].DType.Size() })
	offsets := make([]int64, len(entries))
	var at int64
	for _, i := range order {
		offsets[i] = at
		at += sizes[i]
	}

	// text has encoding/json's form, with sorted keys; what is not UTF-8 is an error.
	text := func(v any) string {
		b, e := json.Marshal(v, json.Deterministic(true), jsontext.EscapeForJS(true))
		err = errors.Join(err, e)
		return string(b)
	}
	var parts []string
	if len(metadata) > 0 {
		parts = append(parts, text(metadataKey)+":"+text(metadata))
	}
	for i, e := range entries {
		parts = append(parts, text(e.Name)+":"+text(struct {
			DType   DType    `json:"dtype"`
			Shape   []int    `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}{e.DType, e.Shape, [2]int64{offsets[i], offsets[i] + sizes[i]}}))
	}
	head = []byte("{" + strings.Join(parts, ",") + "}")
	for len(head)%8 != 0 {
		head = append(head, ' ')
	}
	if len(head) > MaxHeader {
		err = errors.Join(err, fmt.Errorf("header of %d bytes is above the limit of %d", len(head), int64(MaxHeader)))
	}
	return head, order, sizes, err
}
