package safetensors

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestWriteRoundTrip(t *testing.T) {
	entries := []Entry{
		{Name: "steps", DType: Int16, Shape: []int{3}, Data: []byte{1, 0, 2, 0, 3, 0}},
		{Name: "conv.weight", DType: Float32, Shape: []int{1, 2}, Data: []byte{0, 0, 128, 63, 0, 0, 192, 127}},
		{Name: `odd "name" <&>` + "\u2028", DType: Bool, Shape: nil, Data: []byte{1}},
		{Name: "count", DType: Int64, Shape: []int{}, Data: []byte{1, 2, 3, 4, 5, 6, 7, 8}},
		{Name: "none", DType: Float16, Shape: []int{0, 7}, Data: nil},
	}
	meta := map[string]string{"format": "pt", "b": "2", "a": "1"}
	var first bytes.Buffer
	fatal.If(t, Write(&first, entries, meta))
	h := fatal.Get(parse(first.Bytes()))(t)
	if !reflect.DeepEqual(h.Metadata, meta) {
		t.Errorf("metadata %v, want %v", h.Metadata, meta)
	}
	if len(h.Tensors) != len(entries) {
		t.Fatalf("got %d tensors, want %d", len(h.Tensors), len(entries))
	}
	for i, e := range entries {
		got := h.Tensors[i]
		data := fatal.Get(io.ReadAll(got.Data()))(t)
		if got.Name != e.Name || got.DType != e.DType || len(got.Shape) != len(e.Shape) || !bytes.Equal(data, e.Data) {
			t.Errorf("tensor %d: got %s %s %v %v, want %+v", i, got.Name, got.DType, got.Shape, data, e)
		}
		if at := got.dataStart + got.begin; len(data) > 0 && at%int64(e.DType.Size()) != 0 {
			t.Errorf("%s starts at byte %d, not aligned to %s", e.Name, at, e.DType)
		}
	}
	for range 20 { // metadata is a map: its order must not show
		var again bytes.Buffer
		fatal.If(t, Write(&again, entries, meta))
		if !bytes.Equal(first.Bytes(), again.Bytes()) {
			t.Fatal("equal arguments gave different bytes")
		}
	}
}

func TestWriteEmpty(t *testing.T) {
	var b bytes.Buffer
	fatal.If(t, Write(&b, nil, nil))
	if h, err := parse(b.Bytes()); err != nil || len(h.Tensors) != 0 || h.Metadata != nil {
		t.Errorf("got %+v, %v", h, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	ok := Entry{Name: "a", DType: Uint8, Shape: []int{1}, Data: []byte{0}}
	for _, c := range []struct {
		name    string
		entries []Entry
		meta    map[string]string
		want    string
	}{
		{"no name", []Entry{{DType: Uint8, Data: []byte{0}}}, nil, "reserved"},
		{"reserved", []Entry{{Name: "__metadata__", DType: Uint8, Data: []byte{0}}}, nil, "reserved"},
		{"twice", []Entry{ok, ok}, nil, `"a" occurs twice`},
		{"bad name", []Entry{{Name: "\xff", DType: Uint8, Data: []byte{0}}}, nil, "UTF-8"},
		{"dtype", []Entry{{Name: "a", DType: "F4"}}, nil, `unknown dtype "F4"`},
		{"shape", []Entry{{Name: "a", DType: Float32, Shape: []int{2}, Data: make([]byte, 7)}}, nil, "needs 8 bytes, got 7"},
		{"negative", []Entry{{Name: "a", DType: Float32, Shape: []int{-2}}}, nil, "negative"},
		{"axes", []Entry{{Name: "a", DType: Uint8, Shape: make([]int, 65)}}, nil, "65 axes"},
		{"metadata", []Entry{ok}, map[string]string{"k": "\xff"}, "UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			err := Write(&b, c.entries, c.meta)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an error containing %q", err, c.want)
			}
			if b.Len() > 0 {
				t.Errorf("%d bytes were written all the same", b.Len())
			}
		})
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestWriteError(t *testing.T) {
	fatal.Says(t, Write(fullDisk{}, nil, nil), "no space left")
}
