package rgb

import "image"

// fromVP8 converts the picture of a lossy WebP to RGB with libwebp's integers:
// chroma upsampled by its "fancy" filter (src/dsp/upsampling.c), and colours of
// BT.601 with luma from 16 to 235 (src/dsp/yuv.h), where JPEG's luma has all 256
// levels.
func fromVP8(src *image.YCbCr) *Image {
	b := src.Bounds()
	dst := New(b.Dx(), b.Dy())
	chroma := func(plane []uint8, y int) []uint8 { // row y of the chroma planes
		last := (dst.Height+1)/2 - 1
		return plane[min(max(y, 0), last)*src.CStride:][:(dst.Width+1)/2]
	}
	u, v := make([]uint8, dst.Width), make([]uint8, dst.Width)
	eachRow(dst, func(y int, row []uint8) {
		// An even row lies nearer to its own row of chroma's upper neighbour, an odd one
		// to the lower.
		near, far := y/2, y/2-1
		if y%2 == 1 {
			far = y/2 + 1
		}
		upsample(u, chroma(src.Cb, near), chroma(src.Cb, far))
		upsample(v, chroma(src.Cr, near), chroma(src.Cr, far))
		luma := src.Y[y*src.YStride:]
		for x := range dst.Width {
			l := high(luma[x], 19077)
			row[3*x] = clip6(l + high(v[x], 26149) - 14234)
			row[3*x+1] = clip6(l - high(u[x], 6419) - high(v[x], 13320) + 8708)
			row[3*x+2] = clip6(l + high(u[x], 33050) - 17685)
		}
	})
	return dst
}

// upsample writes a row of chroma at the picture's width: 9 parts of the nearest
// sample, 3 of each that shares its row or column, 1 of the last, rounded as libwebp
// does it.
func upsample(dst, near, far []uint8) {
	n := len(dst)
	edge := func(i int) uint8 { return uint8((3*int(near[i]) + int(far[i]) + 2) >> 2) }
	dst[0] = edge(0)
	for x := 1; x <= (n-1)/2; x++ {
		a, b, c, d := int(near[x-1]), int(near[x]), int(far[x-1]), int(far[x])
		sum := a + b + c + d + 8
		towardB, towardA := (sum+2*(b+c))>>3, (sum+2*(a+d))>>3
		dst[2*x-1] = uint8((towardB + a) >> 1)
		dst[2*x] = uint8((towardA + b) >> 1)
	}
	if n%2 == 0 {
		dst[n-1] = edge(len(near) - 1)
	}
}

// high is the product without its low 8 bits.
func high(v uint8, factor int) int { return int(v) * factor >> 8 }

// clip6 drops 6 bits of fraction and clips to 8 bits.
func clip6(v int) uint8 { return uint8(min(max(v>>6, 0), 255)) }
