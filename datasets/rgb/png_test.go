package rgb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// smallStrips makes all PNGs large ones, with strips of few rows.
func smallStrips(t testing.TB) {
	pixels, size := wholePNG, stripBytes
	t.Cleanup(func() { wholePNG, stripBytes = pixels, size })
	wholePNG, stripBytes = 0, 1000
}

// A PNG has the same pixels and errors in strips of rows as in one piece, whatever its colours.
func TestStripsOfPNG(t *testing.T) {
	files := map[string][]byte{}
	for _, path := range fatal.Get(filepath.Glob("testdata/*/*.png"))(t) {
		files[path] = fatal.Get(os.ReadFile(path))(t)
	}
	m := noise(61, 47).ToImage()
	grey, clear := image.NewGray(m.Bounds()), image.NewNRGBA(m.Bounds())
	palette := image.NewPaletted(m.Bounds(), color.Palette{color.NRGBA{1, 2, 3, 0}, color.NRGBA{200, 2, 3, 99}, color.White})
	for y := range 47 {
		for x := range 61 {
			grey.Set(x, y, m.At(x, y))
			clear.Set(x, y, color.NRGBA{uint8(x), uint8(y), 9, uint8(x * y)})
			palette.SetColorIndex(x, y, uint8(x+y)%3)
		}
	}
	for name, m := range map[string]image.Image{"rgb": m, "grey": grey, "clear": clear, "palette": palette} {
		var b bytes.Buffer
		fatal.If(t, png.Encode(&b, m))
		files[name] = b.Bytes()
		for _, n := range []int{b.Len() - 12, b.Len() - 40, 60} {
			files[name+" cut"] = b.Bytes()[:n]
		}
		wrong := bytes.Clone(b.Bytes())
		wrong[len(wrong)-20] ^= 1
		files[name+" changed"] = wrong
	}
	split := 0
	for name, data := range files {
		for _, rule := range []Decoding{Stored, Photo} {
			want, wantErr := rule.Decode(t.Context(), data)
			t.Run(name, func(t *testing.T) {
				smallStrips(t)
				if p, ok := stripsOf(data); ok && p.stride*p.height > stripBytes {
					split++
				}
				got, err := rule.Decode(t.Context(), data)
				if cut, wantCut := (*truncated)(nil), (*truncated)(nil); (err == nil) != (wantErr == nil) || errors.As(err, &cut) != errors.As(wantErr, &wantCut) {
					t.Fatalf("%v, want %v", err, wantErr)
				}
				if err == nil && !near(got, want, 0) {
					t.Error("other pixels")
				}
			})
		}
	}
	if split < 8 {
		t.Errorf("only %d in several strips", split)
	}
}

// Pillow's limit holds for PNGs in strips; others have the half.
func TestLargePNG(t *testing.T) {
	var b bytes.Buffer
	fatal.If(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 5, 5))))
	for _, c := range []struct {
		side, depth uint32
		ok          bool
	}{{13377, 8, true}, {13378, 8, false}, {9459, 16, true}, {9460, 16, false}} {
		data := bytes.Clone(b.Bytes())
		binary.BigEndian.PutUint32(data[16:], c.side)
		binary.BigEndian.PutUint32(data[20:], c.side)
		data[24] = byte(c.depth)
		copy(data[29:], crcOf(data[12:29]))
		if _, _, err := Size(data); (err == nil) != c.ok {
			t.Errorf("%d x %d pixels of %d bits: %v", c.side, c.side, c.depth, err)
		}
	}
}

// A baseline JPEG of a phone's 108 megapixels is decoded if it is scaled.
func TestLargeJPEG(t *testing.T) {
	data := encodeJPEG(t, noise(96, 45))
	at := bytes.Index(data, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(data[at+5:], 9000)
	binary.BigEndian.PutUint16(data[at+7:], 12000)
	for rule, want := range map[Decoding]string{Photo: "too large", "scaled448": "truncated"} {
		_, err := rule.Decode(t.Context(), data)
		fatal.Says(t, err, want)
	}
}

func FuzzStripsOfPNG(f *testing.F) {
	for _, path := range fatal.Get(filepath.Glob("testdata/*/*.png"))(f) {
		f.Add(fatal.Get(os.ReadFile(path))(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if w, h, err := Size(data); err != nil || w*h > 1<<16 {
			return
		}
		want, wantErr := Photo.Decode(t.Context(), data)
		smallStrips(t)
		got, err := Photo.Decode(t.Context(), data)
		if err == nil && wantErr == nil && !near(got, want, 0) {
			t.Error("other pixels")
		}
	})
}

func crcOf(b []byte) []byte {
	return binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(b))
}
