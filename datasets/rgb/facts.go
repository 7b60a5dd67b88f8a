package rgb

import (
	"image"
	"slices"
)

// Facts are what decoding a file reveals beside its pixels.
type Facts struct {
	// Pages is the number of pages of a TIFF, without masks and smaller copies
	// behind the first; 0 for other formats.
	// Preview is true if the first one, which is read, is a preview of a later one.
	Pages   int
	Preview bool
	// Low and High are between them 99% of the values of an image with 16 bits a channel; both are
	// 0 for others.
	Low, High uint16
	// Flat is true if 99% of the pixels are nearly black, or nearly equal.
	Flat bool
}

// Narrow reports whether an image uses at most a quarter of its 16 bits, so that at most 64 of the
// 256 levels are left of it.
func (f Facts) Narrow() bool {
	span := int(f.High) - int(f.Low)
	return span >= 64 && span < 1<<14
}

// sampled is how many pixels facts are taken from.
const sampled = 1024

// flatLevels is the range of levels of 256 that a flat image has.
const flatLevels = 8

// step is the distance of pixels among n of which at most most are sampled: odd, so that they lie
// in all columns.
func step(n, most int) int { return max(1, n/most) | 1 }

// look adds whether an image is flat.
func (f *Facts) look(m *Image) {
	var counts [256]int
	n := 0
	for i, by := 0, 3*step(m.Width*m.Height, sampled); i < len(m.Pix); i += by {
		counts[(int(m.Pix[i])+2*int(m.Pix[i+1])+int(m.Pix[i+2]))/4]++
		n++
	}
	low, high := 0, 255
	for below := counts[0]; below <= n/200; below += counts[low] {
		low++
	}
	for above := counts[255]; above <= n/200; above += counts[high] {
		high--
	}
	f.Flat = high < 2*flatLevels || high-low < flatLevels
}

// deep adds the range of an image's 16-bit values.
func (f *Facts) deep(src image.Image) {
	var pix []uint8
	size, channels := 8, 3
	switch src := src.(type) {
	case *image.Gray16:
		pix, size, channels = src.Pix, 2, 1
	case *image.RGBA64:
		pix = src.Pix
	case *image.NRGBA64:
		pix = src.Pix
	}
	if len(pix) == 0 {
		return
	}
	values := make([]uint16, 0, 2*sampled)
	for i, by := 0, size*step(len(pix)/size, sampled/channels); i < len(pix); i += by {
		for c := range channels {
			values = append(values, uint16(pix[i+2*c])<<8|uint16(pix[i+2*c+1]))
		}
	}
	slices.Sort(values)
	cut := len(values) / 200
	f.Low, f.High = values[cut], values[len(values)-1-cut]
}
