package datasets

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/glyphs"
)

func ExampleGlyphs() {
	d, truth, err := Glyphs(glyphsPerClass)
	if err != nil {
		fmt.Println(err)
		return
	}
	i, _ := d.Index("photo/7/0042.png")
	m, err := d.Image(i)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Len(), d.Domains)
	fmt.Println(d.Examples[i].Split, d.Classes[truth.Class(i)], m.Width, m.Height)
	// Output:
	// 2400 [cartoon photo print sketch]
	// train 7 32 32
}

func TestGlyphsIsBalanced(t *testing.T) {
	for _, c := range []struct{ perClass, train, val int }{{60, 54, 6}, {10, 9, 1}, {1, 0, 1}, {7, 6, 1}} {
		d, truth := fatal.Get2(Glyphs(c.perClass))(t)
		var count [4][10][2]int
		for i, e := range d.Examples {
			count[e.Domain][truth.Class(i)][e.Split]++
		}
		for domain := range count {
			for class, got := range count[domain] {
				if want := [2]int{c.train, c.val}; got != want {
					t.Errorf("per class %d: %s/%d has %v train and val images, want %v", c.perClass, d.Domains[domain], class, got, want)
				}
			}
		}
	}
}

func TestGlyphsImages(t *testing.T) {
	d, truth := fatal.Get2(Glyphs(3))(t)
	for i, e := range d.Examples {
		m := fatal.Get(d.Image(i))(t)
		var index int
		if _, err := fmt.Sscanf(e.ID, d.Domains[e.Domain]+"/"+d.Classes[truth.Class(i)]+"/%d.png", &index); err != nil {
			t.Fatalf("%s: %v", e.ID, err)
		}
		want := glyphs.Render(e.Domain, truth.Class(i), index)
		if !bytes.Equal(m.Pix, want.Pix) {
			t.Errorf("%s is not the image of its domain, class and index", e.ID)
		}
	}
}

func TestGlyphsErrors(t *testing.T) {
	for _, n := range []int{0, -1, maxGlyphsPerClass + 1} {
		_, _, err := Glyphs(n)
		wantError(t, err, "glyphs", fmt.Sprintf("%d images", n), "1..10000")
	}
}

func TestOpenGlyphs(t *testing.T) {
	d, _ := fatal.Get2(Open("glyphs", "/no/such/folder", Options{Seed: 9}))(t)
	published, _ := fatal.Get2(Glyphs(glyphsPerClass))(t)
	if !slices.Equal(d.Examples, published.Examples) {
		t.Error("Open does not return the standard set")
	}
}
