package photos

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets"
)

// Too little space is an error before an image is looked at.
func TestRoom(t *testing.T) {
	t.Parallel()
	root, cache := t.TempDir(), t.TempDir()
	fatal.If(t, os.Mkdir(filepath.Join(root, "north"), 0o777))
	for i := range 10 {
		var b bytes.Buffer
		fatal.If(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 8+i, 8))))
		fatal.If(t, os.WriteFile(filepath.Join(root, "north", string(rune('a'+i))+".png"), b.Bytes(), 0o666))
	}
	o := Options{By: datasets.Origin{Network: "smallcnn", Width: 4, Pooling: "mean", Size: 16, Weights: "none"}, CacheDir: cache, Backend: "go"}
	o.Progress = func(int, int) { t.Error("an image was looked at") }
	o.free = func(string) (int64, bool) { return 100, true }
	fatal.Says(t, fatal.Err(Embed(t.Context(), root, o)), " in "+cache+", and 100 B are free there: make room, or name another folder with --cache")
	o.Progress, o.free = nil, nil
	if _, err := Embed(t.Context(), root, o); err != nil {
		t.Error(err)
	}
}
