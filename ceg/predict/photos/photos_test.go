package photos_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/predict/photos"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/regular"
)

// small is a network that needs no download.
var small = datasets.Origin{Network: "smallcnn", Width: 4, Pooling: "mean", Size: 16, Weights: "none"}

func put(t *testing.T, path string, v byte) {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 8, 8))
	for i := range m.Pix {
		m.Pix[i] = v * byte(i)
	}
	var b bytes.Buffer
	fatal.If(t, png.Encode(&b, m))
	fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
	fatal.If(t, os.WriteFile(path, b.Bytes(), 0o666))
}

// A folder of images becomes a data set of features that knows its images, in one place for
// one folder; an image that has changed since says so.
func TestEmbed(t *testing.T) {
	root, cache := t.TempDir(), t.TempDir()
	for i := range 12 {
		put(t, filepath.Join(root, "day", string(rune('a'+i))+".png"), byte(i+1))
		put(t, filepath.Join(root, "night", "cat", string(rune('a'+i))+".png"), byte(i+40))
	}
	var messages []string
	o := photos.Options{By: small, CacheDir: cache, Say: func(line string) { messages = append(messages, line) }}
	file := fatal.Get(photos.Embed(t.Context(), root, o))(t)
	if len(messages) == 0 || !strings.Contains(messages[len(messages)-1], "24 images") {
		t.Errorf("said %q", messages)
	}
	d, truth := fatal.Get2(datasets.Open(datasets.FeaturesFile, file, datasets.Options{Classes: []string{"dog", "cat"}, Labels: []datasets.Label{{ID: "day/a.png", Class: "dog"}}}))(t)
	at := func(id string) int {
		t.Helper()
		i, ok := d.Index(id)
		if !ok {
			t.Fatalf("no image %s", id)
		}
		return i
	}
	for id, want := range map[string]int{"day/a.png": 0, "night/cat/a.png": 1, "day/b.png": datasets.Unknown} {
		if got := truth.Class(at(id)); got != want {
			t.Errorf("%s is of class %d, want %d", id, got, want)
		}
	}
	if folder, err := d.Folder(file); err != nil || folder != root {
		t.Errorf("the images are in %s, %v, want %s", folder, err, root)
	}
	if m, err := d.Image(at("day/c.png")); err != nil || m.Width != 8 || m.Pix[3] != 3 {
		t.Errorf("image %v, %v", m, err)
	}
	put(t, filepath.Join(root, "day", "c.png"), 99)
	fatal.Says(t, fatal.Err(d.Image(at("day/c.png"))), "day/c.png: the image has changed since")
	if again, err := photos.Embed(t.Context(), root, o); err != nil || again != file {
		t.Errorf("%s, %v, want %s", again, err, file)
	}
	fatal.Says(t, fatal.Err2(datasets.Open(datasets.FeaturesFile, file, datasets.Options{Classes: []string{"dog", "horse"}})), `"cat"`)
	fatal.If(t, os.Rename(root, root+"2"))
	defer os.RemoveAll(root + "2")
	d, _ = fatal.Get2(datasets.Open(datasets.FeaturesFile, file, datasets.Options{}))(t)
	fatal.Says(t, fatal.Err(d.Image(0)), "no longer in "+root)
}

// Who waits for another process that computes the same features says so, and on an interrupt, too.
func TestEmbedWaits(t *testing.T) {
	root, cache := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "day", "a.png"), 1)
	put(t, filepath.Join(root, "day", "b.png"), 2)
	ctx, cancel := context.WithCancel(t.Context())
	var messages []string
	o := photos.Options{By: small, CacheDir: cache, Say: func(line string) { messages = append(messages, line) }}
	file := fatal.Get(photos.Embed(ctx, root, o))(t)
	lock := regular.NewLock(file + ".lock")
	fatal.If(t, lock.Lock())
	fatal.If(t, os.WriteFile(file+".process", []byte("4711\n"), 0o666))
	messages, o.Say = nil, func(line string) { messages = append(messages, line); cancel() }
	if _, err := photos.Embed(ctx, root, o); err == nil || !strings.Contains(err.Error(), "waiting for process 4711") || strings.Contains(err.Error(), "context") {
		t.Error(err)
	}
	if len(messages) != 1 || messages[0] != "waiting for process 4711, which computes these features" {
		t.Errorf("%q", messages)
	}
	fatal.If(t, lock.Unlock())
	if again, err := photos.Embed(t.Context(), root, o); err != nil || again != file {
		t.Errorf("%s, %v", again, err)
	}
}
