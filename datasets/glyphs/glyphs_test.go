package glyphs

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"testing"

	"github.com/ledg-go/ledg/datasets/rgb"
)

func Example() {
	const photo, seven = 1, 7
	m := Render(photo, seven, 17)
	fmt.Println(Domains()[photo], Classes()[seven])
	fmt.Println(m.Width, m.Height, len(m.Pix))
	// Output:
	// photo 7
	// 32 32 3072
}

// The checksums below have no other origin than this package: they were taken
// when version 1 was frozen, on amd64, and were the same with GOARCH=386 and
// with GOAMD64=v3, where the compiler may fuse floating-point operations.

func TestWholeSetIsPinnedAndDistinct(t *testing.T) {
	want := []uint32{0xd001e107, 0x1c1d0949, 0x7544b153, 0x88ccdf11}
	seen := map[uint32]string{}
	for domain, name := range Domains() {
		sum := crc32.NewIEEE()
		for class := range 10 {
			for index := range 60 {
				m := Render(domain, class, index)
				sum.Write(m.Pix)
				id, own := fmt.Sprintf("%s/%d/%04d", name, class, index), crc32.ChecksumIEEE(m.Pix)
				if other, ok := seen[own]; ok {
					t.Errorf("%s and %s are equal", id, other)
				}
				seen[own] = id
			}
		}
		if got := sum.Sum32(); got != want[domain] {
			t.Errorf("%s: checksum of 600 images = %#08x, want %#08x", name, got, want[domain])
		}
	}
}

func TestImagesArePinned(t *testing.T) {
	for _, c := range []struct {
		domain, class, index int
		want                 uint32
	}{{0, 3, 0, 0xb5438c21}, {1, 7, 42, 0x09289394}, {2, 0, 59, 0x56d4110c}, {3, 9, 9999, 0x52f22ebc}} {
		m := Render(c.domain, c.class, c.index)
		if got := crc32.ChecksumIEEE(m.Pix); got != c.want {
			t.Errorf("%d/%d/%d: checksum %#08x, want %#08x", c.domain, c.class, c.index, got, c.want)
		}
	}
}

func TestArgumentsAreTheImage(t *testing.T) {
	base := Render(1, 4, 5)
	for _, c := range []struct {
		name string
		m    *rgb.Image
		same bool
	}{
		{"again", Render(1, 4, 5), true},
		{"other index", Render(1, 4, 6), false},
		{"other class", Render(1, 5, 5), false},
		{"other domain", Render(0, 4, 5), false},
	} {
		if got := bytes.Equal(base.Pix, c.m.Pix); got != c.same {
			t.Errorf("%s: same pixels = %t, want %t", c.name, got, c.same)
		}
	}
}

// TestEveryDigitIsVisible draws each image a second time from the same random
// stream with another digit, so that only the glyph differs, and wants enough
// pixels that differ clearly: else the class could not be seen in the image.
func TestEveryDigitIsVisible(t *testing.T) {
	const clearly, pixels = 28, 32
	for domain, s := range styles {
		for class := range 10 {
			for index := range 60 {
				a := Render(domain, class, index)
				p := newPainter(stream(domain, class, index))
				s.draw(p, (class+1)%10)
				b := p.image()
				count := 0
				for i := range p.canvas {
					x, y := colourAt(a, i), colourAt(b, i)
					if x.distance(y) >= clearly {
						count++
					}
				}
				if count < pixels {
					t.Errorf("%s/%d/%04d: only %d pixels depend on the digit", s.name, class, index, count)
				}
			}
		}
	}
}

func colourAt(m *rgb.Image, i int) colour {
	r, g, b := m.At(i%m.Width, i/m.Width)
	return colour{int(r), int(g), int(b)}
}

func TestBadArguments(t *testing.T) {
	for name, f := range map[string]func(){
		"domain": func() { Render(4, 0, 0) },
		"class":  func() { Render(0, 10, 0) },
		"index":  func() { Render(0, 0, -1) },
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

func BenchmarkRender(b *testing.B) {
	for domain, s := range styles {
		b.Run(s.name, func(b *testing.B) {
			index := 0
			for b.Loop() {
				Render(domain, index%10, index)
				index++
			}
		})
	}
}
