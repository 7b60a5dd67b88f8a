package glyphs

// drawSketch draws the outline of a digit by hand on white paper: one to three
// wobbling passes of a pencil that presses unevenly, sometimes with faint
// construction lines or hatching.
func drawSketch(p *painter, digit int) {
	white := p.between(236, 255)
	p.fill(hsv(p.between(100, 330), p.between(0, 14), white))
	pencil := hsv(p.below(hues), p.between(0, 40), p.between(10, 110))
	if p.chance(70) {
		pencil = hsv(p.below(hues), p.between(120, 230), p.between(60, 170))
	}
	for range p.below(3) {
		p.line(p.anywhere(), p.below(180), p.between(28, 50), unit, pencil, p.between(20, 70))
	}

	q := p.randomPose(poseRange{
		bold: 190, height: [2]int{66, 90}, aspect: [2]int{92, 138}, slant: 50, turn: 12, warp: [2]int{16, 64},
	})
	// The passes go around the same digit, each with its own wobble.
	level := p.between(8, 44)
	base := p.place(digit, q)
	var last *field
	for range p.between(1, 3) {
		pass := make([]contour, len(base))
		for i, c := range base {
			pass[i] = append(contour(nil), c...)
		}
		half := point{-side / 2, -side / 2}
		move(pass, half)
		p.warp(pass, p.between(10, 52))
		move(pass, point{-half.x, -half.y})
		last = newField(pass, Size, 4*unit)

		width := p.between(40, 84)
		pressure := p.texture(5, 5)
		strong, uneven := p.between(150, 250), p.between(40, 200)
		for i := range p.canvas {
			alpha := last.band(i, level, width) * clamp(strong+pressure[i]*uneven/one, 0, one) / one
			p.canvas[i] = mix(p.canvas[i], pencil, alpha)
		}
	}
	if p.chance(64) {
		p.hatch(last, level, pencil)
	}
	p.noise(p.between(16, 80), true)
}

// hatch fills a glyph with thin parallel strokes.
func (p *painter) hatch(f *field, level int, pencil colour) {
	angle := p.between(20, 160)
	sin, cos := sine(angle), sine(angle+90)
	step, alpha := p.between(150, 230), p.between(60, 130)
	p.each(func(i int, at point) {
		across := (at.x*sin-at.y*cos)/sineOne + 64*side
		stroke := clamp((unit/2-abs(across%step-step/2)+unit/2)*one/unit, 0, one)
		p.canvas[i] = mix(p.canvas[i], pencil, f.inside(i, level, unit)*stroke/one*alpha/one)
	})
}
