package embedding

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/internal/half"
	"github.com/ledg-go/ledg/ceg/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/safetensors"
	"github.com/ledg-go/ledg/datasets"
)

func glyphs(t *testing.T) (*datasets.Dataset, datasets.Truth) {
	t.Helper()
	d, truth, err := datasets.Glyphs(datasets.GlyphsConfig{PerClass: 2})
	if err != nil {
		t.Fatal(err)
	}
	return d, truth
}

func extractor(t *testing.T, b nets.Backbone, size int) *model.Extractor {
	t.Helper()
	x, err := model.NewExtractor("go", b, size, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.Close)
	return x
}

var cnn = nets.SmallCNN(4, config.MeanPool)

// read returns the tensors of a file.
func read(t *testing.T, path string) (*safetensors.Header, func(name string) []byte) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, _ := f.Stat()
	h, err := safetensors.ParseHeader(f, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return h, func(name string) []byte {
		x, ok := h.Lookup(name)
		if !ok {
			t.Fatalf("no tensor %s", name)
		}
		b := make([]byte, x.Bytes())
		if _, err := x.Data().ReadAt(b, 0); err != nil {
			t.Fatal(err)
		}
		return b
	}
}

func float32s(b []byte) []float32 {
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v
}

// The file has every image's features, the clean ones first, and what tells the images
// apart; writing it again gives the same bytes.
func TestWrite(t *testing.T) {
	d, truth := glyphs(t)
	x := extractor(t, cnn, 32)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.safetensors")
	seen := 0
	o := Options{Size: 32, Views: 3, Seed: 5, Metadata: map[string]string{"network": "cnn"}, Progress: func(done, total int) {
		if done <= seen || total != d.Len() {
			t.Errorf("%d of %d after %d", done, total, seen)
		}
		seen = done
	}}
	if err := Write(t.Context(), path, d, truth, x, o); err != nil {
		t.Fatal(err)
	}
	if seen != d.Len() {
		t.Errorf("progress ended at %d of %d", seen, d.Len())
	}
	h, data := read(t, path)
	if h.Metadata["views"] != "clean,weak,strong" || h.Metadata["network"] != "cnn" || h.Metadata["image_size"] != "32" {
		t.Errorf("metadata %v", h.Metadata)
	}
	features, _ := h.Lookup("features")
	if want := []int{d.Len(), 3, 4}; features.Shape[0] != want[0] || features.Shape[1] != want[1] || features.Shape[2] != want[2] {
		t.Fatalf("shape %v, want %v", features.Shape, want)
	}
	got, ids := float32s(data("features")), strings.Split(strings.TrimSpace(string(data("ids"))), "\n")
	labels, domains, splits := data("labels"), data("domains"), data("splits")
	one := make([]float32, 4)
	for i, e := range d.Examples {
		m, err := d.Image(i)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Worker()(one, m.Resize(32, 32).Pix); err != nil {
			t.Fatal(err)
		}
		same := true
		for j, v := range one {
			if got[i*12+j] != v {
				t.Fatalf("%s: clean feature %d is %v, want %v", e.ID, j, got[i*12+j], v)
			}
			same = same && got[i*12+8+j] == v
		}
		if same {
			t.Errorf("%s: the strong view is the clean one", e.ID)
		}
		n := func(b []byte) int { return int(int64(binary.LittleEndian.Uint64(b[8*i:]))) }
		if n(labels) != truth.Class(i) || n(domains) != e.Domain || n(splits) != int(e.Split) || ids[i] != `"`+e.ID+`"` {
			t.Fatalf("row %d is not %v", i, e)
		}
	}
	if want := `"` + strings.Join(d.Classes, "\"\n\"") + "\"\n"; string(data("class_names")) != want {
		t.Errorf("classes %q, want %q", data("class_names"), want)
	}

	again := filepath.Join(dir, "b.safetensors")
	seen = 0
	if err := Write(t.Context(), again, d, truth, x, o); err != nil {
		t.Fatal(err)
	}
	a, _ := os.ReadFile(path)
	b, _ := os.ReadFile(again)
	if !bytes.Equal(a, b) {
		t.Error("the same options made another file")
	}

	// In float16, and by a graph.
	o = Options{Size: 32, Half: true}
	if err := Write(t.Context(), again, d, truth, x, o); err != nil {
		t.Fatal(err)
	}
	h, data = read(t, again)
	if f, _ := h.Lookup("features"); len(f.Shape) != 2 || f.DType != safetensors.Float16 {
		t.Errorf("got %s %v", f.DType, f.Shape)
	}
	for i, b := 0, data("features"); i < d.Len()*4; i++ {
		if want := half.Bits(got[i/4*12+i%4]); binary.LittleEndian.Uint16(b[2*i:]) != want {
			t.Fatalf("value %d is not %v in float16", i, got[i/4*12+i%4])
		}
	}
}

// What fails leaves no file but the part, from which the next one goes on, unless it is
// of other features.
func TestWriteFails(t *testing.T) {
	d, truth := glyphs(t)
	x := extractor(t, cnn, 32)
	dir := t.TempDir()
	path := filepath.Join(dir, "a.safetensors")
	ctx, cancel := context.WithCancel(t.Context())
	err := Write(ctx, path, d, truth, x, Options{Size: 32, Progress: func(done, _ int) {
		if done > 10 {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 || left[0].Name() != "a.safetensors.part" {
		t.Errorf("%v are left", left)
	}
	whole := filepath.Join(t.TempDir(), "whole.safetensors")
	for _, o := range []Options{{Size: 32}, {Size: 32, Half: true}} {
		first := 0
		o.Progress = func(done, _ int) {
			if first == 0 {
				first = done
			}
		}
		if err := Write(t.Context(), path, d, truth, x, o); err != nil {
			t.Fatal(err)
		}
		if again := first > 10; again == o.Half {
			t.Errorf("float16 %v: begins at image %d", o.Half, first)
		}
		o.Progress = nil
		if err := Write(t.Context(), whole, d, truth, x, o); err != nil {
			t.Fatal(err)
		}
		a, _ := os.ReadFile(path)
		b, _ := os.ReadFile(whole)
		if !bytes.Equal(a, b) {
			t.Error("a file that was gone on with differs from one that was not")
		}
		if !o.Half { // a part of these, which the next one cannot use
			ctx, cancel := context.WithCancel(t.Context())
			_ = Write(ctx, path, d, truth, x, Options{Size: 32, Progress: func(done, _ int) {
				if done > 10 {
					cancel()
				}
			}})
			cancel()
		}
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("%v are left", left)
	}
	for want, call := range map[string]func() error{
		"as .safetensors": func() error { return Write(t.Context(), filepath.Join(dir, "a.npz"), d, truth, x, Options{Size: 32}) },
		"images of 32":    func() error { return Write(t.Context(), path, d, truth, x, Options{Size: 64}) },
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// A file of another program by the part's name is an error, and stays as it is.
func TestPartIsForeign(t *testing.T) {
	for _, text := range []string{"another program's\n", "a line without its newline", `{"metadata":{},"weights":{}}` + "\n"} {
		for _, linked := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "a.part")
			file := path
			if linked {
				file = filepath.Join(t.TempDir(), "file")
				if err := os.Symlink(file, path); err != nil {
					t.Skip(err)
				}
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := openPartial(path, []byte(`{"metadata":{}}`+"\n"), 4, 10); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("linked %v, %q: %v", linked, text, err)
			}
			if got, _ := os.ReadFile(file); string(got) != text {
				t.Errorf("linked %v: %q is now %q", linked, text, got)
			}
		}
	}
}
