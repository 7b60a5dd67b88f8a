package augment

import (
	"math"
	"math/rand/v2"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// Views of methods with their own augmentation pipeline.
var (
	// PhotoView is the view of [Maker.Photo].
	PhotoView = View{"photo", (*Maker).Photo, WeakKind}
	// GreyPhotoView is the view of [Maker.GreyPhoto].
	GreyPhotoView = View{"grey photo", (*Maker).GreyPhoto, WeakKind}
	// WideStrongView is the view of [Maker.WideStrong].
	WideStrongView = View{"wide strong", (*Maker).WideStrong, StrongKind}
)

// Photo writes the usual augmentation of domain generalization codes into dst (JiGen's
// data/data_helper.py, RSC's, FACT's data/data_utils.py): a random crop of 80 to 100% of the
// area and aspect ratio 3/4 to 4/3, resized to the full size, and a flip with probability 1/2.
// In random order, it then applies brightness, contrast and saturation factors in 0.6 to 1.4 and
// a hue shift of up to 0.4 of the circle. In torchvision: RandomResizedCrop,
// RandomHorizontalFlip and ColorJitter.
func (m *Maker) Photo(dst, src *rgb.Image, r *rand.Rand) {
	mustMatch(dst, src)
	w, h := src.Width, src.Height
	x0, y0, cw, ch := randomPart(w, h, r)
	part := m.wide.Reset(cw, ch)
	for y := range ch {
		from := 3 * ((y0+y)*w + x0)
		copy(part.Pix[3*y*cw:3*(y+1)*cw], src.Pix[from:])
	}
	from, to := m.steps[0].Reset(w, h), m.steps[1].Reset(w, h)
	part.ResizeInto(from)
	if r.Float64() < 0.5 {
		hflip(to, from)
		from, to = to, from
	}
	for _, op := range r.Perm(len(jitter)) {
		v := jitter[op].Min + (jitter[op].Max-jitter[op].Min)*r.Float64()
		jitter[op].run(to, from, v)
		from, to = to, from
	}
	copy(dst.Pix, from.Pix)
}

// GreyPhoto is [Maker.Photo], converted to grey with probability 0.1.
func (m *Maker) GreyPhoto(dst, src *rgb.Image, r *rand.Rand) {
	m.Photo(dst, src, r)
	if r.Float64() < 0.1 {
		colour(dst, dst, 0)
	}
}

// jitter are the changes of Photo.
var jitter = []Op{
	{Name: "Brightness", Min: 0.6, Max: 1.4, run: brightness},
	{Name: "Contrast", Min: 0.6, Max: 1.4, run: contrast},
	{Name: "Color", Min: 0.6, Max: 1.4, run: colour},
	{Name: "Hue", Min: -0.4, Max: 0.4, run: hue},
}

// randomPart draws a part of w by h pixels: the first of ten tries that fits, else a centred
// square (or the nearest shape to it).
func randomPart(w, h int, r *rand.Rand) (x0, y0, cw, ch int) {
	for range 10 {
		area := float64(w*h) * (0.8 + 0.2*r.Float64())
		ratio := math.Exp(math.Log(3./4) + (math.Log(4./3)-math.Log(3./4))*r.Float64())
		cw, ch = int(math.RoundToEven(math.Sqrt(area*ratio))), int(math.RoundToEven(math.Sqrt(area/ratio)))
		if cw > 0 && cw <= w && ch > 0 && ch <= h {
			return r.IntN(w - cw + 1), r.IntN(h - ch + 1), cw, ch
		}
	}
	cw, ch = min(w, int(math.RoundToEven(float64(h)*4/3))), min(h, int(math.RoundToEven(float64(w)*4/3)))
	return (w - cw) / 2, (h - ch) / 2, cw, ch
}

// WideStrong writes DAEL's strong view into dst: a flip with probability 1/2, two operations of
// widePolicy, each skipped with probability 0.4, and Strong's Cutout. Dassl's transforms
// "random_flip", "randaugment2" and "cutout".
func (m *Maker) WideStrong(dst, src *rgb.Image, r *rand.Rand) {
	mustMatch(dst, src)
	w, h := src.Width, src.Height
	from, to := m.steps[0].Reset(w, h), m.steps[1].Reset(w, h)
	copy(from.Pix, src.Pix)
	if r.Float64() < 0.5 {
		hflip(from, src)
	}
	for range strongOps {
		op := widePolicy[r.IntN(len(widePolicy))]
		v := op.Min + (op.Max-op.Min)*r.Float64()
		if r.Float64() < 0.6 {
			op.run(to, from, v)
			from, to = to, from
		}
	}
	copy(dst.Pix, from.Pix)
	cy, cx := r.IntN(h), r.IntN(w)
	cutout(dst, cx, cy, CutoutLength(min(w, h)))
}

// widePolicy has the operations of DAEL's strong view: Policy's and Invert, with
// blends from 0.1 to 1.9. Dassl's data/transforms/randaugment.py:randaugment_list2.
var widePolicy = func() []Op {
	list := append(Policy(), Op{Name: "Invert", run: func(dst, src *rgb.Image, _ float64) { solarize(dst, src, 0) }})
	for i, op := range list {
		if op.Max == 0.95 {
			list[i].Min, list[i].Max = 0.1, 1.9
		}
	}
	return list
}()

// hue turns the hue of src by v of the circle, -0.5 to 0.5: 8 bits each of hue, which wraps
// around, saturation and value. torchvision's adjust_hue of Pillow's images.
func hue(dst, src *rgb.Image, v float64) {
	turn := uint8(int(v * 255))
	for i := 0; i+2 < len(src.Pix); i += 3 {
		h, s, value := toHSV(src.Pix[i : i+3 : i+3])
		fromHSV(dst.Pix[i:i+3:i+3], h+turn, s, value)
	}
}

// toHSV is Pillow's conversion, in float32 where it has it.
func toHSV(p []uint8) (h, s, v uint8) {
	r, g, b := p[0], p[1], p[2]
	hi, lo := max(r, g, b), min(r, g, b)
	if hi == lo {
		return 0, 0, hi
	}
	span := float32(hi - lo)
	rc, gc, bc := float32(hi-r)/span, float32(hi-g)/span, float32(hi-b)/span
	var angle float32
	switch hi {
	case r:
		angle = bc - gc
	case g:
		angle = float32(2 + float64(rc) - float64(bc))
	default:
		angle = float32(4 + float64(gc) - float64(rc))
	}
	angle = float32(math.Mod(float64(angle)/6+1, 1))
	return uint8(float64(angle) * 255), uint8(float64(span/float32(hi)) * 255), hi
}

// fromHSV is the way back.
func fromHSV(p []uint8, h, s, v uint8) {
	if s == 0 {
		p[0], p[1], p[2] = v, v, v
		return
	}
	at := float32(h) * 6 / 255
	sector := int(at)
	f, fs, fv := float64(at-float32(sector)), float64(float32(s)/255), float64(v)
	level := func(x float64) uint8 { return uint8(min(max(math.Round(x), 0), 255)) }
	a, b, c := level(fv*(1-fs)), level(fv*(1-fs*f)), level(fv*(1-fs*(1-f)))
	switch sector % 6 {
	case 0:
		p[0], p[1], p[2] = v, c, a
	case 1:
		p[0], p[1], p[2] = b, v, a
	case 2:
		p[0], p[1], p[2] = a, v, c
	case 3:
		p[0], p[1], p[2] = a, b, v
	case 4:
		p[0], p[1], p[2] = c, a, v
	default:
		p[0], p[1], p[2] = v, a, b
	}
}
