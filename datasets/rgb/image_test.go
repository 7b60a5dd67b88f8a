package rgb

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func encodeJPEG(t testing.TB, m *Image) []byte {
	t.Helper()
	var b bytes.Buffer
	fatal.If(t, jpeg.Encode(&b, m.ToImage(), &jpeg.Options{Quality: 90}))
	return b.Bytes()
}

// noise is an image of random pixels.
func noise(w, h int) *Image {
	r := rand.New(rand.NewPCG(uint64(w), uint64(h)))
	m := New(w, h)
	for i := range m.Pix {
		m.Pix[i] = uint8(r.Uint32())
	}
	return m
}

func TestRoundTrip(t *testing.T) {
	m := noise(5, 3)
	if got := FromImage(m.ToImage()); !bytes.Equal(got.Pix, m.Pix) {
		t.Errorf("FromImage(ToImage) is %v, want %v", got.Pix, m.Pix)
	}
	c := m.Clone()
	c.Set(4, 2, 1, 2, 3)
	if r, g, b := c.At(4, 2); r != 1 || g != 2 || b != 3 {
		t.Errorf("At after Set is %d, %d, %d", r, g, b)
	}
	if bytes.Equal(c.Pix, m.Pix) {
		t.Error("a clone shares pixels with its original")
	}
}

func TestFromImage(t *testing.T) {
	rect := image.Rect(-2, 7, 1, 9) // not at the origin
	nrgba, nrgba64 := image.NewNRGBA(rect), image.NewNRGBA64(rect)
	gray, gray16 := image.NewGray(rect), image.NewGray16(rect)
	palette := image.NewPaletted(rect, color.Palette{color.White, color.NRGBA{9, 8, 7, 0}})
	rgba := image.NewRGBA(rect)
	at := image.Pt(0, 8)
	nrgba.SetNRGBA(at.X, at.Y, color.NRGBA{200, 100, 50, 3})
	nrgba64.SetNRGBA64(at.X, at.Y, color.NRGBA64{0xc8ff, 0x64ff, 0x32ff, 1})
	gray.SetGray(at.X, at.Y, color.Gray{77})
	gray16.SetGray16(at.X, at.Y, color.Gray16{0x4dff})
	palette.SetColorIndex(at.X, at.Y, 1)
	rgba.SetRGBA(at.X, at.Y, color.RGBA{200, 100, 50, 255})
	for _, c := range []struct {
		src  image.Image
		want [3]uint8
	}{
		{nrgba, [3]uint8{200, 100, 50}},
		{nrgba64, [3]uint8{200, 100, 50}},
		{gray, [3]uint8{77, 77, 77}},
		{gray16, [3]uint8{77, 77, 77}},
		{palette, [3]uint8{9, 8, 7}},
		{rgba, [3]uint8{200, 100, 50}},
		{nrgba.SubImage(image.Rect(-1, 8, 1, 9)), [3]uint8{200, 100, 50}},
	} {
		t.Run(fmt.Sprintf("%T", c.src), func(t *testing.T) {
			m := FromImage(c.src)
			b := c.src.Bounds()
			if m.Width != b.Dx() || m.Height != b.Dy() {
				t.Fatalf("size %d x %d", m.Width, m.Height)
			}
			r, g, bl := m.At(at.X-b.Min.X, at.Y-b.Min.Y)
			if got := [3]uint8{r, g, bl}; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestFromYCbCrSubImage(t *testing.T) {
	// A cut at even coordinates starts a chroma plane of its own.
	whole := image.NewYCbCr(image.Rect(0, 0, 8, 8), image.YCbCrSubsampleRatio420)
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range [][]uint8{whole.Y, whole.Cb, whole.Cr} {
		for i := range p {
			p[i] = uint8(r.Uint32())
		}
	}
	part := FromImage(whole.SubImage(image.Rect(2, 2, 8, 8)))
	full := FromImage(whole)
	for y := 1; y < 6; y++ {
		for x := 1; x < 6; x++ { // the first row and column have no neighbour in the cut
			r0, g0, b0 := full.At(x+2, y+2)
			if r, g, b := part.At(x, y); r != r0 || g != g0 || b != b0 {
				t.Fatalf("pixel (%d, %d) is %d, %d, %d; want %d, %d, %d", x, y, r, g, b, r0, g0, b0)
			}
		}
	}
}

func TestPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"New":       func() { New(0, 4) },
		"Resize":    func() { New(2, 2).Resize(3, -1) },
		"FromImage": func() { FromImage(image.NewGray(image.Rectangle{})) },
		"short Pix": func() { (&Image{Width: 2, Height: 2, Pix: make([]uint8, 3)}).Resize(1, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

func ExampleImage_Resize() {
	m := New(4, 1)
	m.Set(0, 0, 255, 0, 0)
	m.Set(1, 0, 255, 0, 0)
	small := m.Resize(2, 1)
	// The filter is two input pixels wide on either side of each centre.
	fmt.Println(small.At(0, 0))
	fmt.Println(small.At(1, 0))
	// Output:
	// 219 0 0
	// 36 0 0
}

// A row has the pixels of its pieces, which are too short for vectors: chroma widened, and colours.
func TestRowsAreTheirPieces(t *testing.T) {
	const n, piece = 2000, 10
	r := rand.New(rand.NewPCG(1, 2))
	rows := make([][]uint8, 5)
	for i := range rows {
		rows[i] = make([]uint8, n)
		for x := range rows[i] {
			rows[i][x] = uint8(r.IntN(256))
		}
	}
	rows[0][0], rows[1][0], rows[2][0] = 255, 255, 255
	got, want := make([]uint8, 3*n), make([]uint8, 3*n)
	fromChroma(got, rows[0], rows[1], rows[2])
	for x := 0; x < n; x += piece {
		fromChroma(want[3*x:3*(x+piece)], rows[0][x:], rows[1][x:], rows[2][x:])
	}
	if !bytes.Equal(got, want) {
		t.Error("the colours differ")
	}
	whole, part := channel{sums: make([]int16, n+2)}, channel{sums: make([]int16, piece+2)}
	for _, c := range [][5]int{{8, 7, 4, 3, 1}, {1, 2, 2, 1, 0}} {
		weights := [2]int16{int16(c[3]), int16(c[4])}
		whole.sum(rows[3], rows[4], weights)
		widen(got[:2*n], whole.sums, int16(c[0]), int16(c[1]), c[2])
		for x := 0; x < n; x += piece {
			part.sum(rows[3][x:x+piece], rows[4][x:x+piece], weights)
			if !slices.Equal(part.sums[1:piece+1], whole.sums[1+x:1+x+piece]) {
				t.Fatal("the sums differ")
			}
			widen(want[2*x:2*(x+piece)], whole.sums[x:x+piece+2], int16(c[0]), int16(c[1]), c[2])
		}
		if !bytes.Equal(got[:2*n], want[:2*n]) {
			t.Error("the widened rows differ")
		}
	}
}
