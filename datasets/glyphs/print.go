package glyphs

// drawPrint draws dark ink on light paper, as if cut from a scanned page: often
// with parts of the neighbouring digits of its line at the sides.
func drawPrint(p *painter, digit int) {
	paper := hsv(p.between(100, 330), p.between(0, 50), p.between(205, 255))
	ink := hsv(p.below(hues), p.between(0, 120), p.between(5, 80))
	p.fill(paper)
	stain := p.texture(2, 2)
	for i := range p.canvas {
		p.canvas[i] = p.canvas[i].add(stain[i] * 8 / one)
	}

	q := p.randomPose(poseRange{
		bold: 80, height: [2]int{56, 80}, aspect: [2]int{85, 118}, slant: 30, turn: 7, warp: [2]int{0, 12},
	})
	neighbours := p.chance(140)
	if neighbours {
		q.shift.x /= 5 // the class is the digit in the middle
	}
	contours := p.place(digit, q)
	lo, hi := bounds(contours)
	weight := p.between(-14, 18) // how far the ink bleeds
	soft := max(unit, p.between(64, 110))
	if neighbours {
		gap := p.between(96, 288)
		if p.chance(190) {
			contours = append(contours, p.beside(q, lo, hi, -1, gap)...)
		}
		if p.chance(190) {
			contours = append(contours, p.beside(q, lo, hi, 1, gap)...)
		}
	}
	if p.chance(50) {
		y := hi.y + p.between(80, 200) // a ruled line below
		p.line(point{side / 2, y}, p.between(-2, 2), p.between(30, 70), unit, ink, p.between(90, 220))
	}

	f := newField(contours, Size, 4*unit)
	wear := p.texture(6, 6)
	fade := p.between(0, 110)
	for i := range p.canvas {
		alpha := f.inside(i, weight+wear[i]*10/one, soft)
		alpha = alpha * (one - max(0, wear[i])*fade/one) / one
		p.canvas[i] = mix(p.canvas[i], ink, alpha)
	}
	p.noise(p.between(16, 110), true)
}

// beside returns a random digit that stands like q on one side of the box from
// lo to hi, with a gap between: to the left (-1) or to the right (1).
func (p *painter) beside(q pose, lo, hi point, side, gap int) []contour {
	contours := p.place(p.below(10), q)
	l, h := bounds(contours)
	d := point{lo.x - gap - h.x, lo.y - l.y}
	if side > 0 {
		d.x = hi.x + gap - l.x
	}
	move(contours, d)
	return contours
}
