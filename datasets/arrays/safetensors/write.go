package safetensors

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"unicode/utf8"
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

// Write writes a file with the entries and metadata (which may be nil).
//
// The header lists the entries in the given order. The data is sorted by decreasing element
// size, otherwise in that order, and the header is padded with spaces, so every tensor is
// aligned to its element size. Equal arguments give equal bytes. Empty, reserved and repeated
// names, and data that do not match the shape, are errors, found before anything is written.
func Write(w io.Writer, entries []Entry, metadata map[string]string) error {
	head, order, err := layout(entries, metadata)
	if err != nil {
		return fmt.Errorf("safetensors: %w", err)
	}
	bw := bufio.NewWriterSize(w, 1<<16)
	var lead [8]byte
	binary.LittleEndian.PutUint64(lead[:], uint64(len(head)))
	bw.Write(lead[:]) // a bufio.Writer keeps its first error for Flush
	bw.Write(head)
	for _, i := range order {
		if e := entries[i]; e.From == nil {
			bw.Write(e.Data)
		} else if err := copyTensor(bw, e); err != nil {
			return fmt.Errorf("safetensors: tensor %q: %w", e.Name, err)
		}
	}
	if err := bw.Flush(); err != nil {
		return fmt.Errorf("safetensors: writing: %w", err)
	}
	return nil
}

// copyTensor writes the elements of an entry that come from a reader.
func copyTensor(w io.Writer, e Entry) error {
	want, err := byteSize(e.DType, e.Shape)
	if err != nil {
		return err
	}
	if n, err := io.CopyN(w, e.From, want); err != nil {
		return fmt.Errorf("%d of %d bytes: %w", n, want, err)
	}
	return nil
}

// layout returns the padded header and the order of the entries in the data.
func layout(entries []Entry, metadata map[string]string) (head []byte, order []int, err error) {
	seen := make(map[string]bool, len(entries))
	order = make([]int, len(entries))
	sizes := make([]int64, len(entries))
	for i, e := range entries {
		order[i] = i
		switch {
		case e.Name == "" || e.Name == metadataKey:
			return nil, nil, fmt.Errorf("tensor name %q is reserved", e.Name)
		case !utf8.ValidString(e.Name):
			return nil, nil, fmt.Errorf("tensor name %q is not valid UTF-8", e.Name)
		case seen[e.Name]:
			return nil, nil, fmt.Errorf("tensor %q occurs twice", e.Name)
		case len(e.Shape) > maxRank:
			return nil, nil, fmt.Errorf("tensor %q: %d axes, at most %d are allowed", e.Name, len(e.Shape), maxRank)
		}
		seen[e.Name] = true
		want, err := byteSize(e.DType, e.Shape)
		if err != nil {
			return nil, nil, fmt.Errorf("tensor %q: %w", e.Name, err)
		}
		sizes[i] = want
		if e.From == nil && int64(len(e.Data)) != want {
			return nil, nil, fmt.Errorf("tensor %q: %s %v needs %d bytes, got %d", e.Name, e.DType, e.Shape, want, len(e.Data))
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return entries[b].DType.Size() - entries[a].DType.Size() })
	offsets := make([]int64, len(entries))
	var at int64
	for _, i := range order {
		offsets[i] = at
		at += sizes[i]
	}

	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	put := func(before string, v any) {
		buf.WriteString(before)
		if e := enc.Encode(v); e != nil { // strings and integers always encode
			panic(e)
		}
		buf.Truncate(buf.Len() - 1) // the encoder's newline
	}
	sep := "{"
	if len(metadata) > 0 {
		for k, v := range metadata {
			if !utf8.ValidString(k) || !utf8.ValidString(v) {
				return nil, nil, fmt.Errorf("metadata %q: %q is not valid UTF-8", k, v)
			}
		}
		put(sep, metadataKey)
		put(":", metadata) // encoding/json sorts the keys
		sep = ","
	}
	for i, e := range entries {
		shape := e.Shape
		if shape == nil {
			shape = []int{}
		}
		put(sep, e.Name)
		put(":", struct {
			DType   DType    `json:"dtype"`
			Shape   []int    `json:"shape"`
			Offsets [2]int64 `json:"data_offsets"`
		}{e.DType, shape, [2]int64{offsets[i], offsets[i] + sizes[i]}})
		sep = ","
	}
	if sep == "{" {
		buf.WriteByte('{')
	}
	buf.WriteByte('}')
	for buf.Len()%8 != 0 {
		buf.WriteByte(' ')
	}
	if buf.Len() > MaxHeader {
		return nil, nil, fmt.Errorf("header of %d bytes is above the limit of %d", buf.Len(), int64(MaxHeader))
	}
	return buf.Bytes(), order, nil
}
