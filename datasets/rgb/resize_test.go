package rgb

import (
	"bytes"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

func TestResizeMatchesPillow(t *testing.T) {
	for _, name := range []string{"photo", "sketch", "odd"} {
		src := readImage(t, "src_"+name+".png")
		before := bytes.Clone(src.Pix)
		for _, size := range []int{32, 96} {
			t.Run(fmt.Sprint(name, size), func(t *testing.T) {
				want := readImage(t, fmt.Sprintf("%s_resize%d.png", name, size))
				got := src.Resize(size, size)
				if !bytes.Equal(got.Pix, want.Pix) {
					t.Error("pixels differ from Pillow's")
				}
				if !bytes.Equal(src.Pix, before) {
					t.Error("the source was changed")
				}
			})
		}
	}
}

func TestResizeEdges(t *testing.T) {
	m := noise(7, 5)
	if got := m.Resize(7, 5); !bytes.Equal(got.Pix, m.Pix) || &got.Pix[0] == &m.Pix[0] {
		t.Error("resizing to the same size is not a copy")
	}
	// The two passes resize one axis after the other.
	if got, want := m.Resize(3, 9), m.Resize(3, 5).Resize(3, 9); !bytes.Equal(got.Pix, want.Pix) {
		t.Error("columns are not scaled after rows")
	}
	one := New(1, 1)
	one.Set(0, 0, 255, 128, 7)
	for i, v := range one.Resize(31, 17).Pix {
		if want := one.Pix[i%3]; v != want {
			t.Fatalf("byte %d of an enlarged pixel is %d, want %d", i, v, want)
		}
	}
	white := New(997, 3)
	for i := range white.Pix {
		white.Pix[i] = 255
	}
	for i, v := range white.Resize(10, 1).Pix {
		if v != 255 { // weights sum to 1 to within their rounding
			t.Fatalf("byte %d of shrunk white is %d", i, v)
		}
	}
}

func TestResizeConcurrently(t *testing.T) {
	src := noise(50, 40)
	want := src.Resize(20, 30)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 2 * maxKernels { // overflows the kernel table, too
				src.Resize(1+i, 1+(i+g)%7)
			}
			if got := src.Resize(20, 30); !bytes.Equal(got.Pix, want.Pix) {
				t.Error("a concurrent resize differs")
			}
		})
	}
	wg.Wait()
}

func BenchmarkResize(b *testing.B) {
	for _, c := range []struct{ from, to int }{{128, 64}, {500, 64}, {32, 36}, {224, 252}} {
		b.Run(fmt.Sprintf("%dto%d", c.from, c.to), func(b *testing.B) {
			src, dst := noise(c.from, c.from), New(c.to, c.to)
			for b.Loop() {
				src.ResizeInto(dst)
			}
		})
	}
}

// A part of a scaled image equals that part of the whole, whatever the shape, and memory beyond
// the images is at most of their size.
func TestPartOfScaled(t *testing.T) {
	turn := func(m *Image) *Image {
		dst := New(m.Height, m.Width)
		for y := range m.Height {
			for x := range m.Width {
				r, g, b := m.At(x, y)
				dst.Set(y, x, r, g, b)
			}
		}
		return dst
	}
	rows := func(m *Image, w int, f Filter) *Image {
		dst := New(w, m.Height)
		resizeRows(dst, m, axis{m.Width, w, 0, w, f})
		return dst
	}
	for _, c := range []struct{ w, h, toW, toH, left, top, side int }{
		{1, 9000, 40, 50, 3, 4, 32}, {3, 30000, 64, 64, 0, 0, 64}, {30000, 3, 64, 64, 0, 0, 64}, {2, 90000, 16, 16, 1, 2, 13},
		{30, 20, 30, 50, 7, 9, 20}, {30, 20, 44, 20, 7, 0, 20}, {1, 9, 4, 9, 1, 1, 3}, {50, 40, 20, 16, 2, 0, 16}, {1, 1000, 8, 8000, 0, 3996, 8},
	} {
		for _, f := range filters {
			m := noise(c.w, c.h)
			whole := turn(rows(turn(rows(m, c.toW, f)), c.toH, f))
			got := New(c.side, c.side)
			m.partInto(got, c.toW, c.toH, c.left, c.top, f)
			for y := range c.side {
				if want := whole.Pix[3*(c.toW*(c.top+y)+c.left):][:3*c.side]; !bytes.Equal(got.Pix[3*c.side*y:][:3*c.side], want) {
					t.Fatalf("%+v by %s: row %d differs", c, f, y)
				}
			}
		}
	}
	for _, c := range []struct {
		w, h int
		fit  Fit
	}{{1, 100_000, Fit{224, 256, Bicubic}}, {5, 400_000, Fit{Size: 224}}, {400_000, 5, Fit{224, 256, Lanczos}}} {
		m, dst := New(c.w, c.h), New(224, 224)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		c.fit.Into(dst, m)
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
			t.Errorf("%d x %d pixels take %d MB", c.w, c.h, took>>20)
		}
	}
}
