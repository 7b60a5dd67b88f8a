package glyphs

// drawCartoon draws flat saturated colours: a fat digit in a thick contrasting
// outline before a patterned background, with hard shadows and highlights.
func drawCartoon(p *painter, digit int) {
	back := hsv(p.below(hues), p.between(140, 255), p.between(110, 255))
	p.fill(back)
	second := hsv(p.below(hues), p.between(110, 255), p.between(110, 255))
	if p.chance(110) {
		second = mix(back, colour{255, 255, 255}, p.between(60, 150))
	}
	p.pattern(second)

	face := back
	for face.distance(back) < 110 || abs(face.luma()-back.luma()) < 30 {
		face = hsv(p.below(hues), p.between(0, 255), p.between(150, 255))
	}
	edge := colour{}.add(p.between(0, 40))
	switch k := p.below(10); {
	case k < 2 && face.luma() < 170:
		edge = colour{}.add(p.between(235, 255))
	case k < 4:
		edge = face.scale(p.between(50, 90))
	}

	q := p.randomPose(poseRange{
		bold: 180, height: [2]int{60, 80}, aspect: [2]int{90, 128}, slant: 40, turn: 14, warp: [2]int{10, 48},
	})
	contours := p.place(digit, q)
	f := newField(contours, Size, 5*unit)
	fat := p.between(6, 40)
	outline := p.between(64, 130)
	if p.chance(120) {
		dx, dy := p.between(1, 2), p.between(1, 3)
		if p.chance(64) {
			dx = -dx
		}
		shadow := edge.scale(200)
		p.each(func(i int, _ point) {
			x, y := i%Size-dx, i/Size-dy
			p.canvas[i] = mix(p.canvas[i], shadow, clamp((fat+outline-f.at(x, y)+unit/2)*one/unit, 0, one))
		})
	}
	lower := face.scale(p.between(150, 230)) // the second tone, below a line
	tones := p.chance(90)
	level := p.slope(p.between(60, 120))
	shine := p.chance(100)
	p.each(func(i int, at point) {
		p.canvas[i] = mix(p.canvas[i], edge, f.inside(i, fat+outline, unit))
		tone := face
		if tones && level(at) > 0 {
			tone = lower
		}
		if shine && f.d[i] < 0 && f.at(i%Size-1, i/Size-1) > -unit/2 {
			tone = mix(tone, colour{255, 255, 255}, 170)
		}
		p.canvas[i] = mix(p.canvas[i], tone, f.inside(i, fat, unit))
	})
	p.noise(p.between(0, 24), false)
}

// pattern paints one of six flat patterns over the background.
func (p *painter) pattern(c colour) {
	step := p.between(6*unit, 14*unit)
	phase := point{p.below(step), p.below(step)}
	switch p.below(6) {
	case 0: // plain, with a hill
		p.disc(point{p.below(side), side + p.between(0, 8*unit)}, p.between(10*unit, 20*unit), unit, c, one)
	case 1: // dots
		radius := step * p.between(20, 40) / 100
		p.each(func(i int, at point) {
			x, y := (at.x+phase.x)%step-step/2, (at.y+phase.y)%step-step/2
			p.canvas[i] = mix(p.canvas[i], c, clamp((radius-root(x, y)+unit/2)*one/unit, 0, one))
		})
	case 2: // stripes
		angle := p.below(180)
		sin, cos := sine(angle), sine(angle+90)
		p.each(func(i int, at point) {
			across := (at.x*sin-at.y*cos)/sineOne + phase.x + 64*step
			edge := step/4 - abs(across%step-step/2)
			p.canvas[i] = mix(p.canvas[i], c, clamp((edge+unit/2)*one/unit, 0, one))
		})
	case 3: // a sunburst: the sectors between lines through one point
		centre, turn, rays := p.anywhere(), p.below(180), p.between(3, 5)
		p.each(func(i int, at point) {
			sectors := 0
			for k := range rays {
				angle := turn + 180*k/rays
				if (at.x-centre.x)*sine(angle) > (at.y-centre.y)*sine(angle+90) {
					sectors++
				}
			}
			if sectors%2 == 1 {
				p.canvas[i] = c
			}
		})
	case 4: // checks
		p.each(func(i int, at point) {
			if ((at.x+phase.x)/step+(at.y+phase.y)/step)%2 == 1 {
				p.canvas[i] = c
			}
		})
	case 5: // balloons
		for range p.between(2, 4) {
			p.disc(p.anywhere(), p.between(2*unit, 7*unit), unit, c, one)
		}
	}
}
