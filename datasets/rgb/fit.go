package rgb

import (
	"fmt"
	"math"
	"slices"
)

// Filter is one of Pillow's resampling filters; empty means Bilinear.
type Filter string

// filters: the triangle of Resize; the cubic of Keys (1981) with a = -1/2, twice as wide; and a
// windowed sinc, three times as wide. All of them widen when an image shrinks.
const (
	Bilinear Filter = "bilinear"
	Bicubic  Filter = "bicubic"
	Lanczos  Filter = "lanczos"
)

var filters = []Filter{Bilinear, Bicubic, Lanczos}

// function returns a filter's weight of distances, in the order of operations that Pillow has, and
// its radius.
func (f Filter) function() (weight func(d float64) float64, radius float64) {
	switch f {
	case Bicubic:
		return func(d float64) float64 {
			const a = -0.5
			switch {
			case d < 1:
				return float64(float64(float64(float64((a+2)*d)-(a+3))*d)*d) + 1
			case d < 2:
				return float64(float64(float64(float64(float64(d-5)*d)+8)*d)-4) * a
			}
			return 0
		}, 2
	case Lanczos:
		sinc := func(x float64) float64 {
			if x == 0 {
				return 1
			}
			x *= math.Pi
			return math.Sin(x) / x
		}
		return func(d float64) float64 {
			if d >= 3 {
				return 0
			}
			return float64(sinc(d) * sinc(d/3))
		}, 3
	}
	return func(d float64) float64 { return max(0, 1-d) }, 1
}

// Fit describes how images become squares of one size.
type Fit struct {
	// Size is the side in pixels.
	Size int
	// Short is the side to which the short side is resized, keeping the aspect ratio, before a
	// centre crop; 0 resizes both sides to Size.
	Short  int
	Filter Filter
}

// MaxSize is the largest side of a square in pixels; the limit of the short side is twice as
// large.
const MaxSize = 4096

// Check returns an error for an invalid fit.
func (f Fit) Check() error {
	if f.Size > MaxSize || f.Short > 2*MaxSize {
		return fmt.Errorf("a square of %d pixels from an image with a short side of %d: want at most %d and %d", f.Size, f.Short, MaxSize, 2*MaxSize)
	}
	if f.Size < 1 || f.Short != 0 && f.Short < f.Size {
		return fmt.Errorf("a square of %d pixels from an image with a short side of %d: want no more than the short side", f.Size, f.Short)
	}
	if f.Filter != "" && !slices.Contains(filters, f.Filter) {
		return fmt.Errorf("filter %q: want one of %q", f.Filter, filters)
	}
	return nil
}

// Into writes the square of image m to dst, which has its size. The long side is truncated to
// whole pixels and the centre rounded half to even, as by torchvision's Resize and CenterCrop.
func (f Fit) Into(dst, m *Image) {
	if f.Short == 0 {
		m.resizeInto(dst, f.Filter)
		return
	}
	w, h := f.Short, f.Short
	if m.Width > m.Height {
		w = f.Short * m.Width / m.Height
	} else {
		h = f.Short * m.Height / m.Width
	}
	m.partInto(dst, w, h, middle(w, f.Size), middle(h, f.Size), f.Filter)
}

// middle is where a part of a length begins in the middle of another.
func middle(of, part int) int { return int(math.RoundToEven(float64(of-part) / 2)) }
