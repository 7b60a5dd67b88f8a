package exchange

import (
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/datasets"
)

// A JPEG file, whose digest says how it is decoded, is found by its bytes under another name.
func TestRenamedJPEG(t *testing.T) {
	root, other := filepath.Join(t.TempDir(), "photos"), t.TempDir()
	for _, path := range []string{filepath.Join(root, "north", "1.jpg"), filepath.Join(other, "cat", "renamed.jpg")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := jpeg.Encode(f, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	d, _, err := datasets.Open("folder", root, datasets.Options{Classes: []string{"cat", "dog"}})
	if err != nil {
		t.Fatal(err)
	}
	im, err := Read(t.Context(), Folder, other, ReadOptions{Classes: d.Classes})
	if err != nil {
		t.Fatal(err)
	}
	events, err := im.Events(matcher(t, d))
	if err != nil || len(events) != 1 || events[0].ID != "north/1.jpg" || events[0].Class != "cat" {
		t.Errorf("%+v, %v", events, err)
	}
}
