package arrays

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
)

func openFile(t testing.TB, path string) *File {
	t.Helper()
	f := fatal.Get(Open(path))(t)
	t.Cleanup(func() { f.Close() })
	return f
}

func array(t testing.TB, f *File, name string) *Array {
	t.Helper()
	return fatal.Get(f.Array(name))(t)
}

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	fatal.If(t, os.WriteFile(path, data, 0o666))
	return path
}

// npy returns a version 1.0 file with that dictionary.
func npy(dict string, data ...byte) []byte {
	b := append([]byte(npyMagic), 1, 0)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(dict)+1))
	return append(append(append(b, dict...), '\n'), data...)
}

func archive(t testing.TB, method uint16, entries map[string][]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range entries {
		e := fatal.Get(w.CreateHeader(&zip.FileHeader{Name: name, Method: method}))(t)
		fatal.Get(e.Write(data))(t)
	}
	fatal.If(t, w.Close())
	return b.Bytes()
}

func TestNumPyFiles(t *testing.T) {
	ctx := context.Background()
	for _, name := range []string{"stored.npz", "compressed.npz"} {
		f := openFile(t, "testdata/"+name)
		if !f.Has("f4") || f.Has("f4.npy") || len(f.Names()) != 15 || f.Names()[0] != "big" {
			t.Errorf("%s: names %v", name, f.Names())
		}
		f4 := fatal.Get(ReadAll[float64](ctx, array(t, f, "f4")))(t)
		f8 := fatal.Get(ReadAll[float64](ctx, array(t, f, "f8")))(t)
		rounded := fatal.Get(ReadAll[float32](ctx, array(t, f, "f8")))(t)
		if len(f4) != 12 || len(f8) != 12 {
			t.Fatalf("%s: %d and %d elements", name, len(f4), len(f8))
		}
		for i := range f4 {
			if want := float64(i)/8 - 0.5; f4[i] != want || f8[i] != want/3 || rounded[i] != float32(want/3) {
				t.Errorf("%s: element %d is %v, %v, %v", name, i, f4[i], f8[i], rounded[i])
			}
		}
		for n, want := range map[string][]int{"i4": {1, -2, math.MaxInt32}, "i8": {1, -2, 1<<53 + 1}} {
			if got, err := Ints(array(t, f, n)); err != nil || !slices.Equal(got, want) {
				t.Errorf("%s: %s is %v, %v; want %v", name, n, got, err, want)
			}
		}
		if rows, cols, err := array(t, f, "empty").Matrix(); rows != 0 || cols != 3 || err != nil {
			t.Errorf("%s: empty is %d x %d, %v", name, rows, cols, err)
		}
		if got, err := ReadAll[float32](ctx, array(t, f, "empty")); err != nil || len(got) != 0 {
			t.Errorf("%s: empty is %v, %v", name, got, err)
		}
	}
}

func TestRefusedArrays(t *testing.T) {
	f := openFile(t, "testdata/stored.npz")
	matrix := func(name string) error {
		a, err := f.Array(name)
		if err == nil {
			_, err = ReadAll[float32](context.Background(), a)
		}
		return err
	}
	vector := func(name string) error {
		a, err := f.Array(name)
		if err == nil {
			_, err = Ints(a)
		}
		return err
	}
	for _, s := range []struct {
		err  error
		want string
	}{
		{matrix("fortran"), "testdata/stored.npz: fortran: is in Fortran order"},
		{matrix("big"), "big: is big-endian (>f4)"},
		{matrix("scalar"), "scalar: shape [], want two dimensions"},
		{matrix("cube"), "cube: shape [2 2 2], want two dimensions"},
		{matrix("i4"), "i4: shape [3], want two dimensions"},
		{matrix("none"), "none: shape [3 0] has no columns"},
		{matrix("struct"), "struct: structured type"},
		{matrix("text"), "text: shape"},
		{matrix("Features"), `no array "Features"; the file has big, boolean, byte`},
		{vector("byte"), "byte: type |u1"},
		{vector("boolean"), "boolean: type |b1"},
		{vector("f4"), "f4: shape [4 3], want one dimension"},
	} {
		if s.err == nil || !strings.Contains(s.err.Error(), s.want) {
			t.Errorf("error %v, want one with %q", s.err, s.want)
		}
	}
}

func TestSafetensors(t *testing.T) {
	data := make([]byte, 0, 24)
	for _, v := range []float64{1.5, -2, 0.1} {
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(v))
	}
	var b bytes.Buffer
	fatal.If(t, safetensors.Write(&b, []safetensors.Entry{
		{Name: "features", DType: safetensors.Float64, Shape: []int{3, 1}, Data: data},
		{Name: "brain", DType: safetensors.BFloat16, Shape: []int{2, 2}, Data: []byte{0xc0, 0x3f, 0x80, 0xbf, 0x80, 0x7f, 1, 0}},
		{Name: "half", DType: safetensors.Float16, Shape: []int{1, 1}, Data: []byte{0, 0}},
		{Name: "ints", DType: safetensors.Int32, Shape: []int{2}, Data: []byte{5, 0, 0, 0, 255, 255, 255, 255}},
		{Name: "single", DType: safetensors.Float32, Shape: []int{1}, Data: []byte{0, 0, 0, 0}},
	}, nil))
	// Content decides, not the name.
	f := openFile(t, write(t, "pool.npz", b.Bytes()))
	if got, err := ReadAll[float64](context.Background(), array(t, f, "features")); err != nil || !slices.Equal(got, []float64{1.5, -2, 0.1}) {
		t.Errorf("features %v, %v", got, err)
	}
	if got, err := Ints(array(t, f, "ints")); err != nil || !slices.Equal(got, []int{5, -1}) {
		t.Errorf("ints %v, %v", got, err)
	}
	if got, err := ReadAll[float32](context.Background(), array(t, f, "brain")); err != nil || !slices.Equal(got, []float32{1.5, -1, float32(math.Inf(1)), 0x1p-133}) {
		t.Errorf("bfloat16 %v, %v", got, err)
	}
	if a, err := f.Array("half"); err != nil || a.Type() != Float16 {
		t.Errorf("half: %v", err)
	}
	fatal.Says(t, fatal.Err(Ints(array(t, f, "single"))), "single: type float32, want int64 or int32")
	fatal.Says(t, fatal.Err(Open(write(t, "cut.safetensors", b.Bytes()[:b.Len()-1]))), "truncated")
}

func TestRefusedFiles(t *testing.T) {
	good := archive(t, zip.Store, map[string][]byte{"a.npy": npy("{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }", 1, 0, 0, 0)})
	twice := func() []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for range 2 {
			fatal.Get(w.Create("a.npy"))(t)
		}
		w.Close()
		return b.Bytes()
	}()
	for _, s := range []struct {
		name, want string
		data       []byte
	}{
		{"empty", "is empty", nil},
		{"text", "is neither", []byte("hello, world")},
		{"short", "is neither", []byte("PK")},
		{"npy", "single .npy array", npy("{}")},
		{"cut", "truncated", good[:len(good)-30]},
		{"twice", "a: is in the archive twice", twice},
	} {
		path := write(t, s.name, s.data)
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), s.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want one with %q", s.name, err, s.want)
		}
	}
	fatal.Says(t, fatal.Err(Open(t.TempDir())), "is a folder")
	if _, err := Open("testdata/missing.npz"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func TestDamagedData(t *testing.T) {
	dict := "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }"
	load := func(b []byte) error {
		f := openFile(t, write(t, "x.npz", b))
		a, err := f.Array("a")
		if err == nil {
			_, err = Ints(a)
		}
		return err
	}
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		one := func(data ...byte) []byte { return archive(t, method, map[string][]byte{"a.npy": npy(dict, data...)}) }
		for _, s := range []struct {
			want string
			file []byte
		}{
			{"int32 [2] needs 8 bytes, the file has 7", one(make([]byte, 7)...)},
			{"int32 [2] needs 8 bytes, the file has 9", one(make([]byte, 9)...)},
		} {
			fatal.Says(t, load(s.file), s.want)
		}
	}
	b := archive(t, zip.Store, map[string][]byte{"a.npy": npy(dict, 1, 2, 3, 4, 5, 6, 7, 8)})
	fatal.If(t, load(b))
	b[bytes.Index(b, []byte{1, 2, 3, 4, 5})] ^= 1
	if err := load(b); err == nil || !errors.Is(err, zip.ErrChecksum) {
		t.Errorf("a flipped bit: error %v", err)
	}
}

// An archive of few bytes that inflates to gigabytes is refused before it does.
func TestInflated(t *testing.T) {
	for mb, want := range map[int]string{32: "", 96: "store it without compression"} {
		dict := fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, 1024), }", mb*256)
		f := openFile(t, write(t, "a.npz", archive(t, zip.Deflate, map[string][]byte{"a.npy": npy(dict, make([]byte, mb<<20)...)})))
		if _, err := f.Array("a"); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%d MB of zeros: %v, want %q", mb, err, want)
		}
	}
}

// FuzzOpen opens anything and reads all that it can.
func FuzzOpen(f *testing.F) {
	for _, name := range []string{"stored.npz", "compressed.npz", "pandas.parquet", "views.parquet"} {
		data := fatal.Get(os.ReadFile("testdata/" + name))(f)
		f.Add(data)
	}
	dict := "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1), }"
	f.Add(table(f, parquet.Compression(&parquet.Zstd)))
	f.Add(archive(f, zip.Deflate, map[string][]byte{"a.npy": npy(dict, 0, 0, 0, 0)}))
	f.Fuzz(func(t *testing.T, data []byte) {
		readAll(t, write(t, "x", data))
	})
}

// big writes a matrix of 3,000 x 1,000 float32 whose rows count up.
func big(t testing.TB, method uint16) *Array {
	const rows, cols = 3000, 1000
	b := npy(fmt.Sprintf("{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", rows, cols))
	for i := range rows {
		for range cols {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(float32(i)))
		}
	}
	return array(t, openFile(t, write(t, "big.npz", archive(t, method, map[string][]byte{"x.npy": b}))), "x")
}

func TestBlocks(t *testing.T) {
	for _, method := range []uint16{zip.Store, zip.Deflate} {
		a := big(t, method)
		next, calls := 0, 0
		err := Blocks(context.Background(), a, func(first int, rows []float32) error {
			if first != next || len(rows)%1000 != 0 {
				t.Fatalf("block of %d elements at row %d, want row %d", len(rows), first, next)
			}
			for i, v := range rows {
				if int(v) != first+i/1000 {
					t.Fatalf("row %d has %v", first+i/1000, v)
				}
			}
			next += len(rows) / 1000
			calls++
			return nil
		})
		if err != nil || next != 3000 || calls < 3 {
			t.Errorf("%d rows in %d blocks, %v", next, calls, err)
		}
	}
}

func TestBlocksStops(t *testing.T) {
	a := big(t, zip.Store)
	enough := errors.New("enough")
	calls := 0
	if err := Blocks(context.Background(), a, func(int, []float64) error { calls++; return enough }); err != enough || calls != 1 {
		t.Errorf("error %v after %d calls", err, calls)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	calls = 0
	if err := Blocks(ctx, a, func(int, []float64) error { calls++; cancel(enough); return nil }); err != enough || calls == 4 {
		t.Errorf("cancelled: error %v after %d calls", err, calls)
	}
}

func TestMetadataOfNpz(t *testing.T) {
	x := npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }", 1, 0, 0, 0, 0, 0, 0, 0)
	with := func(notes string) string {
		return write(t, "x.npz", archive(t, zip.Deflate, map[string][]byte{"x.npy": x, MetadataEntry: []byte(notes)}))
	}
	f := openFile(t, with(`{"views": "clean"}`))
	if got := f.Metadata()["views"]; got != "clean" {
		t.Errorf("metadata views %q, want clean", got)
	}
	if got := f.Names(); !slices.Equal(got, []string{"x"}) {
		t.Errorf("arrays %v, want x alone", got)
	}
	fatal.Says(t, fatal.Err(Open(with(`[1]`))), "metadata.json: is no JSON object of strings")
}
