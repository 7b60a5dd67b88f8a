package exchange

import (
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// A JPEG file, whose digest says how it is decoded, is found by its bytes under another name.
func TestRenamedJPEG(t *testing.T) {
	root, other := filepath.Join(t.TempDir(), "photos"), t.TempDir()
	for _, path := range []string{filepath.Join(root, "north", "1.jpg"), filepath.Join(other, "cat", "renamed.jpg")} {
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
		f := fatal.Get(os.Create(path))(t)
		fatal.If(t, jpeg.Encode(f, image.NewGray(image.Rect(0, 0, 8, 8)), nil))
		f.Close()
	}
	d, _ := fatal.Get2(datasets.Open("folder", root, datasets.Options{Classes: []string{"cat", "dog"}}))(t)
	im := fatal.Get(Read(t.Context(), Folder, other, ReadOptions{Classes: d.Classes}))(t)
	events, err := im.Events(matcher(t, d))
	if err != nil || len(events) != 1 || events[0].ID != "north/1.jpg" || events[0].Class != "cat" {
		t.Errorf("%+v, %v", events, err)
	}
}
