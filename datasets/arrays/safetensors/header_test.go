package safetensors

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// file builds a file from a header and that many data bytes 0, 1, 2, ...
func file(header string, data int) []byte {
	b := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	b = append(b, header...)
	for i := range data {
		b = append(b, byte(i))
	}
	return b
}

func parse(b []byte) (*Header, error) { return ParseHeader(bytes.NewReader(b), int64(len(b))) }

func TestParseHeaderTiny(t *testing.T) {
	b := fatal.Get(os.ReadFile("testdata/tiny.safetensors"))(t)
	if !Sniff(b) {
		t.Error("Sniff does not recognise the file")
	}
	h := fatal.Get(parse(b))(t)
	type row struct {
		name  string
		dtype DType
		shape []int
		at    int // of the data in the file
	}
	want := []row{
		{"features.conv.weight", Float32, []int{2, 3, 2, 2}, 256},
		{"features.scale", Float16, []int{10}, 256 + 96},
		{"steps", Int64, []int{5}, 256 + 116},
	}
	if len(h.Tensors) != len(want) {
		t.Fatalf("got %d tensors, want %d", len(h.Tensors), len(want))
	}
	for i, w := range want {
		got := h.Tensors[i]
		if got.Name != w.name || got.DType != w.dtype || !reflect.DeepEqual(got.Shape, w.shape) {
			t.Errorf("tensor %d: got %s %s %v, want %s %s %v", i, got.Name, got.DType, got.Shape, w.name, w.dtype, w.shape)
		}
		data := fatal.Get(io.ReadAll(got.Data()))(t)
		if n := got.Len() * got.DType.Size(); !bytes.Equal(data, b[w.at:w.at+n]) || got.Bytes() != int64(n) {
			t.Errorf("%s: wrong bytes", w.name)
		}
		if l, ok := h.Lookup(w.name); !ok || l.Name != w.name {
			t.Errorf("Lookup(%q) = %v, %v", w.name, l, ok)
		}
	}
	if _, ok := h.Lookup("fc.weight"); ok {
		t.Error("Lookup found a tensor that is not there")
	}
	if want := map[string]string{"format": "pt"}; !reflect.DeepEqual(h.Metadata, want) {
		t.Errorf("metadata %v, want %v", h.Metadata, want)
	}
}

func TestParseHeaderAccepts(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty object":     file(`{}`, 0),
		"newline after":    file("{}\n", 0),
		"only metadata":    file(`{"__metadata__":{}}   `, 0),
		"scalar":           file(`{"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}`, 8),
		"no elements":      file(`{"a":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]},"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`, 4),
		"data out of turn": file(`{"b":{"dtype":"U8","shape":[2],"data_offsets":[3,5]},"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}}`, 5),
		"white space":      file("{ \"a\" :\n{\"shape\":[1] , \"dtype\":\"BF16\",\"data_offsets\":[0,2]}}", 2),
	} {
		if _, err := parse(b); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseHeaderRefuses(t *testing.T) {
	huge := func(n uint64) []byte { return append(binary.LittleEndian.AppendUint64(nil, n), "{}"...) }
	for _, c := range []struct {
		name string
		b    []byte
		want string
	}{
		{"empty file", nil, "too short"},
		{"seven bytes", make([]byte, 7), "too short"},
		{"no header", huge(0), "header length 0"},
		{"one byte header", huge(1), "header length 1"},
		{"header beyond the file", huge(3), "truncated"},
		{"header beyond the limit", huge(MaxHeader + 1), "above the limit"},
		{"header length 2^64-1", huge(1<<64 - 1), "above the limit"},
		{"not JSON", file(`hello`, 0), "opening brace"},
		{"space before", file(` {}`, 0), "opening brace"},
		{"array", file(`[]`, 0), "opening brace"},
		{"cut JSON", file(`{"a":{"dtype":"F32"`, 0), "unexpected EOF"},
		{"cut JSON in a string", file(`{"a`, 0), "unexpected EOF"},
		{"bytes after", file(`{}{}`, 0), "after top-level value"},
		{"bad UTF-8", file("{\"\xff\":1}", 0), "UTF-8"},
		{"null tensor", file(`{"a":null}`, 0), "tensor \"a\""},
		{"nested", file(`{"a":[[[[]]]]}`, 0), "/a"},
		{"tensor twice", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 1), "duplicate"},
		{"shape twice", file(`{"a":{"dtype":"U8","shape":[1],"shape":[1],"data_offsets":[0,1]}}`, 1), "duplicate"},
		{"metadata number", file(`{"__metadata__":{"n":1}}`, 0), "__metadata__/n"},
		{"metadata twice", file(`{"__metadata__":{"n":"1","n":"1"}}`, 0), "duplicate"},
		{"unknown dtype", file(`{"a":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}}`, 1), `unknown dtype "F8"`},
		{"unknown field", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"x":0}}`, 1), "unknown object member"},
		{"no dtype", file(`{"a":{"shape":[1],"data_offsets":[0,1]}}`, 1), "unknown dtype"},
		{"no shape", file(`{"a":{"dtype":"U8","data_offsets":[0,1]}}`, 1), "missing"},
		{"no offsets", file(`{"a":{"dtype":"U8","shape":[1]}}`, 1), "missing"},
		{"three offsets", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1,2]}}`, 1), "too many"},
		{"one offset", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0]}}`, 1), "too few"},
		{"negative dimension", file(`{"a":{"dtype":"U8","shape":[-1],"data_offsets":[0,1]}}`, 1), "negative dimension"},
		{"fraction", file(`{"a":{"dtype":"U8","shape":[1.0],"data_offsets":[0,1]}}`, 1), "1.0"},
		{"dimension 2^63", file(`{"a":{"dtype":"U8","shape":[9223372036854775808],"data_offsets":[0,1]}}`, 1), "out of range"},
		{"overflowing shape", file(`{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}`, 0), "too large"},
		{"too many axes", file(`{"a":{"dtype":"U8","shape":[1`+strings.Repeat(",1", maxRank)+`],"data_offsets":[0,1]}}`, 1), "65 axes"},
		{"negative offset", file(`{"a":{"dtype":"U8","shape":[2],"data_offsets":[-1,1]}}`, 1), "[-1, 1]"},
		{"reversed offsets", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,0]}}`, 1), "not in order"},
		{"beyond the data", file(`{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}`, 7), `tensor "a": data offsets [0, 8] reach beyond the 7`},
		{"shape needs more", file(`{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}}`, 8), "needs 12 bytes, got 8"},
		{"overlap", file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[3,7]}}`, 7), `tensor "b": data offsets [3, 7] overlap tensor "a"`},
		{"same bytes", file(`{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}}`, 4), "overlap"},
		{"hole", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"b":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}}`, 3), "leave bytes 1 to 2 unused"},
		{"hole at the start", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`, 2), "unused"},
		{"bytes at the end", file(`{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}`, 2), "end at byte 1 of the data, but the file has 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := parse(c.b)
			if err == nil {
				t.Fatalf("accepted: %+v", h)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not contain %q", err, c.want)
			}
		})
	}
}

// TestParseHeaderTruncated cuts a good file at every length.
func TestParseHeaderTruncated(t *testing.T) {
	b := fatal.Get(os.ReadFile("testdata/tiny.safetensors"))(t)
	for n := range b {
		if _, err := parse(b[:n]); err == nil {
			t.Errorf("accepted when cut to %d of %d bytes", n, len(b))
		}
	}
}

type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, errors.New("disk on fire") }

func TestParseHeaderReadError(t *testing.T) {
	fatal.Says(t, fatal.Err(ParseHeader(failingReader{}, 100)), "disk on fire")
	// A size that is larger than what the reader holds.
	if _, err := ParseHeader(bytes.NewReader(file(`{}`, 0)[:9]), 10); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("got %v, want io.ErrUnexpectedEOF", err)
	}
}

func FuzzParseHeader(f *testing.F) {
	b := fatal.Get(os.ReadFile("testdata/tiny.safetensors"))(f)
	f.Add(b)
	f.Add(file(`{"a":{"dtype":"I64","shape":[],"data_offsets":[0,8]}}`, 8))
	f.Add(file(`{"__metadata__":{"x":"y"},"":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]}}  `, 0))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := parse(b)
		if err != nil {
			return
		}
		total := int64(0)
		for _, ts := range h.Tensors {
			data, err := io.ReadAll(ts.Data())
			if err != nil || int64(len(data)) != ts.Bytes() || len(data) != ts.Len()*ts.DType.Size() {
				t.Fatalf("%q: %d bytes read, %v", ts.Name, len(data), err)
			}
			total += ts.Bytes()
		}
		if total > int64(len(b)) {
			t.Fatalf("%d bytes of tensors in a file of %d", total, len(b))
		}
	})
}
