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
		p.rows = p.height
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
	for x := fromChromaVectors(row, luma, cb, cr); x < n; x++ {
		l, u, v := int32(luma[x]), cb[x], cr[x]
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
	rows                  int // of pix, one after another
}

func (p plane) row(y int) []uint8 {
	y = max(0, min(p.height-1, y)) % p.rows
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
	// sums are of two rows, where both axes are halved, with the outermost twice.
	sums []int16
}

func newChannel(p plane, up upsampler) channel {
	c := channel{plane: p, up: up}
	if up != (upsampler{1, 1}) {
		c.wide = make([]uint8, p.width*up.h)
		c.sums = make([]int16, p.width+2)
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
		c.sum(near, near, [2]int16{1, 0})
		widen(c.wide, c.sums, 1, 2, 2)
	case c.up == (upsampler{2, 2}) && c.width > 2:
		c.sum(near, far, [2]int16{3, 1})
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

// sum writes the weighted sums of two rows.
func (c *channel) sum(near, far []uint8, weights [2]int16) {
	n, sums := len(near), c.sums[1:]
	for i := sumVectors(sums, near, far, weights); i < n; i++ {
		sums[i] = weights[0]*int16(near[i]) + weights[1]*int16(far[i])
	}
	c.sums[0], sums[n] = sums[0], sums[n-1]
}

// widen doubles a row: every value but the outermost, which are copies, gives a left and a right
// one, three quarters of itself and one of that neighbour, after adding the left or right bias and
// shifting.
func widen(dst []uint8, s []int16, left, right int16, shift int) {
	for i := widenVectors(dst, s, left, right, shift); i+2 < len(s); i++ {
		v := 3 * s[i+1]
		dst[2*i] = uint8((v + s[i] + left) >> shift)
		dst[2*i+1] = uint8((v + s[i+2] + right) >> shift)
	}
}
