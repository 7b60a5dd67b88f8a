package rgb

import (
	"fmt"
	"math"
	"slices"
)

// Filter is one of Pillow's filters for scaling; the empty one is Bilinear.
type Filter string

// Filters: the triangle of Resize; the cubic of Keys (1981) with a = -1/2, over twice as many
// pixels; and a sinc over three times as many. All of them widen where an image shrinks.
const (
	Bilinear Filter = "bilinear"
	Bicubic  Filter = "bicubic"
	Lanczos  Filter = "lanczos"
)

// Filters are all there are.
var Filters = []Filter{Bilinear, Bicubic, Lanczos}

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

// Fit is how images become squares of one size.
type Fit struct {
	// Size is the side in pixels.
	Size int
	// Short is what the short side is scaled to, the aspect ratio kept, before the middle is cut
	// out; 0 scales both sides to Size.
	Short  int
	Filter Filter
}

// MaxSize bounds the side of a square, and twice it bounds the short side, in pixels.
const MaxSize = 4096

// Check returns what is wrong with a fit.
func (f Fit) Check() error {
	if f.Size > MaxSize || f.Short > 2*MaxSize {
		return fmt.Errorf("a square of %d pixels out of an image of which the short side has %d: want at most %d and %d", f.Size, f.Short, MaxSize, 2*MaxSize)
	}
	if f.Size < 1 || f.Short != 0 && f.Short < f.Size {
		return fmt.Errorf("a square of %d pixels out of an image of which the short side has %d: want no more than it has", f.Size, f.Short)
	}
	if f.Filter != "" && !slices.Contains(Filters, f.Filter) {
		return fmt.Errorf("filter %q: want one of %q", f.Filter, Filters)
	}
	return nil
}

// Into makes a square of an image: dst, which has the size, is overwritten. The long side is
// cut to whole pixels and the middle rounded to even ones, as torchvision's Resize and CenterCrop do.
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
	whole := m
	if w != m.Width || h != m.Height {
		whole = scratch(w, h)
		defer scratchPool.Put(whole)
		m.resizeInto(whole, f.Filter)
	}
	left, top := middle(w, f.Size), middle(h, f.Size)
	for y := range f.Size {
		copy(dst.Pix[3*f.Size*y:][:3*f.Size], whole.Pix[3*(w*(top+y)+left):])
	}
}

// middle is where a part of a length begins in the middle of another.
func middle(of, part int) int { return int(math.RoundToEven(float64(of-part) / 2)) }
