package datasets

import (
	"crypto/sha256"
	"fmt"
	"path"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/emoji"
)

// Every artist drew the same emoji, and the split is by emoji, of about a tenth.
func TestEmojiIsPairedAndSplitByConcept(t *testing.T) {
	d, truth := fatal.Get2(Open("emoji", "", Options{Seed: 3}))(t)
	if d.Len() != 4*784 || len(d.Domains) != 4 || len(d.Classes) != 16 || d.Groups != nil {
		t.Fatalf("%d images, domains %v, classes %v, groups %v", d.Len(), d.Domains, d.Classes, d.Groups)
	}
	type concept struct {
		class int
		split Split
	}
	seen, times, val := map[string]concept{}, map[string]int{}, map[int]int{}
	for i, e := range d.Examples {
		name, c := path.Base(e.ID), concept{truth.Class(i), e.Split}
		if old, ok := seen[name]; ok && old != c {
			t.Errorf("%s: %v, and %v in another domain", e.ID, c, old)
		}
		seen[name] = c
		times[name]++
		if e.Split == Val {
			val[c.class]++
		}
	}
	for name, n := range times {
		if n != 4 {
			t.Errorf("%s is in %d domains, want 4", name, n)
		}
	}
	for c, class := range d.Classes {
		if val[c] < 8 { // two of the 21 birds
			t.Errorf("class %s has %d validation images, want 8 or more", class, val[c])
		}
	}
}

// A second seed draws another split, and the same seed the same.
func TestEmojiSplitFollowsSeed(t *testing.T) {
	splits := func(seed uint64) (list []Split) {
		d, _ := fatal.Get2(Emoji(Options{Seed: seed}))(t)
		for _, e := range d.Examples {
			list = append(list, e.Split)
		}
		return list
	}
	differs := func(a, b []Split) bool {
		for i := range a {
			if a[i] != b[i] {
				return true
			}
		}
		return false
	}
	if a := splits(1); differs(a, splits(1)) || !differs(a, splits(2)) {
		t.Error("the split does not follow the seed")
	}
}

// No two images of a domain are the same file, and every one is 64 x 64.
func TestEmojiImages(t *testing.T) {
	d, _ := fatal.Get2(Emoji(Options{}))(t)
	seen := map[string]string{}
	for i, e := range d.Examples {
		m := fatal.Get(d.Image(i))(t)
		if m.Width != 64 || m.Height != 64 {
			t.Errorf("%s is %d x %d", e.ID, m.Width, m.Height)
		}
		key := d.Domains[e.Domain] + string(m.Pix)
		if other, ok := seen[key]; ok {
			t.Errorf("%s equals %s", e.ID, other)
		}
		seen[key] = e.ID
	}
}

// Committed records name the pixels as they were before the files were compressed again.
func TestEmojiDigest(t *testing.T) {
	d, _ := fatal.Get2(Emoji(Options{}))(t)
	const recorded = "504c5f047e455f78f84242073e72fbbb1f3d7144147046ec96defa528dd11d67" // finetune-emoji-64
	if got := fatal.Get(ImagesDigest(t.Context(), d, emoji.Size, t.TempDir()))(t); got != recorded {
		t.Errorf("the images are %s, want %s", got, recorded)
	}
	// The SHA-256 of all pixels, as the first files gave them.
	h := sha256.New()
	for i := range d.Examples {
		h.Write(fatal.Get(d.Image(i))(t).Pix)
	}
	const pixels = "086226de1cdc73139b514e879e633f7147aacf76cf0860c243e3ad23edbd0339"
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != pixels {
		t.Errorf("the pixels are %s, want %s", got, pixels)
	}
}
