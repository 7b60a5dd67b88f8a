package rgb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// readImage decodes a file of testdata.
func readImage(t testing.TB, name string) *Image {
	t.Helper()
	f := fatal.Get(os.Open(filepath.Join("testdata", name)))(t)
	defer f.Close()
	m, err := Decode(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

func TestDecodeMatchesPillow(t *testing.T) {
	files := fatal.Get(filepath.Glob("testdata/decode/*"))(t)
	tested := 0
	for _, path := range files {
		name := filepath.Base(path)
		stem, ext, _ := strings.Cut(name, ".")
		if ext == "want.png" {
			continue
		}
		tested++
		t.Run(name, func(t *testing.T) {
			got := readImage(t, "decode/"+name)
			want := readImage(t, "decode/"+stem+".want.png")
			if got.Width != want.Width || got.Height != want.Height {
				t.Fatalf("size %d x %d, want %d x %d", got.Width, got.Height, want.Width, want.Height)
			}
			for i := range got.Pix {
				if got.Pix[i] != want.Pix[i] {
					t.Fatalf("byte %d is %d, want %d", i, got.Pix[i], want.Pix[i])
				}
			}
		})
	}
	if tested < 70 {
		t.Errorf("only %d images in testdata/decode", tested)
	}
}

func TestDecodeErrors(t *testing.T) {
	read := func(name string) []byte {
		return fatal.Get(os.ReadFile(filepath.Join("testdata/decode", name)))(t)
	}
	half := func(name string) []byte { data := read(name); return data[:len(data)/2] }
	jpg, pngData := read("jpeg_420.jpg"), read("rgb8.png")
	long := encodeJPEG(t, noise(40, 40))
	flipped := bytes.Clone(pngData)
	flipped[len(flipped)/2] ^= 1
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "empty"},
		{"JPEG with a component too few", bytes.Replace(jpg, []byte("\xff\xda\x00\x0c\x03"), []byte("\xff\xda\x00\x0c\x02"), 1), "scan header"},
		{"lossless JPEG", bytes.Replace(jpg, []byte("\xff\xc0"), []byte("\xff\xc3"), 1), "unsupported JPEG: a frame of type 3"},
		{"JPEG of 12 bits", bytes.Replace(jpg, []byte("\xff\xc0\x00\x11\x08"), []byte("\xff\xc0\x00\x11\x0c"), 1), "unsupported JPEG: 12 bits"},
		{"JPEG without a scan", append(bytes.Clone(jpg[:bytes.Index(jpg, []byte("\xff\xda"))]), 0xff, 0xd9), "component 1 has no scan"},
		{"JPEG whose restart markers are lost", bytes.Replace(read("jpegs_restart.jpg"), []byte("\xff\xd1"), nil, 1), "restart marker"},
		{"JPEG that ends in the picture", append(bytes.Clone(long[:len(long)*3/4]), 0xff, 0xd9), "truncated"},
		{"text", []byte("hello, world"), `none of JPEG, PNG, GIF, BMP, TIFF, WebP: it starts with "hello, w"`},
		{"half a JPEG", jpg[:len(jpg)/2], "truncated"},
		{"most of a JPEG", long[:len(long)/2], "truncated"},
		{"JPEG without its last byte", jpg[:len(jpg)-1], "truncated"},
		{"only the start of a JPEG", jpg[:4], "truncated"},
		{"half a PNG", pngData[:len(pngData)/2], "truncated"},
		{"damaged PNG", flipped, "png:"},
		{"half a GIF", half("gif_palette.gif"), "truncated"},
		{"half a BMP", half("bmp_rgb.bmp"), "truncated"},
		{"half a TIFF", half("tiff_rgb.tif"), ""},
		{"half a lossless WebP", half("webp_lossless.webp"), ""},
		{"half a lossy WebP", half("webp_lossy.webp"), ""},
		{"only the start of a WebP", read("webp_lossy.webp")[:16], "short chunk header"},
		{"sound", []byte("RIFF\x00\x00\x00\x00WAVEfmt "), "none of JPEG"},
		{"text that begins like a BMP", []byte("BMI is a number of doubtful use"), "none of JPEG"},
		{"enormous PNG", bomb(40000, 40000), "too large: 40000 x 40000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode(bytes.NewReader(c.data))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, %v; want an error with %q", m, err, c.want)
			}
			if got, want := errors.Is(err, ErrFormat), Format(c.data) == ""; got != want {
				t.Errorf("errors.Is(err, ErrFormat) is %v, want %v", got, want)
			}
		})
	}
}

// bomb is a PNG header that promises w by h pixels.
func bomb(w, h uint32) []byte {
	chunk := []byte("IHDR")
	chunk = binary.BigEndian.AppendUint32(chunk, w)
	chunk = binary.BigEndian.AppendUint32(chunk, h)
	chunk = append(chunk, 8, 2, 0, 0, 0)
	data := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	data = append(data, chunk...)
	return binary.BigEndian.AppendUint32(data, crc32.ChecksumIEEE(chunk))
}

func FuzzDecode(f *testing.F) {
	files := fatal.Get(filepath.Glob("testdata/decode/*"))(f)
	for _, path := range files {
		data := fatal.Get(os.ReadFile(path))(f)
		f.Add(data)
	}
	f.Add(manyScans(64, 20))
	f.Add(manyScans(2000, 99))
	f.Fuzz(func(t *testing.T, data []byte) {
		begun := time.Now()
		m, err := Decode(bytes.NewReader(data))
		if took := time.Since(begun); took > 10*time.Second {
			t.Fatalf("%d bytes take %v", len(data), took)
		}
		if err != nil {
			return
		}
		if m.Width < 1 || m.Height < 1 || len(m.Pix) != 3*m.Width*m.Height {
			t.Fatalf("%d x %d pixels in %d bytes", m.Width, m.Height, len(m.Pix))
		}
		var b bytes.Buffer
		fatal.If(t, png.Encode(&b, m.ToImage()))
		again, err := Decode(&b)
		if err != nil || !bytes.Equal(again.Pix, m.Pix) {
			t.Fatalf("the image changed on its way through PNG: %v", err)
		}
	})
}

func BenchmarkDecodeJPEG(b *testing.B) {
	m := readImage(b, "src_photo.png").Resize(227, 227)
	data := encodeJPEG(b, m)
	b.SetBytes(int64(len(m.Pix)))
	for b.Loop() {
		fatal.Get(Decode(bytes.NewReader(data)))(b)
	}
}
