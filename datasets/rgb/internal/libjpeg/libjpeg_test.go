package libjpeg

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The inverse DCT matches its definition (T.81, A.3.3) within one level, and a block without AC
// coefficients is flat.
func TestInverseDCT(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var basis [8][8]float64 // [sample][frequency]
	for x := range 8 {
		for u := range 8 {
			basis[x][u] = math.Cos(float64(2*x+1)*float64(u)*math.Pi/16) / 2
			if u == 0 {
				basis[x][u] /= math.Sqrt2
			}
		}
	}
	for trial := range 200 {
		var block [64]int32
		for i := range block {
			if r.IntN(4) == 0 {
				block[i] = int32(r.IntN(201) - 100)
			}
		}
		coefficients := block
		var got [64]uint8
		idct8(&block, got[:], 8)
		for y := range 8 {
			for x := range 8 {
				sum := 128.0
				for v := range 8 {
					for u := range 8 {
						sum += basis[y][v] * basis[x][u] * float64(coefficients[8*v+u])
					}
				}
				want := min(max(sum, 0), 255)
				if d := math.Abs(float64(got[8*y+x]) - want); d > 1 {
					t.Fatalf("trial %d, sample (%d, %d) is %d, want %.2f", trial, x, y, got[8*y+x], want)
				}
			}
		}
	}
	for _, dc := range []int32{-2000, -8, 0, 4, 12, 2000} {
		var byTransform, byFlat [64]uint8
		block := [64]int32{dc}
		idct8(&block, byTransform[:], 8)
		(&component{side: 8, table: &[64]int32{1}, plane: Plane{Pix: byFlat[:], Stride: 8}}).put(&[64]int16{int16(dc)}, false, 0, 0)
		if byTransform != byFlat {
			t.Errorf("DC %d: flat gives %d, the transform %d", dc, byFlat[0], byTransform[0])
		}
	}
}

// Blocks are transformed alike by vectors and by scalars, also where sums overflow, in damaged files.
func TestVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	vectors := 0
	for trial := range 3000 {
		c := component{side: 2 << (trial % 3), plane: Plane{Stride: 8}}
		var table [64]int32
		var b [64]int16
		for i := range b {
			table[i] = r.Int32N(1 << (1 + trial/300))
			if r.IntN(3) == 0 {
				b[i] = int16(r.Uint32()) >> (4 + r.IntN(12))
			}
		}
		c.quantise(&table)
		var got, want [64]uint8
		if c.large || !c.vectors(&b, got[:]) {
			continue
		}
		vectors++
		if c.scalars(&b, want[:]); got != want {
			t.Fatalf("trial %d: the vectors give %d, want %d", trial, got, want)
		}
	}
	if vectors > 0 && (vectors < 300 || vectors > 2400) { // none without AVX2
		t.Errorf("%d of 3000 blocks by vectors", vectors)
	}
}

// Every code of a table is read as its symbol, short ones by look-up and long ones by length.
func TestHuffman(t *testing.T) {
	// One code of each length up to 15 bits, and two of 16 bits; all ones is not a code.
	counts := [16]uint8{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}
	symbols := make([]byte, 16)
	for i := range symbols {
		symbols[i] = byte(100 + i)
	}
	table, ok := newTable(counts, symbols)
	if !ok {
		t.Fatal("the table is refused")
	}
	for l := 1; l <= 16; l++ {
		code := uint64(1)<<l - 2 // l-1 ones and a zero
		r := reader{acc: code << (64 - l), n: 32}
		if got := r.symbol(table); got != symbols[l-1] {
			t.Errorf("the code of %d bits is %d, want %d", l, got, symbols[l-1])
		}
		if r.n != 32-l {
			t.Errorf("the code of %d bits takes %d", l, 32-r.n)
		}
		if r.bad {
			t.Errorf("the code of %d bits is called bad", l)
		}
	}
	r := reader{acc: ^uint64(0), n: 32}
	r.symbol(table)
	if !r.bad {
		t.Error("sixteen ones are no code, and are taken for one")
	}
	if _, ok := newTable([16]uint8{3}, []byte{1, 2, 3}); ok {
		t.Error("three codes of one bit are taken")
	}
}

// Values after a code are those of T.81, F.2.2.1, and stuffed zeros behind 0xff are dropped.
func TestBits(t *testing.T) {
	for _, c := range []struct {
		bits uint64
		k    int
		want int32
	}{{0b0, 1, -1}, {0b1, 1, 1}, {0b00, 2, -3}, {0b01, 2, -2}, {0b10, 2, 2}, {0b11, 2, 3}, {0b000, 3, -7}, {0b111, 3, 7}} {
		r := reader{acc: c.bits << (64 - c.k), n: c.k}
		if got := r.value(c.k); got != c.want {
			t.Errorf("%0*b is %d, want %d", c.k, c.bits, got, c.want)
		}
	}
	for name, data := range map[string][]byte{
		"in a short run": {0xff, 0x00, 0x12},
		"in a long run":  append(bytes.Repeat([]byte{0x55}, 7), 0xff, 0x00, 0x12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11),
	} {
		var r reader
		r.start(data, 0)
		want := bytes.ReplaceAll(data, []byte{0xff, 0x00}, []byte{0xff})
		for i, w := range want {
			r.fill()
			if got := r.take(8); got != int32(w) {
				t.Errorf("%s: byte %d is %#x, want %#x", name, i, got, w)
				break
			}
		}
	}
	var r reader
	if at := r.start([]byte{9, 0xab, 0xff, 0xd9}, 1); at != 2 {
		t.Errorf("the marker is at %d, want 2", at)
	}
	r.fill()
	if got := r.take(8); got != 0xab || r.short() {
		t.Errorf("the byte before a marker is %#x, want 0xab", got)
	}
	for i := range 300 {
		if r.bit() || !r.short() {
			t.Errorf("%d bits behind the last: short %v; want zeros", i, r.short())
		}
	}
}

// encoded is a picture with a gradient as image/jpeg writes it, in colour or grey.
func encoded(t *testing.T, width, height int, grey bool) []byte {
	t.Helper()
	var m image.Image
	at := func(x, y int) uint8 { return uint8(40 + 170*(x+y)/(width+height)) }
	if grey {
		g := image.NewGray(image.Rect(0, 0, width, height))
		for i := range g.Pix {
			g.Pix[i] = at(i%width, i/width)
		}
		m = g
	} else {
		c := image.NewRGBA(image.Rect(0, 0, width, height))
		for y := range height {
			for x := range width {
				c.Set(x, y, color.RGBA{at(x, y), 100, at(y, x), 255})
			}
		}
		m = c
	}
	var b bytes.Buffer
	fatal.If(t, jpeg.Encode(&b, m, &jpeg.Options{Quality: 95}))
	return b.Bytes()
}

// Samples are those of image/jpeg to within the difference of two inverse DCTs, and planes
// have the sizes of their subsampling.
func TestDecode(t *testing.T) {
	const width, height = 21, 13
	for _, grey := range []bool{true, false} {
		data := encoded(t, width, height, grey)
		w, h := fatal.Get2(Size(data))(t)
		if w != width || h != height {
			t.Errorf("the size is %d x %d, want %d x %d", w, h, width, height)
		}
		var p *Picture
		fatal.If(t, Decode(context.Background(), data, 1, func(all *Picture, _, _ int) { p = all }))
		want := fatal.Get(jpeg.Decode(bytes.NewReader(data)))(t)
		if grey {
			if p.Colours != Grey || len(p.Planes) != 1 {
				t.Fatalf("colours %d in %d planes, want grey in one", p.Colours, len(p.Planes))
			}
			near(t, "grey", p.Planes[0], width, height, want.(*image.Gray).Pix, want.(*image.Gray).Stride)
			continue
		}
		if p.Colours != YCbCr || len(p.Planes) != 3 {
			t.Fatalf("colours %d in %d planes, want YCbCr in three", p.Colours, len(p.Planes))
		}
		m := want.(*image.YCbCr)
		near(t, "Y", p.Planes[0], width, height, m.Y, m.YStride)
		near(t, "Cb", p.Planes[1], (width+1)/2, (height+1)/2, m.Cb, m.CStride)
		near(t, "Cr", p.Planes[2], (width+1)/2, (height+1)/2, m.Cr, m.CStride)
		if c := p.Planes[1]; c.H != 2 || c.V != 2 {
			t.Errorf("chroma has a sample for %d x %d pixels, want 2 x 2", c.H, c.V)
		}
	}
}

func near(t *testing.T, name string, p Plane, width, height int, want []uint8, stride int) {
	t.Helper()
	if p.Width != width || p.Height != height {
		t.Errorf("%s is %d x %d, want %d x %d", name, p.Width, p.Height, width, height)
		return
	}
	for y := range height {
		for x := range width {
			got, want := int(p.Pix[y*p.Stride+x]), int(want[y*stride+x])
			if got < want-3 || got > want+3 {
				t.Fatalf("%s (%d, %d) is %d, image/jpeg has %d", name, x, y, got, want)
			}
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	whole := encoded(t, 16, 16, false)
	frame := bytes.Index(whole, []byte{0xff, 0xc0})
	changed := func(at int, b byte) []byte {
		data := bytes.Clone(whole)
		data[at] = b
		return data
	}
	var format FormatError
	var unsupported UnsupportedError
	if err := Decode(t.Context(), whole[:len(whole)/2], 1, nil); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("half a picture: %v", err)
	}
	if err := Decode(t.Context(), []byte("GIF89a"), 1, nil); !errors.As(err, &format) && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a GIF: %v", err)
	}
	if err := Decode(t.Context(), changed(frame+1, 0xc9), 1, nil); !errors.As(err, &unsupported) {
		t.Errorf("arithmetic coding: %v", err)
	}
	if err := Decode(t.Context(), changed(frame+4, 12), 1, nil); !errors.As(err, &unsupported) {
		t.Errorf("12 bits: %v", err)
	}
	stopped, stop := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	stop(enough)
	if err := Decode(stopped, encoded(t, 600, 600, false), 1, nil); !errors.Is(err, enough) {
		t.Errorf("a picture that nobody waits for: %v", err)
	}
}
