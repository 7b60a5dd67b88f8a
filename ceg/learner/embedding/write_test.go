package embedding

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/half"
	"github.com/ledg-go/ledg/datasets/arrays/safetensors"
	"github.com/ledg-go/ledg/datasets/rgb"
)

func glyphs(t *testing.T) (*datasets.Dataset, datasets.Truth) {
	t.Helper()
	d, truth, err := datasets.Glyphs(2)
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
	safetensors.Floats(v, b)
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
	o := Options{Size: 32, Views: 3, Seed: 5, Origin: datasets.Origin{Dataset: "glyphs", Network: "smallcnn", Width: 4, Pooling: "mean", Weights: "none"}, Progress: func(done, total int) {
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
	var origin datasets.Origin
	if err := json.Unmarshal([]byte(h.Metadata[datasets.OriginKey]), &origin); err != nil {
		t.Fatal(err)
	}
	if h.Metadata["views"] != "clean,weak,strong" || origin.Network != "smallcnn" || origin.Size != 32 || origin.Seed != 5 {
		t.Errorf("metadata %v", h.Metadata)
	}
	features, _ := h.Lookup("features")
	if want := []int{d.Len(), 3, 4}; features.Shape[0] != want[0] || features.Shape[1] != want[1] || features.Shape[2] != want[2] {
		t.Fatalf("shape %v, want %v", features.Shape, want)
	}
	got, ids := float32s(data("features")), strings.Split(strings.TrimSpace(string(data("ids"))), "\n")
	labels, domains, splits, digests := data("labels"), data("domains"), data("splits"), strings.Split(string(data("digests")), "\n")
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
		if want, err := d.Digest(i); err != nil || digests[i] != `"`+want+`"` {
			t.Fatalf("digest %s, want %s, %v", digests[i], want, err)
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
		computed := 0
		o.fresh = func() { computed++ }
		if err := Write(t.Context(), path, d, truth, x, o); err != nil {
			t.Fatal(err)
		}
		if again := computed < d.Len()-10; again == o.Half {
			t.Errorf("float16 %v: %d images of %d were computed", o.Half, computed, d.Len())
		}
		o.fresh = nil
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

// What a file has is not computed again: an image that has changed or has come is, and one
// that has gone is left out.
func TestWriteAgain(t *testing.T) {
	root := t.TempDir()
	put := func(id string, v byte) {
		t.Helper()
		path := filepath.Join(root, filepath.FromSlash(id))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		m := image.NewGray(image.Rect(0, 0, 9, 9))
		for i := range m.Pix {
			m.Pix[i] = v + byte(i)
		}
		var b bytes.Buffer
		if err := png.Encode(&b, m); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		put(fmt.Sprintf("day/%02d.png", i), byte(i))
		put(fmt.Sprintf("night/%02d.png", i), byte(100+i))
	}
	x := extractor(t, cnn, 16)
	dir := t.TempDir()
	path, fresh := filepath.Join(dir, "a.safetensors"), filepath.Join(dir, "b.safetensors")
	write := func(path string, o Options) (computed int) {
		t.Helper()
		d, truth, err := datasets.Open("folder", root, datasets.Options{CacheDir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		o.Size, o.Origin.Dataset, o.Origin.Root = 16, "folder", root
		o.fresh = func() { computed++ }
		if err := Write(t.Context(), path, d, truth, x, o); err != nil {
			t.Fatal(err)
		}
		return computed
	}
	if n := write(path, Options{Views: 2}); n != 40 {
		t.Errorf("%d images were computed, want 40", n)
	}
	put("day/03.png", 77)
	put("day/new.png", 78)
	put("dawn/00.png", 79)
	if err := os.Remove(filepath.Join(root, "night", "00.png")); err != nil {
		t.Fatal(err)
	}
	if n := write(path, Options{Views: 2}); n != 3 {
		t.Errorf("%d images were computed, want 3", n)
	}
	write(fresh, Options{Views: 2})
	a, _ := os.ReadFile(path)
	b, _ := os.ReadFile(fresh)
	if !bytes.Equal(a, b) {
		t.Error("features that were kept make another file than new ones")
	}
	// A clean view of the same bytes needs neither the other views nor the name, but the number format.
	if err := os.Rename(filepath.Join(root, "day"), filepath.Join(root, "noon")); err != nil {
		t.Fatal(err)
	}
	put("noon/newer.png", 80)
	one, again, said := filepath.Join(dir, "c.safetensors"), filepath.Join(dir, "d.safetensors"), ""
	if n := write(one, Options{Known: []string{path}, Say: func(line string) { said = line }}); n != 1 || said != "features of 41 of 42 images are reused" {
		t.Errorf("%d images were computed, want 1; %q", n, said)
	}
	if n := write(again, Options{}); n != 42 {
		t.Errorf("%d images were computed, want 42", n)
	}
	a, _ = os.ReadFile(one)
	if b, _ = os.ReadFile(again); !bytes.Equal(a, b) {
		t.Error("reused clean features make another file than new ones")
	}
	for _, o := range []Options{{Half: true}, {Views: 3}, {Origin: datasets.Origin{Decoding: rgb.Photo}}} {
		o.Known = []string{path}
		if n := write(filepath.Join(dir, "e.safetensors"), o); n != 42 {
			t.Errorf("%+v: %d images were computed, want 42", o, n)
		}
	}
	if err := os.Rename(filepath.Join(root, "noon"), filepath.Join(root, "day")); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(root, "day", "newer.png")); err != nil {
		t.Fatal(err)
	}
	if n := write(path, Options{Views: 2, Seed: 9}); n != 41 {
		t.Errorf("with another seed %d images were computed, want 41", n)
	}
}

// A file of another program by the journal's name is an error, and stays as it is.
func TestJournalIsForeign(t *testing.T) {
	d, truth := glyphs(t)
	x := extractor(t, cnn, 32)
	for _, text := range []string{"another program's\n", "a line without its newline", `{"origin":{},"weights":{}}` + "\n"} {
		for _, linked := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "a.safetensors")
			file := path + ".part"
			if linked {
				file = filepath.Join(t.TempDir(), "file")
				if err := os.Symlink(file, path+".part"); err != nil {
					t.Skip(err)
				}
			}
			if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
			err := Write(t.Context(), path, d, truth, x, Options{Size: 32})
			if err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("linked %v, %q: %v", linked, text, err)
			}
			if got, _ := os.ReadFile(file); string(got) != text {
				t.Errorf("linked %v: %q is now %q", linked, text, got)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
				t.Errorf("linked %v, %q: %v are left", linked, text, left)
			}
		}
	}
}
