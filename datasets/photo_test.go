package datasets

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

// sideways is a folder on disk with a photo whose EXIF orientation is 6 and one without.
func sideways(t testing.TB) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, from := range map[string]string{"north/cat/1.jpg": "jpeg_6.jpg", "north/cat/2.jpg": "jpeg_1.jpg"} {
		data := fatal.Get(os.ReadFile(filepath.Join("rgb/testdata/photo", from)))(t)
		path := filepath.Join(root, name)
		fatal.If(t, os.MkdirAll(filepath.Dir(path), 0o777))
		fatal.If(t, os.WriteFile(path, data, 0o666))
	}
	return root
}

// As photos, both images are upright, also in training; as stored, one lies on its side. The two
// have caches of their own, and that of stored images is what it was.
func TestDecoding(t *testing.T) {
	root, cache := sideways(t), t.TempDir()
	var caches []string
	for _, decoding := range []rgb.Decoding{rgb.Stored, rgb.Photo} {
		d, truth := fatal.Get2(Open("folder", root, Options{Decoding: decoding}))(t)
		m := fatal.Get(d.Image(0))(t)
		upright := m.Height > m.Width
		if upright != (decoding == rgb.Photo) {
			t.Errorf("%s: %d x %d pixels", decoding.Word(), m.Width, m.Height)
		}
		im := fatal.Get(Prepare(t.Context(), d, 8, cache, nil))(t)
		got := rgb.New(8, 8)
		fatal.If(t, im.Read(0, got))
		im.Close()
		want := rgb.New(8, 8)
		rgb.Fit{Size: 8}.Into(want, m)
		if !slices.Equal(got.Pix, want.Pix) {
			t.Errorf("%s: the pixels to train on are others than those of the image", decoding)
		}
		caches = append(caches, im.Digest())
		report := fatal.Get(Check(t.Context(), d, truth, nil))(t)
		line := map[rgb.Decoding]string{
			rgb.Photo:  "\n1 photo with an EXIF orientation is turned upright.\n",
			rgb.Stored: "\n1 photo with an EXIF orientation is taken as it is stored.\n",
		}[decoding]
		if report.Rotated != 1 || !strings.Contains(report.String(), line) {
			t.Errorf("%s: %d rotated, and the report is\n%s", decoding, report.Rotated, report)
		}
	}
	if caches[0] == caches[1] {
		t.Error("both decodings have one cache")
	}
	if sums := []digest{{1}, {2}}; cacheKey(8, sums, rgb.Stored) == cacheKey(8, sums, rgb.Photo) {
		t.Error("both decodings have one key")
	}
}

// The published data sets have their own decoding.
func TestDecodingOfPublished(t *testing.T) {
	_, _, err := Open("glyphs", "", Options{Decoding: rgb.Photo})
	wantError(t, err, "glyphs", "your own images")
}

func TestSiteDecoding(t *testing.T) {
	d, _ := fatal.Get2(Site(filepath.Join(sideways(t), "north"), []string{"cat"}, false, rgb.Photo, nil))(t)
	if m, err := d.Image(0); err != nil || m.Height < m.Width {
		t.Errorf("%v, %v", m, err)
	}
}
