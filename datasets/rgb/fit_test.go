package rgb

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// Every filter gives Pillow's bytes (ceg/nets/onnx/imported/testdata/make.py).
func TestFiltersMatchPillow(t *testing.T) {
	var golden struct {
		Width, Height int
		Pixels        []int
		Resized       []struct {
			Filter        Filter
			Width, Height int
			Pixels        []int
		}
	}
	b, err := os.ReadFile("testdata/filters.json")
	if err == nil {
		err = json.Unmarshal(b, &golden)
	}
	if err != nil {
		t.Fatal(err)
	}
	bytes := func(list []int) (b []uint8) {
		for _, v := range list {
			b = append(b, uint8(v))
		}
		return b
	}
	m := &Image{golden.Width, golden.Height, bytes(golden.Pixels)}
	for _, c := range golden.Resized {
		got := New(c.Width, c.Height)
		m.resizeInto(got, c.Filter)
		if !slices.Equal(got.Pix, bytes(c.Pixels)) {
			t.Errorf("%s to %d x %d differs", c.Filter, c.Width, c.Height)
		}
	}
	if len(golden.Resized) == 0 {
		t.Error("no golden values")
	}
}

// The middle of an image whose short side was scaled.
func TestFit(t *testing.T) {
	m := New(30, 20)
	for i := range m.Pix {
		m.Pix[i] = uint8(i * 7)
	}
	got := New(8, 8)
	Fit{Size: 8, Short: 11, Filter: Bicubic}.Into(got, m)
	whole := New(16, 11) // 11*30/20 = 16.5
	m.resizeInto(whole, Bicubic)
	for y := range 8 {
		for x := range 8 {
			r, g, b := got.At(x, y)
			wr, wg, wb := whole.At(x+4, y+2) // (16-8)/2, and (11-8)/2 = 1.5 to even
			if r != wr || g != wg || b != wb {
				t.Fatalf("pixel %d, %d differs", x, y)
			}
		}
	}
	Fit{Size: 8}.Into(got, m)
	if want := m.Resize(8, 8); !slices.Equal(got.Pix, want.Pix) {
		t.Error("without a short side it is not Resize")
	}
	for _, f := range []Fit{{}, {Size: 8, Short: 7}, {Size: 8, Filter: "box"}} {
		if f.Check() == nil {
			t.Errorf("%+v is no error", f)
		}
	}
}
