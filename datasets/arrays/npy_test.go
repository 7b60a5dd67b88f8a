package arrays

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestParseHeader(t *testing.T) {
	for text, want := range map[string]header{
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  ": {dtype: Float32, shape: []int{3, 4}},
		`{"shape":(7,),"descr":"<i8","fortran_order":True}`:             {dtype: Int64, shape: []int{7}},
		"{'descr': '<f8', 'fortran_order': False, 'shape': ()}":         {dtype: Float64, shape: []int{}},
		"{'descr': '<i4', 'fortran_order': False, 'shape': (0,2,)}\n":   {dtype: Int32, shape: []int{0, 2}},
	} {
		if got, err := parseHeader(text); err != nil || got.dtype != want.dtype || !slices.Equal(got.shape, want.shape) {
			t.Errorf("%s: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "{", "{}", "}", "\x00",
		"{'descr': '<f4', 'fortran_order': False}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} x",
		"{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
		"{'descr': '<f4' 'fortran_order': False, 'shape': (3,)}",
		"{'descr': '<f4, 'fortran_order': False, 'shape': (3,)}",
		"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (3,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'more': 1}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
		"{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904, 4)}",
	} {
		if got, err := parseHeader(text); err == nil {
			t.Errorf("%s: no error but %+v", text, got)
		}
	}
}

func TestReadHeaderRefuses(t *testing.T) {
	for _, s := range []struct {
		want string
		data []byte
	}{
		{"unexpected EOF", nil},
		{"is not a .npy", []byte("12345678")},
		{".npy version 9.1", append([]byte(npyMagic), 9, 1)},
		{"header of 4294967295 bytes", append([]byte(npyMagic), 2, 0, 255, 255, 255, 255)},
		{"unexpected EOF", append([]byte(npyMagic), 1, 0, 10, 0, '{')},
	} {
		fatal.Says(t, fatal.Err(readHeader(bytes.NewReader(s.data))), s.want)
	}
	for _, version := range []byte{2, 3} {
		dict := "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }"
		b := append([]byte(npyMagic), version, 0, byte(len(dict)), 0, 0, 0)
		if h, err := readHeader(bytes.NewReader(append(b, dict...))); err != nil || h.length != 12+len(dict) {
			t.Errorf("version %d: %+v, %v", version, h, err)
		}
	}
}

func FuzzParseHeader(f *testing.F) {
	f.Add("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  \n")
	f.Add(`{"shape":(7,),"descr":"<i8","fortran_order":True}`)
	f.Add("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }")
	f.Fuzz(func(t *testing.T, text string) {
		h, err := parseHeader(text)
		if err != nil {
			return
		}
		if n, err := byteSize(h.dtype, h.shape); err != nil || n < 0 {
			t.Errorf("%q: %+v has %d bytes, %v", text, h, n, err)
		}
	})
}
