package rgb

import "image"

// fromYCbCr upsamples the chroma planes and converts to RGB with the arithmetic
// of libjpeg (jdsample.c and jdcolor.c of libjpeg-turbo 2.1).
func fromYCbCr(dst *Image, src *image.YCbCr) {
	b := src.Rect
	up := upsamplerOf(src)
	chroma := func(pix []uint8) channel {
		p := plane{pix: pix[src.COffset(b.Min.X, b.Min.Y):], stride: src.CStride}
		p.width, p.height = up.planeSize(dst.Width, dst.Height)
		return newChannel(p, up)
	}
	cb, cr := chroma(src.Cb), chroma(src.Cr)
	eachRow(dst, func(y int, row []uint8) {
		fromChroma(row, src.Y[src.YOffset(b.Min.X, b.Min.Y+y):], cb.row(y), cr.row(y))
	})
}

// fromChroma converts a row of luma and chroma.
func fromChroma(row, luma, cb, cr []uint8) {
	n := len(row) / 3
	luma, cb, cr = luma[:n], cb[:n], cr[:n]
	for x, l := range luma {
		l, u, v := int32(l), cb[x], cr[x]
		p := (*[3]uint8)(row[3*x:])
		p[0] = clamp(l + crToR[v])
		p[1] = clamp(l + (cbToG[u]+crToG[v])>>16)
		p[2] = clamp(l + cbToB[u])
	}
}

// The contributions of Cb and Cr to R, G and B; the two parts of G are still to be shifted right
// by 16 bits together, and cbToG contains the half that rounds.
var crToR, cbToB, crToG, cbToG = chromaTables()

func chromaTables() (crR, cbB, crG, cbG [256]int32) {
	const half = 1 << 15
	for i := range int32(256) {
		x := i - 128
		crR[i] = (91881*x + half) >> 16  // 1.40200
		cbB[i] = (116130*x + half) >> 16 // 1.77200
		crG[i] = -46802 * x              // 0.71414
		cbG[i] = -22554*x + half         // 0.34414
	}
	return crR, cbB, crG, cbG
}

func clamp(v int32) uint8 { return uint8(max(0, min(255, v))) }

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

// channel is a plane that is read row by row at the size of the whole picture.
type channel struct {
	plane
	up upsampler
	// repeats is whether halved axes are repeated, not interpolated.
	repeats bool
	wide    []uint8 // the row that was read last
	sums    []int32 // of two rows, where both axes are halved
}

func newChannel(p plane, up upsampler) channel {
	c := channel{plane: p, up: up}
	if up != (upsampler{1, 1}) {
		c.wide = make([]uint8, p.width*up.h)
		c.sums = make([]int32, p.width)
	}
	return c
}

// row returns row y of the widened plane, at least as wide as the picture, until the
// next call. Halved axes are interpolated with weights 3/4 and 1/4, rounded
// alternately up and down as libjpeg does; planes at most two pixels wide, and other
// ratios, repeat pixels.
func (c *channel) row(y int) []uint8 {
	near := c.plane.row(y / c.up.v)
	if c.wide == nil {
		return near
	}
	far := c.plane.row(y/c.up.v - 1)
	if y%2 == 1 {
		far = c.plane.row(y/c.up.v + 1)
	}
	switch {
	case c.repeats:
		c.repeat(near)
	case c.up == (upsampler{2, 1}) && c.width > 2:
		for i, s := range near {
			c.sums[i] = int32(s)
		}
		widen(c.wide, c.sums, 1, 2, 2)
	case c.up == (upsampler{2, 2}) && c.width > 2:
		for i := range near {
			c.sums[i] = 3*int32(near[i]) + int32(far[i])
		}
		widen(c.wide, c.sums, 8, 7, 4)
	case c.up == (upsampler{1, 2}):
		bias := 1 + y%2
		for i := range near {
			c.wide[i] = uint8((3*int(near[i]) + int(far[i]) + bias) >> 2)
		}
	default:
		c.repeat(near)
	}
	return c.wide
}

// repeat writes the widened row, each pixel repeated.
func (c *channel) repeat(near []uint8) {
	for x := range c.wide {
		c.wide[x] = near[x/c.up.h]
	}
}

// widen doubles a row: every value gives a left and a right one, three quarters
// of itself and one of that neighbour, after adding the left or right bias and
// shifting. The outermost two lean on themselves.
func widen(dst []uint8, s []int32, left, right int32, shift int) {
	before := s[0]
	for i, v := range s {
		after := v
		if i+1 < len(s) {
			after = s[i+1]
		}
		p := (*[2]uint8)(dst[2*i:])
		p[0] = uint8((3*v + before + left) >> shift)
		p[1] = uint8((3*v + after + right) >> shift)
		before = v
	}
}
