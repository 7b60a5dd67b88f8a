package datasets

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/datasets/glyphs"
	"github.com/ledg-go/ledg/internal/fatal"
)

func ExampleGlyphs() {
	d, truth, err := Glyphs(GlyphsConfig{})
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
	for _, c := range []struct{ perClass, train, val int }{{0, 54, 6}, {10, 9, 1}, {1, 0, 1}, {7, 6, 1}} {
		d, truth := fatal.Get2(Glyphs(GlyphsConfig{PerClass: c.perClass}))(t)
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
	d, truth := fatal.Get2(Glyphs(GlyphsConfig{Seed: new(uint64(5)), Size: 24, PerClass: 3}))(t)
	for i, e := range d.Examples {
		m := fatal.Get(d.Image(i))(t)
		var index int
		if _, err := fmt.Sscanf(e.ID, d.Domains[e.Domain]+"/"+d.Classes[truth.Class(i)]+"/%d.png", &index); err != nil {
			t.Fatalf("%s: %v", e.ID, err)
		}
		want := glyphs.Render(glyphs.Config{Seed: new(uint64(5)), Size: 24}, e.Domain, truth.Class(i), index)
		if m.Width != 24 || !bytes.Equal(m.Pix, want.Pix) {
			t.Errorf("%s is not the image of its domain, class and index", e.ID)
		}
	}
}

func TestGlyphsContentKey(t *testing.T) {
	digestOf := func(c GlyphsConfig) digest {
		d, _ := fatal.Get2(Glyphs(c))(t)
		return fatal.Get(d.source.digest(0))(t)
	}
	published := digestOf(GlyphsConfig{})
	if digestOf(GlyphsConfig{Seed: new(uint64(1)), Size: 32, PerClass: 5}) != published {
		t.Error("the same pixels have another digest")
	}
	for _, c := range []GlyphsConfig{{Seed: new(uint64(0))}, {Seed: new(uint64(2))}, {Size: 33}} {
		if digestOf(c) == published {
			t.Errorf("%+v has the standard digest", c)
		}
	}
}

func TestGlyphsErrors(t *testing.T) {
	for _, c := range []struct {
		config GlyphsConfig
		want   []string
	}{
		{GlyphsConfig{Size: 8}, []string{"glyphs", "size 8", "16..256"}},
		{GlyphsConfig{PerClass: -1}, []string{"glyphs", "-1 images", "1..10000"}},
		{GlyphsConfig{PerClass: 10001}, []string{"glyphs", "10001 images"}},
	} {
		_, _, err := Glyphs(c.config)
		wantError(t, err, c.want...)
	}
}

func TestOpenGlyphs(t *testing.T) {
	d, _ := fatal.Get2(Open("glyphs", "/no/such/folder", Options{Seed: 9}))(t)
	published, _ := fatal.Get2(Glyphs(GlyphsConfig{}))(t)
	if !slices.Equal(d.Examples, published.Examples) {
		t.Error("Open does not return the standard set")
	}
}
