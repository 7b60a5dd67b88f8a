package libjpeg

// at returns the coefficients of a block.
func (c *component) at(x, y int) *[64]int16 {
	return (*[64]int16)(c.coefficients[64*(y*c.padX+x):])
}

// transform makes the samples of a progressive component from its coefficients.
func (c *component) transform() {
	var block [64]int32
	for y := range c.by {
		for x := range c.bx {
			var ac int16
			for k, v := range c.at(x, y) {
				if k > 0 {
					ac |= v
				}
				block[k] = int32(v) * c.table[k]
			}
			c.put(&block, block[0], ac != 0, x, y)
		}
	}
	c.coefficients = nil
}

// dcFirst decodes the first bits of a DC coefficient (T.81, G.1.2.1).
func (s *scan) dcFirst(p *scanComponent, x, y int) {
	if s.nextDC(p) {
		p.at(x, y)[0] = int16(p.last << s.low)
	}
}

// dcRefine decodes one more bit of a DC coefficient.
func (s *scan) dcRefine(p *scanComponent, x, y int) {
	if s.bit() {
		p.at(x, y)[0] |= 1 << s.low
	}
}

// acFirst decodes the first bits of a band of AC coefficients (T.81, G.1.2.2).
func (s *scan) acFirst(p *scanComponent, x, y int) {
	if s.eobRun > 0 {
		s.eobRun--
		return
	}
	b := p.at(x, y)
	for k := s.first; k <= s.last; k++ {
		s.fill()
		symbol := s.symbol(p.ac)
		run, size := int(symbol>>4), int(symbol&15)
		if size == 0 {
			if run < 15 {
				s.eobRun = 1<<run - 1 + s.take(run)
				return
			}
			k += 15
			continue
		}
		k += run
		if k > 63 {
			s.bad = true
			return
		}
		b[zigzag[k]] = int16(s.value(size) << s.low)
	}
}

// acRefine decodes one more bit of a band of AC coefficients (T.81, G.1.2.3): of
// those that are not zero already, and of those that become so with it.
func (s *scan) acRefine(p *scanComponent, x, y int) {
	b := p.at(x, y)
	k := s.first
	for s.eobRun == 0 && k <= s.last {
		s.fill()
		symbol := s.symbol(p.ac)
		run, size := int(symbol>>4), symbol&15
		var v int16
		switch {
		case s.bad || size > 1:
			s.bad = true
			return
		case size == 1:
			v = -1 << s.low
			if s.take(1) != 0 {
				v = 1 << s.low
			}
		case run < 15:
			s.eobRun = 1<<run + s.take(run)
			continue
		}
		k = s.refine(b, k, run)
		if v != 0 {
			if k > s.last {
				s.bad = true
				return
			}
			b[zigzag[k]] = v
		}
		k++
	}
	if s.eobRun > 0 {
		s.refine(b, k, 64)
		s.eobRun--
	}
}

// refine reads a bit for each coefficient from k on that is not zero, until it has
// passed zeros of them, and returns the place of the next zero, or the band's end.
func (s *scan) refine(b *[64]int16, k, zeros int) int {
	for ; k <= s.last; k++ {
		c := &b[zigzag[k]]
		if *c == 0 {
			if zeros == 0 {
				break
			}
			zeros--
			continue
		}
		if s.bit() && *c&(1<<s.low) == 0 {
			if *c > 0 {
				*c += 1 << s.low
			} else {
				*c -= 1 << s.low
			}
		}
	}
	return k
}
