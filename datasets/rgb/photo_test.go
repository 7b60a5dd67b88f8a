package rgb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Photos are upright and on white, as Pillow makes them; composited colours may be rounded to
// the neighbour. As stored they are not.
func TestPhotoMatchesPillow(t *testing.T) {
	files := fatal.Get(filepath.Glob("testdata/photo/*"))(t)
	tested := 0
	for _, path := range files {
		name := filepath.Base(path)
		stem, ext, _ := strings.Cut(name, ".")
		if ext == "want.png" {
			continue
		}
		tested++
		t.Run(name, func(t *testing.T) {
			data := fatal.Get(os.ReadFile(path))(t)
			got := fatal.Get(Photo.Decode(t.Context(), data))(t)
			want := readImage(t, "photo/"+stem+".want.png")
			slack := 0
			if strings.Contains(name, "alpha") {
				slack = 1 // Pillow rounds alpha's products to 16 bits first
			}
			if !near(got, want, slack) {
				t.Errorf("%d x %d pixels differ from the %d x %d of Pillow", got.Width, got.Height, want.Width, want.Height)
			}
			stored := fatal.Get(Stored.Decode(t.Context(), data))(t)
			if same := near(stored, want, 0); same != (stem == "jpeg_1" || stem == "jpeg_99") {
				t.Errorf("as stored it is the same: %v", same)
			}
		})
	}
	if tested < 20 {
		t.Errorf("only %d images in testdata/photo", tested)
	}
}

// near reports whether no byte differs by more than slack.
func near(a, b *Image, slack int) bool {
	if a.Width != b.Width || a.Height != b.Height {
		return false
	}
	for i, v := range a.Pix {
		if d := int(v) - int(b.Pix[i]); d > slack || d < -slack {
			return false
		}
	}
	return true
}

// A GIF whose first frame is a part of the picture lies on white.
func TestPhotoOfPartOfGIF(t *testing.T) {
	data := fatal.Get(os.ReadFile("testdata/decode/gif_part.gif"))(t)
	m := fatal.Get(Photo.Decode(t.Context(), data))(t)
	if r, g, b := m.At(0, 0); r != 255 || g != 255 || b != 255 {
		t.Errorf("outside of the frame it is %d, %d, %d, want white", r, g, b)
	}
}

// No damage in a block of metadata ends a program, and none makes an orientation of no kind.
func FuzzOrientation(f *testing.F) {
	for _, name := range []string{"jpeg_6.jpg", "png_6.png", "tiff_6.tif", "webp_6.webp"} {
		data := fatal.Get(os.ReadFile("testdata/photo/" + name))(f)
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if o := Orientation(data); o < 1 || o > 8 {
			t.Errorf("orientation %d", o)
		}
	})
}

func TestParseDecoding(t *testing.T) {
	for _, d := range Decodings {
		if got, err := ParseDecoding(d.Word()); err != nil || got != d {
			t.Errorf("%q: %q, %v", d, got, err)
		}
	}
	if _, err := ParseDecoding(""); err == nil {
		t.Error("no word is one")
	}
}
