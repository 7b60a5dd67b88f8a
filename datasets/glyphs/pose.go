package glyphs

// unit is the fixed-point resolution of all lengths: one pixel of the finished
// image is 64 units.
const unit = 64

// side is the image's width and height in units.
const side = Size * unit

// one is the fixed-point 1 of ratios, blend weights and coverages.
const one = 256

// pose is the position and shape of a glyph in the image.
type pose struct {
	typeface int
	height   int   // of the digit before rotation, units
	aspect   int   // width against the font's own, in 1/256
	slant    int   // horizontal shift per height, in 1/256
	turn     int   // degrees, clockwise
	warp     int   // amplitude of the smooth displacement of the outline, units
	shift    point // of the box's centre from the image's, in 1/256 of the free space
}

// poseRange bounds what randomPose draws. Both ends of each pair are inclusive.
type poseRange struct {
	bold   int    // chance of a bold typeface, in 1/256
	height [2]int // percent of the image's side
	aspect [2]int // percent
	slant  int    // up to this, to both sides, in 1/256
	turn   int    // up to this many degrees to both sides
	warp   [2]int // units
}

func (p *painter) randomPose(w poseRange) pose {
	q := pose{
		height: p.between(w.height[0], w.height[1]) * side / 100,
		aspect: p.between(w.aspect[0], w.aspect[1]) * one / 100,
		slant:  p.between(-w.slant, w.slant),
		turn:   p.between(-w.turn, w.turn),
		warp:   p.between(w.warp[0], w.warp[1]),
		shift:  point{p.between(-160, 160), p.between(-160, 160)},
	}
	if p.chance(w.bold) {
		q.typeface = p.between(0, boldTypefaces-1)
	} else {
		q.typeface = p.between(boldTypefaces, len(typefaces)-1)
	}
	return q
}

// place returns the outline of a digit in image units, standing as q says. All
// of it lies inside the image if it fits; if it does not, it is centred.
func (p *painter) place(digit int, q pose) []contour {
	src := outlines()[q.typeface][digit]
	lo, hi := bounds(src)
	tall := hi.y - lo.y
	mid := point{(lo.x + hi.x) / 2, (lo.y + hi.y) / 2}
	sin, cos := sine(q.turn), sine(q.turn+90)
	dst := make([]contour, len(src))
	for i, c := range src {
		for _, v := range c {
			x := (v.x - mid.x) * q.height / tall * q.aspect / one
			y := (v.y - mid.y) * q.height / tall
			x -= y * q.slant / one
			dst[i] = append(dst[i], point{(x*cos - y*sin) / sineOne, (x*sin + y*cos) / sineOne})
		}
		dst[i] = subdivide(dst[i], 2*unit)
	}
	if q.warp > 0 {
		p.warp(dst, q.warp)
	}
	lo, hi = bounds(dst)
	margin := unit
	free := point{max(0, side-2*margin-(hi.x-lo.x)) / 2, max(0, side-2*margin-(hi.y-lo.y)) / 2}
	move(dst, point{
		(side-lo.x-hi.x)/2 + free.x*q.shift.x/one,
		(side-lo.y-hi.y)/2 + free.y*q.shift.y/one,
	})
	return dst
}

// warp displaces the points by smooth noise of the given amplitude, one bump
// about every third of the image.
func (p *painter) warp(contours []contour, amplitude int) {
	dx, dy := p.lattice(4, 4), p.lattice(4, 4)
	for _, c := range contours {
		for i, v := range c {
			// Outlines are centred on the origin here.
			u, w := (v.x+side/2)*4*one/side, (v.y+side/2)*4*one/side
			c[i] = point{v.x + dx.at(u, w)*amplitude/one, v.y + dy.at(u, w)*amplitude/one}
		}
	}
}

// move shifts all points by d.
func move(contours []contour, d point) {
	for _, c := range contours {
		for i := range c {
			c[i].x += d.x
			c[i].y += d.y
		}
	}
}

// subdivide cuts the sides of c into pieces not longer than limit in x and y.
func subdivide(c contour, limit int) contour {
	var dst contour
	for i, a := range c {
		b := c[(i+1)%len(c)]
		n := 1 + max(abs(b.x-a.x), abs(b.y-a.y))/limit
		for k := range n {
			dst = append(dst, point{a.x + (b.x-a.x)*k/n, a.y + (b.y-a.y)*k/n})
		}
	}
	return dst
}

// sineOne is the fixed-point 1 of sine.
const sineOne = 1 << 12

// sine returns the sine of an angle in degrees by Bhaskara's rational
// approximation, whose error is below 0.002: it needs nothing but integers.
func sine(degrees int) int {
	degrees = ((degrees % 360) + 360) % 360
	sign := sineOne
	if degrees >= 180 {
		degrees, sign = degrees-180, -sineOne
	}
	h := degrees * (180 - degrees)
	return 4 * h * sign / (40500 - h)
}

func abs(v int) int {
	if v < 0 {
		return -v
	}
	return v
}
