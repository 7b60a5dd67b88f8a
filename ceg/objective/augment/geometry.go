package augment

import (
	"math"

	"github.com/ledg-go/ledg/datasets/rgb"
)

// hflip writes the mirrored src into dst.
func hflip(dst, src *rgb.Image) {
	stride := 3 * src.Width
	for y := range src.Height {
		in := src.Pix[y*stride : (y+1)*stride]
		out := dst.Pix[y*stride : (y+1)*stride]
		for i, j := 0, stride-3; i < stride; i, j = i+3, j-3 {
			p := in[j : j+3 : j+3]
			o := out[i : i+3 : i+3]
			o[0], o[1], o[2] = p[0], p[1], p[2]
		}
	}
}

// cutout blackens a square of m: rows cy - ⌊length/2⌋ up to but not including
// cy + ⌊length/2⌋, columns likewise about cx, clipped to the image. So an odd length
// cuts what length-1 does, as in the published code (Dassl's transforms.py:Cutout).
func cutout(m *rgb.Image, cx, cy, length int) {
	half := length / 2
	x0, x1 := max(cx-half, 0), min(cx+half, m.Width)
	y0, y1 := max(cy-half, 0), min(cy+half, m.Height)
	for y := y0; y < y1 && x0 < x1; y++ {
		clear(m.Pix[3*(y*m.Width+x0) : 3*(y*m.Width+x1)])
	}
}

// rotate rotates src about its centre by v degrees, counter-clockwise, nearest neighbour, black
// outside, same size. Pillow's Image.rotate.
func rotate(dst, src *rgb.Image, v float64) {
	if v == 0 {
		copy(dst.Pix, src.Pix)
		return
	}
	// Pillow reduces the angle to [0, 360) and rounds sine and cosine to 15
	// decimals, so that quarter turns are exact.
	deg := math.Mod(v, 360)
	if deg < 0 {
		deg += 360
	}
	sin, cos := math.Sincos(-deg * (math.Pi / 180))
	sin, cos = math.RoundToEven(sin*1e15)/1e15, math.RoundToEven(cos*1e15)/1e15
	cx, cy := float64(src.Width)/2, float64(src.Height)/2
	affine(dst, src, cos, sin, float64(float64(cos*-cx)+float64(sin*-cy))+cx,
		-sin, cos, float64(float64(-sin*-cx)+float64(cos*-cy))+cy)
}

// shearX moves row y of src to the left by v*y pixels (about the top left
// corner), nearest neighbour, black outside.
// Pillow's Image.transform with (1, v, 0, 0, 1, 0).
func shearX(dst, src *rgb.Image, v float64) {
	affine(dst, src, 1, v, 0, 0, 1, 0)
}

// shearY moves column x of src up by v*x pixels (about the top left corner),
// nearest neighbour, black outside.
// Pillow's Image.transform with (1, 0, 0, v, 1, 0).
func shearY(dst, src *rgb.Image, v float64) {
	affine(dst, src, 1, 0, 0, v, 1, 0)
}

// translateX moves src to the left by v times its width, nearest neighbour, black
// outside. Pillow's Image.transform with
// (1, 0, v*width, 0, 1, 0).
func translateX(dst, src *rgb.Image, v float64) {
	translate(dst, src, v*float64(src.Width), 0)
}

// translateY moves src up by v times its height, nearest neighbour, black
// outside. Pillow's Image.transform with
// (1, 0, 0, 0, 1, v*height).
func translateY(dst, src *rgb.Image, v float64) {
	translate(dst, src, 0, v*float64(src.Height))
}

// translate fetches pixel (x, y) from (⌊x + 0.5 + dx⌋, ⌊y + 0.5 + dy⌋). Pillow
// computes transforms without rotation or shear in floating point, not in fixed
// point. Its running sums x + 0.5 + dx are exact to within the last place.
func translate(dst, src *rgb.Image, dx, dy float64) {
	clear(dst.Pix)
	w, h := src.Width, src.Height
	// Beyond one image size nothing is left; the clamp keeps ⌊⌋ within int.
	ox := int(math.Floor(min(max(dx, -float64(w)-1), float64(w)+1) + 0.5))
	oy := int(math.Floor(min(max(dy, -float64(h)-1), float64(h)+1) + 0.5))
	x0, x1 := max(0, -ox), min(w, w-ox)
	if x0 >= x1 {
		return
	}
	for y := max(0, -oy); y < min(h, h-oy); y++ {
		in := src.Pix[3*((y+oy)*w+x0+ox) : 3*((y+oy)*w+x1+ox)]
		copy(dst.Pix[3*(y*w+x0):3*(y*w+x1)], in)
	}
}

// affine fetches pixel (x, y) of dst from src at (a*X + b*Y + c, d*X + e*Y + f),
// X = x + 0.5 and Y = y + 0.5, rounded down, in the 16.16 fixed point of Pillow's
// ImagingTransformAffine. (Pillow switches to floating point where coordinates
// pass 32768, far beyond any image here.)
func affine(dst, src *rgb.Image, a, b, c, d, e, f float64) {
	fix := func(z float64) int { return int(math.Floor(float64(z*65536) + 0.5)) }
	a0, a1, a3, a4 := fix(a), fix(b), fix(d), fix(e)
	x0 := fix(c + float64(a*0.5) + float64(b*0.5))
	y0 := fix(f + float64(d*0.5) + float64(e*0.5))
	w, h := src.Width, src.Height
	for y := range h {
		xx, yy := x0+y*a1, y0+y*a4
		out := dst.Pix[3*y*w : 3*(y+1)*w]
		for i := 0; i+2 < len(out); i += 3 {
			o := out[i : i+3 : i+3]
			// One unsigned comparison tests both ends of the range.
			if xi, yi := xx>>16, yy>>16; uint(xi) < uint(w) && uint(yi) < uint(h) {
				p := src.Pix[3*(yi*w+xi):][:3:3]
				o[0], o[1], o[2] = p[0], p[1], p[2]
			} else {
				o[0], o[1], o[2] = 0, 0, 0
			}
			xx += a0
			yy += a3
		}
	}
}
