package rgb

import "image"

// fromYCbCr upsamples the chroma planes and converts to RGB with the arithmetic
// of libjpeg (jdsample.c and jdcolor.c of libjpeg-turbo 2.1).
func fromYCbCr(dst *Image, src *image.YCbCr) {
	b := src.Rect
	w := dst.Width
	up := upsamplerOf(src)
	cb, cr := make([]uint8, w+2), make([]uint8, w+2) // room for one odd pixel more
	cbPlane := plane{pix: src.Cb[src.COffset(b.Min.X, b.Min.Y):], stride: src.CStride}
	crPlane := plane{pix: src.Cr[src.COffset(b.Min.X, b.Min.Y):], stride: src.CStride}
	cbPlane.width, cbPlane.height = up.planeSize(dst.Width, dst.Height)
	crPlane.width, crPlane.height = cbPlane.width, cbPlane.height
	sums := make([]int, cbPlane.width)
	eachRow(dst, func(y int, row []uint8) {
		up.row(cb, cbPlane, y, sums)
		up.row(cr, crPlane, y, sums)
		luma := src.Y[src.YOffset(b.Min.X, b.Min.Y+y):]
		for x := range w {
			l, u, v := int(luma[x]), cb[x], cr[x]
			row[3*x] = clamp(l + crToR[v])
			row[3*x+1] = clamp(l + (cbToG[u]+crToG[v])>>16)
			row[3*x+2] = clamp(l + cbToB[u])
		}
	})
}

// What Cb and Cr add to R, G and B; the two parts of G are still to be shifted
// right by 16 bits together, and cbToG contains the half that rounds.
var crToR, cbToB, crToG, cbToG = chromaTables()

func chromaTables() (crR, cbB, crG, cbG [256]int) {
	const half = 1 << 15
	for i := range 256 {
		x := i - 128
		crR[i] = (91881*x + half) >> 16  // 1.40200
		cbB[i] = (116130*x + half) >> 16 // 1.77200
		crG[i] = -46802 * x              // 0.71414
		cbG[i] = -22554*x + half         // 0.34414
	}
	return crR, cbB, crG, cbG
}

func clamp(v int) uint8 { return uint8(max(0, min(255, v))) }

// plane is one subsampled channel.
type plane struct {
	pix                   []uint8
	stride, width, height int
}

func (p plane) row(y int) []uint8 {
	y = max(0, min(p.height-1, y))
	return p.pix[y*p.stride:][:p.width]
}

// upsampler widens a chroma plane to the size of the luma plane.
type upsampler struct {
	h, v int // luma pixels per chroma pixel, 1 or more
}

func upsamplerOf(src *image.YCbCr) upsampler {
	switch src.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		return upsampler{2, 1}
	case image.YCbCrSubsampleRatio420:
		return upsampler{2, 2}
	case image.YCbCrSubsampleRatio440:
		return upsampler{1, 2}
	case image.YCbCrSubsampleRatio411:
		return upsampler{4, 1}
	case image.YCbCrSubsampleRatio410:
		return upsampler{4, 2}
	}
	return upsampler{1, 1}
}

// planeSize returns the size of the chroma planes of a w by h image.
func (u upsampler) planeSize(w, h int) (int, int) {
	return (w + u.h - 1) / u.h, (h + u.v - 1) / u.v
}

// row writes row y of the widened plane. Halved axes are interpolated with
// weights 3/4 and 1/4, rounded alternately up and down as libjpeg does; planes
// at most two pixels wide, and other ratios, repeat pixels. The scratch sums
// has the plane's width.
func (u upsampler) row(dst []uint8, p plane, y int, sums []int) {
	near := p.row(y / u.v)
	far := p.row(y/u.v - 1)
	if y%2 == 1 {
		far = p.row(y/u.v + 1)
	}
	switch {
	case u == (upsampler{2, 1}) && p.width > 2:
		for i, s := range near {
			sums[i] = int(s)
		}
		widen(dst, sums, 1, 2, 2)
	case u == (upsampler{2, 2}) && p.width > 2:
		for i := range near {
			sums[i] = 3*int(near[i]) + int(far[i])
		}
		widen(dst, sums, 8, 7, 4)
	case u == (upsampler{1, 2}):
		bias := 1 + y%2
		for i := range near {
			dst[i] = uint8((3*int(near[i]) + int(far[i]) + bias) >> 2)
		}
	default:
		for x := range min(len(dst), p.width*u.h) {
			dst[x] = near[x/u.h]
		}
	}
}

// widen doubles a row: every value gives a left and a right one, three quarters
// of itself and one of that neighbour, after adding the left or right bias and
// shifting. The outermost two lean on themselves.
func widen(dst []uint8, s []int, left, right, shift int) {
	last := len(s) - 1
	for i, v := range s {
		before, after := v, v
		if i > 0 {
			before = s[i-1]
		}
		if i < last {
			after = s[i+1]
		}
		dst[2*i] = uint8((3*v + before + left) >> shift)
		dst[2*i+1] = uint8((3*v + after + right) >> shift)
	}
}
