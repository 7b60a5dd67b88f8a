package glyphs

// drawPhoto imitates a snapshot of a digit on some surface: textured materials
// under uneven light, clutter, a shadow, a bevelled edge, blur and sensor noise.
// The digit may be lighter or darker than its surface.
func drawPhoto(p *painter, digit int) {
	surface := hsv(p.below(hues), p.between(0, 150), p.between(50, 225))
	p.surface(surface)
	p.clutter(surface)

	face := surface
	for abs(face.luma()-surface.luma()) < 80 {
		face = hsv(p.below(hues), p.between(0, 190), p.between(15, 250))
	}
	q := p.randomPose(poseRange{
		bold: 150, height: [2]int{60, 86}, aspect: [2]int{85, 122}, slant: 46, turn: 11, warp: [2]int{0, 36},
	})
	contours := p.place(digit, q)
	f := newField(contours, Size, 5*unit)
	weight := p.between(0, 36)

	light := p.between(0, 359) // the direction that light comes from, degrees
	lx, ly := sine(light+90), sine(light)
	if p.chance(150) { // a soft shadow on the other side
		far := p.between(1, 3)
		dx, dy := lx*far/sineOne, ly*far/sineOne
		dark, ramp := p.between(60, 150), p.between(2*unit, 4*unit)
		p.each(func(i int, _ point) {
			d := f.at(i%Size+dx, i/Size+dy)
			p.canvas[i] = mix(p.canvas[i], colour{}, clamp((weight-d+ramp/2)*one/ramp, 0, one)*dark/one)
		})
	}
	grain, rough, bevel := p.texture(5, 5), p.between(8, 44), p.between(0, 60)
	p.each(func(i int, _ point) {
		x, y := i%Size, i/Size
		// The slope of the field is the direction in which the edge faces.
		gx, gy := f.at(x+1, y)-f.at(x-1, y), f.at(x, y+1)-f.at(x, y-1)
		lit := (gx*lx + gy*ly) / sineOne * bevel / (2 * unit)
		if f.d[i] < weight-(2*unit) {
			lit = 0
		}
		p.canvas[i] = mix(p.canvas[i], face.add(grain[i]*rough/one+lit), f.inside(i, weight, unit))
	})
	if p.chance(56) { // something thin in front
		p.line(p.anywhere(), p.below(180), p.between(50, 110), unit, hsv(p.below(hues), p.between(0, 120), p.between(20, 230)), 220)
	}

	fall, strength := p.slope(p.between(0, 359)), p.between(0, 80)
	p.each(func(i int, at point) { p.canvas[i] = p.canvas[i].scale(one + fall(at)*strength/one) })
	if passes := p.below(3); passes > 0 {
		p.blur(p.between(24, 60), passes)
	}
	p.noise(p.between(30, 170), p.chance(128))
}

// surface paints a material: a base colour with a gradient and a texture that is cloudy,
// streaked like wood, or in courses like bricks.
func (p *painter) surface(base colour) {
	other := hsv(p.below(hues), p.between(0, 150), clamp(base.luma()+p.between(-50, 50), 0, 255))
	ramp, far := p.slope(p.between(0, 359)), p.between(0, 130)
	var grain []int
	switch p.below(4) {
	case 0:
		grain = p.texture(2, 12)
	case 1:
		grain = p.texture(12, 2)
	default:
		grain = p.texture(4, 4)
	}
	rough := p.between(12, 56)
	p.each(func(i int, at point) {
		w := clamp((ramp(at)+one)/2, 0, one) * far / one
		p.canvas[i] = mix(base, other, w).add(grain[i] * rough / one)
	})
	if p.chance(64) {
		p.bricks(p.between(-45, 45))
	}
}

// bricks lightens or darkens the joints of a wall.
func (p *painter) bricks(tone int) {
	w, h := p.between(9*unit, 18*unit), p.between(5*unit, 9*unit)
	phase := point{p.below(w), p.below(h)}
	p.each(func(i int, at point) {
		y := at.y + phase.y
		x := at.x + phase.x + y/h%2*w/2
		if y%h < unit || x%w < unit {
			p.canvas[i] = p.canvas[i].add(tone)
		}
	})
}

// clutter paints up to four discs and bars that are out of focus.
func (p *painter) clutter(surface colour) {
	for range p.below(5) {
		c := mix(surface, hsv(p.below(hues), p.between(0, 200), p.between(20, 240)), p.between(60, 170))
		ramp, alpha := p.between(unit, 4*unit), p.between(110, 230)
		if p.chance(128) {
			p.disc(p.anywhere(), p.between(2*unit, 8*unit), ramp, c, alpha)
		} else {
			p.line(p.anywhere(), p.below(180), p.between(unit, 5*unit), ramp, c, alpha)
		}
	}
}
