package datasets

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/rgb"
)

func TestNoPhoto(t *testing.T) {
	for name, want := range map[string]string{
		"a.jpg~": "backup", "A.JPG.BAK": "backup", "a.tif.orig": "backup", "a.jpg_original": "backup", "a.png.~12~": "backup", "#a.png#": "backup", "a.jpg.1": "backup", "a.jpg.bak2": "backup", "a.jpg.!ut": "partial",
		"a.webp.old": "backup", "a.jpg.tmp": "backup", "a.jpg.part": "partial", "Unconfirmed 1.crdownload": "partial", "a.JPG.download": "partial",
		".a.jpg.icloud": "iCloud",
		"a.jpg":         "", "a copy.jpg": "", "a.jpg.jpg": "", "bak.jpg": "", "a.bak.jpg": "", "parts": "", "notes.bak": "", "._a.jpg": "", "a~b.jpg": "",
	} {
		photo, reason := NoPhoto(name)
		if want == "" && reason != "" || !strings.Contains(reason, want) {
			t.Errorf("%s: %q, want %q", name, reason, want)
		}
		if want == "iCloud" && photo != "a.jpg" {
			t.Errorf("%s stands for %s", name, photo)
		}
	}
}

// Check says which sites have pictures that the network sees as black, and lists files that are
// not photos of their own.
func TestCheckPictures(t *testing.T) {
	fsys := pictures(t, "east/1.png", "west/1.png", "west/2.png", "west/3.png")
	twelve := image.NewGray16(image.Rect(0, 0, 30, 30))
	for i := range 900 {
		twelve.SetGray16(i%30, i/30, color.Gray16{uint16(i * 4)})
	}
	var b bytes.Buffer
	fatal.If(t, png.Encode(&b, twelve))
	fsys["east/2.png"] = &fstest.MapFile{Data: b.Bytes()}
	fsys["west/black.png"] = pngFile(t, rgb.New(9, 9))
	for _, name := range []string{"east/1.png~", "east/2.png.part", "west/.4.png.icloud"} {
		fsys[name] = fsys["east/1.png"]
	}
	d, truth := fatal.Get2(Folder(fsys, Options{Classes: []string{"deer"}}))(t)
	r := fatal.Get(Check(t.Context(), d, truth, nil))(t)
	want := []PictureCount{{Domain: "east", Decoded: 2, Narrow: 1, Low: r.Pictures[0].Low, High: r.Pictures[0].High}, {Domain: "west", Decoded: 4, Flat: 1}}
	if !slices.Equal(r.Pictures, want) || r.Pictures[0].High < 3500 || r.Pictures[0].High > 3600 {
		t.Errorf("%+v, want %+v", r.Pictures, want)
	}
	for _, part := range []string{"1 image of east uses 6% of the 16 bits (values 0 to 4095), 16 of 256", "-level 0%,6.25%", "1 of 4 images of west (25%) is nearly black"} {
		if !strings.Contains(r.String(), part) {
			t.Errorf("%q is not in\n%s", part, r)
		}
	}
	var skipped []string
	for _, f := range d.Skipped {
		skipped = append(skipped, f.ID)
	}
	if !slices.Equal(skipped, []string{"east/1.png~", "east/2.png.part", "west/4.png"}) || len(r.Unreadable) != 0 {
		t.Errorf("skipped %v, unreadable %v", skipped, r.Unreadable)
	}
	if said := d.SayPictures(); strings.Count(said, "\n") != 1 { // that of east, and many black ones
		t.Errorf("said: %s", said)
	}
}

func TestPictureLines(t *testing.T) {
	var east, west PictureCount
	west.Domain = "west"
	east.Add(rgb.Facts{Pages: 3})
	west.Add(rgb.Facts{Pages: 2, Preview: true})
	west.Add(rgb.Facts{Pages: 1, Low: 29000, High: 31000})
	lines := pictureLines([]PictureCount{east, west}, 0)
	if len(lines) != 2 || !strings.HasPrefix(lines[0], "2 files have 2 to 3 pages; the first is used, which is a preview of a larger one in 1:") ||
		!strings.Contains(lines[1], "west uses 3% of the 16 bits (values 29000 to 31000)") {
		t.Errorf("%q", lines)
	}
	for c, want := range map[PictureCount][2]int{{Low: 1696, High: 3104}: {0, 4095}, {Low: 7000, High: 8500}: {7000, 8500}, {Low: 40000, High: 50000}: {40000, 50000}} {
		if low, high := c.window(); low != want[0] || high != want[1] {
			t.Errorf("%+v: window %d to %d, want %v", c, low, high, want)
		}
	}
	if lines := pictureLines([]PictureCount{{Decoded: 100, Flat: 9}, {Domain: "plain", Decoded: 5}}, manyFlat); len(lines) != 0 {
		t.Errorf("few black images: %q", lines)
	}
}
