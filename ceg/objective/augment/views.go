package augment

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// strongOps is the number of RandAugment operations in a strong view.
const strongOps = 2

// Weak returns the weakly augmented view of src: a flip with probability 1/2; then, with
// probability 1/2, a bilinear enlargement to EnlargedSide and a crop at offsets round(U(0,
// enlarged-side)) in x and y. Dassl's transforms "random_flip" and "random_translation".
func Weak(src *rgb.Image, r *rand.Rand) *rgb.Image {
	dst := rgb.New(src.Width, src.Height)
	new(Maker).Weak(dst, src, r)
	return dst
}

// Strong returns the strongly augmented view of src: a flip with probability 1/2, two operations
// of RandAugment, then a Cutout of CutoutLength of the shorter side, centred on a uniformly
// drawn pixel. There is no shift. Dassl's transforms "random_flip", "randaugment_fixmatch" and
// "cutout".
func Strong(src *rgb.Image, r *rand.Rand) *rgb.Image {
	dst := rgb.New(src.Width, src.Height)
	new(Maker).Strong(dst, src, r)
	return dst
}

// EnlargedSide returns the side to which Weak enlarges before it crops: 1.125*side, rounded half
// to even. It is 252 for the 224 of the published code, 36 for 32.
func EnlargedSide(side int) int { return int(math.RoundToEven(float64(side) * 1.125)) }

// CutoutLength returns the side of Strong's Cutout for an image of the given side: 16/224 of it,
// rounded to the nearest even number, at least 2. (Cutout extends half its length from the
// centre, so lengths are even.) It is 16 for the 224 of the published code, 10 for 128, 4 for 64
// and 48, 2 for 32.
func CutoutLength(side int) int { return 2 * max(1, (8*side+112)/224) }

// View is a named augmentation. Make writes a view of src into dst, which has the size of src
// and shares no memory with it; all randomness comes from r.
type View struct {
	Name string
	Make func(m *Maker, dst, src *rgb.Image, r *rand.Rand)
	// Kind tells feature vectors, for which Make does not apply, how to perturb: Plain, Weak or
	// Strong; "" marks a view for images only.
	Kind Kind
}

// Kind is the purpose of a view.
type Kind string

// The kinds of views.
const (
	PlainKind  Kind = "plain"
	WeakKind   Kind = "weak"
	StrongKind Kind = "strong"
)

// The views of the published code.
var (
	// PlainView is the unaugmented image.
	PlainView = View{"plain", func(_ *Maker, dst, src *rgb.Image, _ *rand.Rand) { copy(dst.Pix, src.Pix) }, PlainKind}
	// WeakView is the view of [Weak].
	WeakView = View{"weak", (*Maker).Weak, WeakKind}
	// StrongView is the view of [Strong].
	StrongView = View{"strong", (*Maker).Strong, StrongKind}
)

// Again returns the same augmentation under another name, for a second view of an image.
func (v View) Again(name string) View { return View{name, v.Make, v.Kind} }

// Maker computes views into images that the caller provides and reuses its scratch memory. The
// zero value is ready. A Maker is not safe for concurrent use. Its methods return the same
// pixels and draw the same numbers as the functions of the same name.
type Maker struct {
	flip, wide rgb.Image
	steps      [2]rgb.Image
}

// Weak writes the weakly augmented view of src into dst, which has the size of src and shares no
// memory with it.
func (m *Maker) Weak(dst, src *rgb.Image, r *rand.Rand) {
	mustMatch(dst, src)
	flip, shift := r.Float64() < 0.5, r.Float64() < 0.5
	if !shift {
		if flip {
			hflip(dst, src)
		} else {
			copy(dst.Pix, src.Pix)
		}
		return
	}
	w, h := src.Width, src.Height
	wide := m.wide.Reset(EnlargedSide(w), EnlargedSide(h))
	x0, y0 := offset(wide.Width-w, r), offset(wide.Height-h, r)
	if flip {
		hflip(m.flip.Reset(w, h), src)
		src = &m.flip
	}
	src.ResizeInto(wide)
	for y := range h {
		from := 3 * ((y0+y)*wide.Width + x0)
		copy(dst.Pix[3*y*w:3*(y+1)*w], wide.Pix[from:])
	}
}

// offset draws round(U(0, limit)), so that both ends have half the probability of
// the numbers between them, as in the published code.
func offset(limit int, r *rand.Rand) int {
	return int(math.RoundToEven(r.Float64() * float64(limit)))
}

// Strong writes the strongly augmented view of src into dst, which has the size of src and
// shares no memory with it.
func (m *Maker) Strong(dst, src *rgb.Image, r *rand.Rand) {
	mustMatch(dst, src)
	w, h := src.Width, src.Height
	if r.Float64() < 0.5 {
		hflip(m.flip.Reset(w, h), src)
		src = &m.flip
	}
	m.randAugment(dst, src, strongOps, r)
	cy, cx := r.IntN(h), r.IntN(w)
	cutout(dst, cx, cy, CutoutLength(min(w, h)))
}

// mustMatch panics unless dst has the size of src.
func mustMatch(dst, src *rgb.Image) {
	if dst.Width != src.Width || dst.Height != src.Height || len(dst.Pix) != len(src.Pix) {
		panic(fmt.Sprintf("augment: view of %dx%d pixels into an image of %dx%d",
			src.Width, src.Height, dst.Width, dst.Height))
	}
}
