package augment

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"testing"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// Turned hues of 86^3 colours are Pillow's: the digests were made with Pillow 13 by
// splitting the HSV image, adding int(v*255) to H modulo 256, and merging again.
func TestHueIsPillows(t *testing.T) {
	src := rgb.New(86*86*86, 1)
	i := 0
	for r := range 86 {
		for g := range 86 {
			for b := range 86 {
				src.Pix[i], src.Pix[i+1], src.Pix[i+2] = uint8(3*r), uint8(3*g), uint8(3*b)
				i += 3
			}
		}
	}
	for v, want := range map[float64]string{
		0:      "c249fdf0fdf905a195d394998810ab24b820e30d57c365cde07b3f6406d5d2ce",
		0.4:    "d85edd83a9fb4befefd5bdd6284c80549235e26bbdf16c7a6b9b266ee9d9232a",
		-0.4:   "d3cc1ea234f14611184284f787aa3ef320a03bca907defbb9da7971fd36e56ce",
		0.1234: "2d81f197224cb3e058116b77bbe8297a8ba25e1a306017b82ba3b4f398f47801",
		-0.3:   "050c72d9a09d41519077aa8012205491d4c26802d8393249bc0057a1d8596663",
	} {
		sum := sha256.Sum256(Hue(src, v).Pix)
		if got := hex.EncodeToString(sum[:]); got != want {
			t.Errorf("turned by %v: %s, want %s", v, got, want)
		}
	}
}

// The views of other methods keep the size, leave the source alone, depend on the
// stream alone, and are no two times the same.
func TestOwnViews(t *testing.T) {
	src := rgb.New(40, 30)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range src.Pix {
		src.Pix[i] = uint8(r.IntN(256))
	}
	before := bytes.Clone(src.Pix)
	for _, v := range []View{PhotoView, GreyPhotoView, WideStrongView} {
		var m Maker
		make := func(seed uint64) []uint8 {
			dst := rgb.New(40, 30)
			v.Make(&m, dst, src, rand.New(rand.NewPCG(seed, 0)))
			return dst.Pix
		}
		grey := 0
		for seed := range uint64(400) {
			p := make(seed)
			same := true
			for i := 0; i < len(p); i += 3 {
				same = same && p[i] == p[i+1] && p[i] == p[i+2]
			}
			if same {
				grey++
			}
		}
		if v.Name == "grey photo" && (grey < 20 || grey > 60) || v.Name == "photo" && grey > 0 {
			t.Errorf("%s: %d of 400 are grey", v.Name, grey)
		}
		if !bytes.Equal(make(7), make(7)) || bytes.Equal(make(7), make(8)) {
			t.Errorf("%s does not depend on the stream alone", v.Name)
		}
	}
	if !bytes.Equal(src.Pix, before) {
		t.Error("the source has changed")
	}
}

// Parts are of 80 to 100% of the area, up to rounding, and inside.
func TestRandomPart(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		x, y, w, h := randomPart(64, 48, r)
		if x < 0 || y < 0 || x+w > 64 || y+h > 48 || float64(w*h) < 0.78*64*48 {
			t.Fatalf("a part of %dx%d at %d, %d", w, h, x, y)
		}
	}
	if x, y, w, h := randomPart(100, 10, r); w > 13 || h != 10 || x != (100-w)/2 || y != 0 {
		t.Errorf("of a strip, %dx%d at %d, %d", w, h, x, y)
	}
}

func TestWidePolicy(t *testing.T) {
	list := widePolicy
	if len(list) != 15 || list[14].Name != "Invert" || list[1].Max != 1.9 {
		t.Errorf("the policy is %+v", list)
	}
	src := rgb.New(1, 1)
	copy(src.Pix, []uint8{0, 100, 255})
	if p := list[14].Apply(src, 0).Pix; !bytes.Equal(p, []uint8{255, 155, 0}) {
		t.Errorf("inverted, %v", p)
	}
}
