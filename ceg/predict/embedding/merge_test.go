package embedding

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/predict/shard"
	"github.com/ledg-go/ledg/datasets"
)

// merge merges what lies beside a file, or the paths.
func merge(out string, paths ...string) (int, error) {
	var err error
	if len(paths) == 0 {
		if paths, err = shard.Find(out); err != nil {
			return 0, err
		}
	}
	files, err := shard.Together(paths)
	if err != nil {
		return 0, err
	}
	return Merge(out, files)
}

// Parts, of which one is stopped and goes on, are merged to the bytes of one call's file.
func TestParts(t *testing.T) {
	d, truth := glyphs(t)
	x := extractor(t, cnn, 32)
	dir := t.TempDir()
	whole, path := filepath.Join(dir, "whole.safetensors"), filepath.Join(dir, "a.safetensors")
	o := Options{Size: 32, Views: 2, Seed: 5, Origin: datasets.Origin{Dataset: "folder", Root: filepath.Join(dir, "images"), Network: "smallcnn", Weights: "none"}}
	if err := Write(t.Context(), whole, d, truth, x, o); err != nil {
		t.Fatal(err)
	}
	const n = 7
	var files []string
	for i := range n {
		o := o
		o.Part = shard.Part{Index: i, Count: n}
		files = append(files, o.Part.File(path))
		if i == 3 {
			ctx, cancel := context.WithCancel(t.Context())
			stopped := o
			stopped.Progress = func(done, total int) {
				if total > d.Len()/n+1 {
					t.Errorf("part %s has %d images", o.Part, total)
				}
				cancel()
			}
			if err := Write(ctx, path, d, truth, x, stopped); err == nil {
				t.Error("it was not stopped")
			}
			if _, err := merge(path); err == nil || !strings.Contains(err.Error(), "part 3/7 is missing") {
				t.Errorf("a part is not complete: %v", err)
			}
			again := 0
			o.fresh = func() { again++ }
			defer func() {
				if again >= d.Len()/n {
					t.Errorf("%d images were computed again", again)
				}
			}()
		}
		if err := Write(t.Context(), path, d, truth, x, o); err != nil {
			t.Fatal(err)
		}
	}
	if images, err := merge(path); err != nil || images != d.Len() {
		t.Fatalf("%d images, %v", images, err)
	}
	equal := func(a, b string) bool {
		x, err := os.ReadFile(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(b)
		if err != nil {
			t.Fatal(err)
		}
		return bytes.Equal(x, y)
	}
	if !equal(path, whole) {
		t.Error("the parts make another file than one call")
	}
	// In another folder the images are elsewhere.
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(dir, "sub", "a.safetensors")
	if _, err := merge(moved, files...); err != nil {
		t.Fatal(err)
	}
	if err := Write(t.Context(), filepath.Join(dir, "sub", "whole.safetensors"), d, truth, x, o); err != nil {
		t.Fatal(err)
	}
	if !equal(moved, filepath.Join(dir, "sub", "whole.safetensors")) {
		t.Error("in another folder the parts make another file than one call")
	}

	os.Remove(path)
	write := func(name string, d *datasets.Dataset, o Options) string {
		o.Part = shard.Part{Index: 2, Count: n}
		if err := Write(t.Context(), filepath.Join(dir, name), d, truth, x, o); err != nil {
			t.Fatal(err)
		}
		return o.Part.File(filepath.Join(dir, name))
	}
	other := o
	other.Half = true
	seeded := o
	seeded.Seed = 6
	fewer := *d
	fewer.Examples = d.Examples[:d.Len()-7]
	cut := filepath.Join(dir, "cut")
	data, _ := os.ReadFile(files[2])
	if err := os.WriteFile(cut, data[:len(data)-1], 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ file, want string }{
		"other numbers": {write("half.safetensors", d, other), "made_by.half is false in one, true in the other"},
		"other seed":    {write("seed.safetensors", d, seeded), "made_by.origin.seed is 5 in one, 6 in the other"},
		"fewer images":  {write("fewer.safetensors", &fewer, o), `rows is "80, `},
		"cut":           {cut, "cut: is not a part"},
		"whole":         {whole, "whole.safetensors: is not a part"},
		"twice":         {files[1], "part 1/7 is there twice"},
	} {
		paths := append(slices.Clone(files[3:]), files[0], files[1], c.file)
		if _, err := merge(path, paths...); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %q", name, err, c.want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s: a refused merge has written", name)
		}
	}
}
