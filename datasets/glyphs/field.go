package glyphs

import "math"

// field is the signed distance from every pixel's centre to the nearest point
// of an outline, in units: negative inside, positive outside, and clamped to
// ±limit. Every look of a glyph is a function of it: a fill is d < 0, a heavier
// stroke d < w, a contour line |d| < w, a soft shadow a wide ramp.
type field struct {
	side  int // pixels
	limit int
	d     []int
}

// newField computes the field of a set of contours (non-zero winding), exact up
// to limit and to rounding to one unit.
func newField(contours []contour, side, limit int) *field {
	f := &field{side: side, limit: limit, d: make([]int, side*side)}
	square := make([]int64, side*side)
	for i := range square {
		square[i] = int64(limit) * int64(limit)
	}
	winding := make([]int, side*side)
	for _, c := range contours {
		for i, a := range c {
			b := c[(i+1)%len(c)]
			nearest(square, side, limit, a, b)
			cross(winding, side, a, b)
		}
	}
	for y := range side {
		turns := 0
		for x := range side {
			i := y*side + x
			turns += winding[i]
			// The square root of IEEE 754 is exact to the last bit everywhere.
			f.d[i] = int(math.Sqrt(float64(square[i])))
			if turns != 0 {
				f.d[i] = -f.d[i]
			}
		}
	}
	return f
}

// nearest lowers the squared distances of the pixels within limit of the
// segment from a to b.
func nearest(square []int64, side, limit int, a, b point) {
	x0, x1 := pixelRange(min(a.x, b.x)-limit, max(a.x, b.x)+limit, side)
	y0, y1 := pixelRange(min(a.y, b.y)-limit, max(a.y, b.y)+limit, side)
	abx, aby := int64(b.x-a.x), int64(b.y-a.y)
	length := abx*abx + aby*aby
	for y := y0; y < y1; y++ {
		for x := x0; x < x1; x++ {
			px, py := int64(x*unit+unit/2-a.x), int64(y*unit+unit/2-a.y)
			along := px*abx + py*aby
			var d int64
			switch {
			case along <= 0:
				d = px*px + py*py
			case along >= length:
				px, py = px-abx, py-aby
				d = px*px + py*py
			default:
				c := px*aby - py*abx
				d = c * c / length
			}
			square[y*side+x] = min(square[y*side+x], d)
		}
	}
}

// cross adds the segment's crossings of pixel rows to the winding differences:
// the winding number of a pixel is the sum of its row up to and including it.
func cross(winding []int, side int, a, b point) {
	turn := 1
	if a.y > b.y {
		a, b, turn = b, a, -1
	}
	y0, y1 := pixelRange(a.y, b.y, side)
	for y := y0; y < y1; y++ {
		x := a.x + (y*unit+unit/2-a.y)*(b.x-a.x)/(b.y-a.y)
		if first, _ := pixelRange(x, x, side); first < side {
			winding[y*side+first] += turn
		}
	}
}

// pixelRange returns the pixels [first, end) whose centres lie in [lo, hi),
// cut to the image.
func pixelRange(lo, hi, side int) (first, end int) {
	return pixelAfter(lo, side), pixelAfter(hi, side)
}

// pixelAfter returns the first pixel whose centre is at or after v.
func pixelAfter(v, side int) int {
	return min(max((v+unit/2-1)>>6, 0), side)
}

// inside returns the coverage, 0 to one, of the set d < edge at pixel i, with
// a ramp of the given width (one pixel = unit for plain antialiasing).
func (f *field) inside(i, edge, ramp int) int {
	return clamp((edge-f.d[i]+ramp/2)*one/ramp, 0, one)
}

// band returns the coverage of the line of the given width along d = level.
func (f *field) band(i, level, width int) int {
	return clamp((width/2-abs(f.d[i]-level)+unit/2)*one/unit, 0, one)
}

// at returns the distance at pixel (x, y), or at the nearest pixel of the image.
func (f *field) at(x, y int) int {
	return f.d[clamp(y, 0, f.side-1)*f.side+clamp(x, 0, f.side-1)]
}

func clamp(v, lo, hi int) int { return min(max(v, lo), hi) }
