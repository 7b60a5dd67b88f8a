package embedding

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/learner/embedding/shard"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
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

// One shard is stopped and continued; the merged file has the bytes of one call's file.
func TestShards(t *testing.T) {
	d, truth := glyphs(t)
	d.Groups, d.GroupNames = make([]int, d.Len()), []string{"g"}
	x := extractor(t, cnn, 32)
	dir := t.TempDir()
	whole, path := filepath.Join(dir, "whole.safetensors"), filepath.Join(dir, "a.safetensors")
	o := Options{Size: 32, Views: 2, Seed: 5, Origin: datasets.Origin{Dataset: "folder", Root: filepath.Join(dir, "images"), Network: "smallcnn", Weights: "none"}}
	fatal.If(t, Write(t.Context(), whole, d, truth, x, o))
	if _, data := read(t, whole); string(data("groups")) != strings.Repeat("\"g\"\n", d.Len()) {
		t.Errorf("groups %q", data("groups"))
	}
	const n = 7
	var files []string
	for i := range n {
		o := o
		o.Shard = shard.Shard{Index: i, Count: n}
		files = append(files, o.Shard.File(path))
		if i == 3 {
			ctx, cancel := context.WithCancel(t.Context())
			stopped := o
			stopped.Progress = func(done, total int) {
				if total > d.Len()/n+1 {
					t.Errorf("shard %s has %d images", o.Shard, total)
				}
				cancel()
			}
			if err := Write(ctx, path, d, truth, x, stopped); err == nil {
				t.Error("it was not stopped")
			}
			fatal.Says(t, fatal.Err(merge(path)), "shard 4/7 is missing")
			again := 0
			o.fresh = func() { again++ }
			defer func() {
				if again >= d.Len()/n {
					t.Errorf("%d images were computed again", again)
				}
			}()
		}
		fatal.If(t, Write(t.Context(), path, d, truth, x, o))
	}
	if images, err := merge(path); err != nil || images != d.Len() {
		t.Fatalf("%d images, %v", images, err)
	}
	equal := func(a, b string) bool {
		x := fatal.Get(os.ReadFile(a))(t)
		y := fatal.Get(os.ReadFile(b))(t)
		return bytes.Equal(x, y)
	}
	if !equal(path, whole) {
		t.Error("the shards make another file than one call")
	}
	// In another folder the images are elsewhere.
	fatal.If(t, os.Mkdir(filepath.Join(dir, "sub"), 0o777))
	moved := filepath.Join(dir, "sub", "a.safetensors")
	fatal.Get(merge(moved, files...))(t)
	fatal.If(t, Write(t.Context(), filepath.Join(dir, "sub", "whole.safetensors"), d, truth, x, o))
	if !equal(moved, filepath.Join(dir, "sub", "whole.safetensors")) {
		t.Error("in another folder the shards make another file than one call")
	}

	os.Remove(path)
	write := func(name string, d *datasets.Dataset, o Options) string {
		o.Shard = shard.Shard{Index: 2, Count: n}
		fatal.If(t, Write(t.Context(), filepath.Join(dir, name), d, truth, x, o))
		return o.Shard.File(filepath.Join(dir, name))
	}
	other := o
	other.Half = true
	seeded := o
	seeded.Seed = 6
	fewer := *d
	fewer.Examples = d.Examples[:d.Len()-7]
	cut := filepath.Join(dir, "cut")
	data, _ := os.ReadFile(files[2])
	fatal.If(t, os.WriteFile(cut, data[:len(data)-1], 0o666))
	for name, c := range map[string]struct{ file, want string }{
		"other numbers": {write("half.safetensors", d, other), "made_by.half is false in one, true in the other"},
		"other seed":    {write("seed.safetensors", d, seeded), "made_by.origin.seed is 5 in one, 6 in the other"},
		"fewer images":  {write("fewer.safetensors", &fewer, o), `rows is "80, `},
		"cut":           {cut, "cut: shard 2/7 is not complete"},
		"whole":         {whole, "whole.safetensors: it is no shard"},
		"twice":         {files[1], "shard 1/7 is there twice"},
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

// Shards before and after an image has changed are not merged.
func TestShardsOfChangedImages(t *testing.T) {
	root, out := t.TempDir(), filepath.Join(t.TempDir(), "a.safetensors")
	put := func(id string, v uint8) {
		t.Helper()
		m := image.NewGray(image.Rect(0, 0, 9, 9))
		m.Pix[40] = v
		var b bytes.Buffer
		fatal.If(t, errors.Join(png.Encode(&b, m), os.MkdirAll(filepath.Dir(filepath.Join(root, id)), 0o777), os.WriteFile(filepath.Join(root, id), b.Bytes(), 0o666)))
	}
	for i := range 6 {
		put(fmt.Sprintf("day/%d.png", i), uint8(i))
	}
	x := extractor(t, cnn, 16)
	write := func(i int) error {
		d, truth := fatal.Get2(datasets.Open("folder", root, datasets.Options{CacheDir: t.TempDir()}))(t)
		return Write(t.Context(), out, d, truth, x, Options{Size: 16, Shard: shard.Shard{Index: i, Count: 2}, CacheDir: t.TempDir(), Origin: datasets.Origin{Dataset: "folder", Root: root}})
	}
	fatal.If(t, write(0))
	put("day/1.png", 77)
	fatal.If(t, write(1))
	fatal.Says(t, fatal.Err(merge(out)), `shard.rows is "6, `)
	fatal.Says(t, write(0), "repeat that call to continue it, or delete the file")
}

// FuzzMerge merges anything that is a well-formed shard of features.
func FuzzMerge(f *testing.F) {
	dir := f.TempDir()
	digest := strings.Repeat("0", 64)
	f.Add([]byte(`{"made_by":{"origin":{},"views":1,"dim":1},"shard":{"classes":["a"],"domains":["b"],"rows":"1"}}`), []byte(`{"id":"a","digest":"`+digest+`"}`+"\nabcd"), 1)
	f.Add([]byte(`{"made_by":{"origin":{},"views":9223372036854775807,"dim":1},"shard":{}}`), []byte("{}\n"), 1)
	f.Add([]byte(`{"made_by":{"origin":{},"views":1,"dim":1}}`), []byte("null\n"), 1<<60)
	f.Fuzz(func(t *testing.T, of, item []byte, total int) {
		path := filepath.Join(dir, "a.safetensors.0-of-1")
		j, err := shard.Open(path, shard.Record{Shard: shard.Shard{Index: 0, Count: 1}, Total: total, Of: of}, nil)
		if err != nil {
			return // of is no JSON
		}
		defer os.Remove(path)
		defer j.Close()
		fatal.Get(j.Append(item))(t)
		fatal.If(t, j.End())
		if files, err := shard.Together([]string{path}); err == nil {
			_, _ = Merge(filepath.Join(dir, "a.safetensors"), files)
		}
	})
}
