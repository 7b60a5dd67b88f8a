package augment

import "github.com/ledg-go/ledg/datasets/rgb"

// table maps 8-bit values.
type table [256]uint8

// mapChannels writes src into dst through one table per channel.
func mapChannels(dst, src *rgb.Image, t *[3]table) {
	out := dst.Pix[:len(src.Pix)]
	r, g, b := &t[0], &t[1], &t[2]
	for i := 0; i+2 < len(src.Pix); i += 3 {
		p := src.Pix[i : i+3 : i+3]
		o := out[i : i+3 : i+3]
		o[0], o[1], o[2] = r[p[0]], g[p[1]], b[p[2]]
	}
}

// mapAll writes src into dst through one table for all channels.
func mapAll(dst, src *rgb.Image, t *table) {
	out := dst.Pix[:len(src.Pix)]
	for i, v := range src.Pix {
		out[i] = t[v]
	}
}

// histograms counts the values of each channel.
func histograms(src *rgb.Image) (h [3][256]int) {
	for i := 0; i+2 < len(src.Pix); i += 3 {
		p := src.Pix[i : i+3 : i+3]
		h[0][p[0]]++
		h[1][p[1]]++
		h[2][p[2]]++
	}
	return h
}

// identity returns a copy of src.
func identity(dst, src *rgb.Image, _ float64) { copy(dst.Pix, src.Pix) }

// autoContrast stretches each channel of src so that its smallest value becomes
// 0 and its largest 255; a constant channel stays as it is. Pillow's
// ImageOps.autocontrast without cutoff.
func autoContrast(dst, src *rgb.Image, _ float64) {
	h := histograms(src)
	var t [3]table
	for c := range t {
		lo, hi := 0, 255
		for lo < 255 && h[c][lo] == 0 {
			lo++
		}
		for hi > 0 && h[c][hi] == 0 {
			hi--
		}
		scale := 255 / float64(max(hi-lo, 1))
		// The conversions keep both products from being fused with the sum.
		offset := float64(-float64(lo) * scale)
		for i := range t[c] {
			if hi <= lo {
				t[c][i] = uint8(i)
				continue
			}
			t[c][i] = uint8(min(max(int(float64(float64(i)*scale)+offset), 0), 255))
		}
	}
	mapChannels(dst, src, &t)
}

// equalize spreads the histogram of each channel of src evenly over 0..255;
// a channel with a single value stays as it is. Pillow's ImageOps.equalize.
func equalize(dst, src *rgb.Image, _ float64) {
	h := histograms(src)
	var t [3]table
	for c := range t {
		total, last := 0, 0
		for i, n := range h[c] {
			total += n
			if n > 0 {
				last = i
			}
		}
		step := (total - h[c][last]) / 255
		n := step / 2
		for i := range t[c] {
			if step == 0 {
				t[c][i] = uint8(i)
				continue
			}
			t[c][i] = uint8(min(n/step, 255))
			n += h[c][i]
		}
	}
	mapChannels(dst, src, &t)
}

// posterize keeps the upper bits, 0 to 8, of every value of src and clears the
// others. Pillow's ImageOps.posterize.
func posterize(dst, src *rgb.Image, v float64) {
	var t table
	for i := range t {
		t[i] = uint8(i) & (uint8(0xff) << (8 - int(v)))
	}
	mapAll(dst, src, &t)
}

// solarize inverts (255 - x) every value x of src that is at least threshold:
// 256 or more changes nothing, 0 inverts everything. Pillow's ImageOps.solarize.
func solarize(dst, src *rgb.Image, v float64) {
	var t table
	for i := range t {
		t[i] = uint8(i)
		if float64(i) >= v {
			t[i] = uint8(255 - i)
		}
	}
	mapAll(dst, src, &t)
}

// blend returns trunc(d + v*(x-d)) clipped to 0..255, in float32 as Pillow's
// Image.blend computes it. The conversion keeps product and sum unfused, so that
// every processor gives the same bits.
func blend(d, x int, v float32) uint8 {
	t := float32(d) + float32(v*float32(x-d))
	if t <= 0 {
		return 0
	}
	if t >= 255 {
		return 255
	}
	return uint8(t)
}

// brightness blends black (v = 0) with src (v = 1). A v outside [0, 1]
// extrapolates and clips. Pillow's ImageEnhance.Brightness.
func brightness(dst, src *rgb.Image, v float64) {
	blendConstant(dst, src, 0, float32(v))
}

// contrast blends a constant, the rounded mean of the grey version of src (v =
// 0), with src (v = 1). A v outside [0, 1] extrapolates and clips. Pillow's
// ImageEnhance.Contrast.
func contrast(dst, src *rgb.Image, v float64) {
	sum := 0
	for i := 0; i+2 < len(src.Pix); i += 3 {
		sum += luma(src.Pix[i : i+3 : i+3])
	}
	mean := int(float64(sum)/float64(len(src.Pix)/3) + 0.5)
	blendConstant(dst, src, mean, float32(v))
}

func blendConstant(dst, src *rgb.Image, d int, v float32) {
	var t table
	for i := range t {
		t[i] = blend(d, i, v)
	}
	mapAll(dst, src, &t)
}

// colour blends the grey version of src (v = 0) with src (v = 1). A v outside
// [0, 1] extrapolates and clips. Pillow's ImageEnhance.Color.
func colour(dst, src *rgb.Image, v float64) {
	w := float32(v)
	out := dst.Pix[:len(src.Pix)]
	for i := 0; i+2 < len(src.Pix); i += 3 {
		p := src.Pix[i : i+3 : i+3]
		o := out[i : i+3 : i+3]
		l := luma(p)
		o[0], o[1], o[2] = blend(l, int(p[0]), w), blend(l, int(p[1]), w), blend(l, int(p[2]), w)
	}
}

// luma returns the ITU-R 601 grey value of a pixel, rounded as Pillow rounds it.
func luma(p []uint8) int {
	return (19595*int(p[0]) + 38470*int(p[1]) + 7471*int(p[2]) + 1<<15) >> 16
}

// sharpness blends a smoothed src (v = 0; 3x3 mean with weight 5 in the centre,
// the outermost pixels unsmoothed) with src (v = 1). A v outside [0, 1]
// extrapolates and clips. Pillow's ImageEnhance.Sharpness.
func sharpness(dst, src *rgb.Image, v float64) {
	w := float32(v)
	copy(dst.Pix, src.Pix) // the border blends with itself
	stride := 3 * src.Width
	for y := 1; y < src.Height-1; y++ {
		up := src.Pix[(y-1)*stride : y*stride]
		mid := src.Pix[y*stride : (y+1)*stride][:len(up)]
		down := src.Pix[(y+1)*stride : (y+2)*stride][:len(up)]
		out := dst.Pix[y*stride : (y+1)*stride][:len(up)]
		for i := 3; i+3 < len(up); i++ {
			x := int(mid[i])
			s := int(up[i-3]) + int(up[i]) + int(up[i+3]) +
				int(mid[i-3]) + 5*x + int(mid[i+3]) +
				int(down[i-3]) + int(down[i]) + int(down[i+3])
			out[i] = blend((2*s+13)/26, x, w) // round(s/13): 13 is odd, so no ties
		}
	}
}
