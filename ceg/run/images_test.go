package run_test

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/learner/examples"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// photos makes a folder of two domains with two classes of eight images each.
func photos(t *testing.T) (root string) {
	t.Helper()
	root = filepath.Join(t.TempDir(), "photos")
	for k, dir := range []string{"day/cat", "day/dog", "night/cat", "night/dog"} {
		fatal.If(t, os.MkdirAll(filepath.Join(root, dir), 0o777))
		for i := range 8 {
			paint(t, filepath.Join(root, dir, fmt.Sprintf("%d.png", i)), uint8(40*k+5*i))
		}
	}
	return root
}

// paint writes a grey picture.
func paint(t *testing.T, path string, grey uint8) {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, 16, 16))
	for y := range 16 {
		m.SetGray(int(grey)%16, y, color.Gray{Y: 255})
		m.SetGray(y, 3, color.Gray{Y: grey})
	}
	f := fatal.Get(os.Create(path))(t)
	fatal.If(t, errors.Join(png.Encode(f, m), f.Close()))
}

// A run's records do not say where its images are. They can move while it is
// interrupted, and are found again; others are refused.
func TestImagesMove(t *testing.T) {
	first := photos(t)
	c := configtest.New(t, "folder", "night", "ceg", config.Authors, "schedule.epochs", 3)
	c.Data.ImageSize, c.Network.Width, c.Exploration.Budget = 16, 4, "4"
	o := run.Options{Root: first, Backend: "go", CacheDir: t.TempDir()}
	dir := stopAfter(t, c, o, 0)

	second := filepath.Join(t.TempDir(), "elsewhere")
	fatal.If(t, os.Rename(first, second))
	o.Dir, o.Resume = dir, true
	refused := func(what, want string) {
		t.Helper()
		fatal.Says(t, fatal.Err(run.Run(t.Context(), c, o)), want)
	}
	refused("images are gone", "root folder "+first)
	o.Root = second
	dog := filepath.Join(second, "day", "dog", "3.png")
	whole := fatal.Get(os.ReadFile(dog))(t)
	paint(t, dog, 250)
	refused("another picture", "checkpoint.safetensors: the run began with other images than the data set has now")
	paint(t, filepath.Join(second, "day", "dog", "9.png"), 251)
	refused("one more", "other source training images than data set folder has now (14 then, 15 now)")
	fatal.If(t, errors.Join(os.Remove(filepath.Join(second, "day", "dog", "9.png")), os.WriteFile(dog, whole, 0o666)))
	fatal.Get(run.Run(t.Context(), c, o))(t)

	// Now it is finished, and knows where its images are.
	o = run.Options{Dir: dir, Backend: "go", CacheDir: o.CacheDir}
	if _, err := run.Embed(t.Context(), o); err != nil {
		t.Error(err)
	}
	m, _ := fatal.Get2(run.LoadModel(o))(t)
	if _, err := m.Save(filepath.Join(dir, "weights.safetensors")); err != nil {
		t.Error(err)
	}
	entries := fatal.Get(os.ReadDir(dir))(t)
	for _, e := range entries {
		data := fatal.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t)
		if named := strings.Contains(string(data), second) || strings.Contains(string(data), first); named != (e.Name() == result.PlaceFile) {
			t.Errorf("%s names the folder of the images: %v", e.Name(), named)
		}
	}
	o.Resume = true
	if _, err := run.Run(t.Context(), c, o); err != nil {
		t.Error(err)
	}
	paint(t, dog, 250)
	refused("finished, another picture", dir+": the run began with other images")
}

// Whatever a run sees of its data is part of the data's identity.
func TestIdentity(t *testing.T) {
	root, cache := photos(t), t.TempDir()
	c := configtest.New(t, "folder", "night", "ceg", config.Authors).Data
	identify := func() examples.Identity {
		t.Helper()
		return fatal.Get(examples.Identify(t.Context(), c, "", result.Place{Root: root, CacheDir: cache}))(t)
	}
	move := func(from, to string) func() {
		return func() {
			fatal.If(t, os.Rename(filepath.Join(root, from), filepath.Join(root, to)))
		}
	}
	before := identify()
	d, _ := fatal.Get2(examples.Open(c, "", result.Place{Root: root}))(t)
	if x, err := examples.Prepare(t.Context(), c, d, cache, nil, nil); err != nil || x.Digest != before.Images {
		t.Fatalf("the run's digest is %+v, %v, want %s", x, err, before.Images)
	} else if err := x.Close(); err != nil {
		t.Error(err)
	}
	for _, x := range []struct {
		what   string
		change func()
	}{
		{"a picture", func() { paint(t, filepath.Join(root, "day", "dog", "3.png"), 251) }},
		{"a picture is excluded", func() { c.Exclude = []string{"4.png"} }},
		{"another size", func() { c.ImageSize++ }},
		{"the last cat is the first dog", move("day/cat/7.png", "day/dog/00.png")},
		{"a class has another name", move("day/dog", "day/wolf")},
		{"a domain has another name", move("day", "dawn")},
	} {
		was := identify()
		x.change()
		if now := identify(); now.All == was.All {
			t.Errorf("%s: the data is the same, %.12s", x.what, now.All)
		}
	}
}
