package augment

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// strongOps is the number of RandAugment operations in a strong view.
const strongOps = 2

// Weak returns the weak view of src: mirrored with probability 1/2; then, with
// probability 1/2, enlarged to EnlargedSide (bilinear) and cropped back at offsets
// round(U(0, enlarged-side)) in x and y. Dassl's transforms "random_flip" and
// "random_translation".
func Weak(src *rgb.Image, r *rand.Rand) *rgb.Image {
	dst := rgb.New(src.Width, src.Height)
	new(Maker).Weak(dst, src, r)
	return dst
}

// Strong returns the strong view of src: mirrored with probability 1/2, two
// operations of RandAugment, then a Cutout of CutoutLength of the shorter side
// centred on a uniform pixel. There is no shift. Dassl's transforms "random_flip",
// "randaugment_fixmatch" and "cutout".
func Strong(src *rgb.Image, r *rand.Rand) *rgb.Image {
	dst := rgb.New(src.Width, src.Height)
	new(Maker).Strong(dst, src, r)
	return dst
}

// EnlargedSide returns the side to which Weak enlarges before it crops:
// 1.125*side, rounded to the nearest integer, a half to the even one. 252 for the
// 224 of the published code, 36 for 32.
func EnlargedSide(side int) int { return int(math.RoundToEven(float64(side) * 1.125)) }

// CutoutLength returns the length of the square that Strong cuts from an image
// with the given side: 16/224 of it, rounded to the nearest even number, at
// least 2. (Cutout goes half its length to each side of a centre, so lengths are
// effectively even.) 16 for the 224 of the published code, 10 for 128, 4 for 64
// and 48, 2 for 32.
func CutoutLength(side int) int { return 2 * max(1, (8*side+112)/224) }

// View is a kind of view by name. Make writes one of src into dst, which has the
// size of src and shares no memory with it, and draws from r alone.
type View struct {
	Name string
	Make func(m *Maker, dst, src *rgb.Image, r *rand.Rand)
	// Kind says what the view is for where examples are no images and Make is of no
	// use: Plain, Weak or Strong, or "" for a view of images alone.
	Kind Kind
}

// Kind is what a view is for.
type Kind string

// The kinds of views.
const (
	PlainKind  Kind = "plain"
	WeakKind   Kind = "weak"
	StrongKind Kind = "strong"
)

// The views of the published code.
var (
	// PlainView is the image as it is.
	PlainView = View{"plain", func(_ *Maker, dst, src *rgb.Image, _ *rand.Rand) { copy(dst.Pix, src.Pix) }, PlainKind}
	// WeakView is Weak's.
	WeakView = View{"weak", (*Maker).Weak, WeakKind}
	// StrongView is Strong's.
	StrongView = View{"strong", (*Maker).Strong, StrongKind}
)

// Again is the same kind of view under another name: a second one of an image.
func (v View) Again(name string) View { return View{name, v.Make, v.Kind} }

// Maker makes views into images that the caller provides and keeps its scratch
// memory between calls. The zero value is ready. A Maker must not be used by two
// goroutines at once; its methods give the same pixels as the functions of the
// same name and draw the same numbers.
type Maker struct {
	flip, wide rgb.Image
	steps      [2]rgb.Image
}

// Weak writes the weak view of src into dst, which must have the size of src and
// share no memory with it.
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

// Strong writes the strong view of src into dst, which must have the size of src
// and share no memory with it.
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
