package rgb

import (
	"bytes"
	"fmt"
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
