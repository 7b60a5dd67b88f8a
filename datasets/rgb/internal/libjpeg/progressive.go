package libjpeg

import "math/bits"

// at returns the coefficients of a block.
func (c *component) at(x, y int) *[64]int16 {
	return (*[64]int16)(c.coefficients[64*(y*c.padX+x):])
}

// filled returns the bits of a block's AC coefficients that are not zero, in the file's order.
func (c *component) filled(x, y int) *uint64 { return &c.nonzero[y*c.padX+x] }

// transform makes the samples of a progressive component's MCUs in row my from its coefficients.
func (c *component) transform(my int) {
	for v := range min(c.v, c.by-my*c.v) {
		for x := range c.bx {
			y := my*c.v + v
			c.put(c.at(x, y), *c.filled(x, y) != 0, x, my%2*c.v+v)
		}
	}
}

// dcFirst decodes the first bits of a DC coefficient (T.81, G.1.2.1).
func (s *scan) dcFirst(p *scanComponent, x, y int) {
	s.fill()
	c := p.dc.joined[s.acc>>(64-fastBits)]
	value := c.value()
	if c&pending != 0 {
		value, _ = s.coefficient(p.dc, true)
	} else {
		s.skip(c.bits())
	}
	p.last += value
	p.at(x, y)[0] = int16(p.last << s.low)
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
	b, filled := p.at(x, y), p.filled(x, y)
	for k := s.first; k <= s.last; k++ {
		s.fill()
		c := p.ac.joined[s.acc>>(64-fastBits)]
		value, steps := c.value(), c.steps()
		if value != 0 && c&pending == 0 {
			s.skip(c.bits())
		} else {
			symbol := s.symbol(p.ac)
			run, size := int(symbol>>4), int(symbol&15)
			if size == 0 && run < 15 {
				s.eobRun = 1<<run - 1 + s.take(run)
				return
			}
			value, steps = s.value(size), run+1
			if size == 0 {
				k += run
				continue
			}
		}
		if k += steps - 1; k > 63 {
			s.bad = true
			return
		}
		b[place[k]] = int16(value << s.low)
		*filled |= 1 << k
	}
}

// acRefine decodes one more bit of a band of AC coefficients (T.81, G.1.2.3): of
// those that are not zero already, and of those that become so with it.
func (s *scan) acRefine(p *scanComponent, x, y int) {
	b, filled := p.at(x, y), p.filled(x, y)
	k := s.first
	for s.eobRun == 0 && k <= s.last {
		s.fill()
		var run int
		var v int16
		if c := p.ac.joined[s.acc>>(64-fastBits)]; c&pending == 0 && c.steps() < endOfBlock && uint32(c.value()+1) <= 2 {
			s.skip(c.bits())
			run, v = c.steps()-1, int16(c.value()<<s.low)
		} else {
			symbol := s.symbol(p.ac)
			run = int(symbol >> 4)
			switch size := symbol & 15; {
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
		}
		// The place of the zero behind run others, or the band's end.
		from, zeros := k, ^*filled>>k<<k&(2<<s.last-1)
		for ; run > 0; run-- {
			zeros &= zeros - 1
		}
		k = min(bits.TrailingZeros64(zeros), s.last+1)
		s.refine(b, *filled, from, k)
		if v != 0 {
			if k > s.last {
				s.bad = true
				return
			}
			b[place[k]] = v
			*filled |= 1 << k
		}
		k++
	}
	if s.eobRun > 0 {
		s.refine(b, *filled, k, s.last+1)
		s.eobRun--
	}
}

// refine reads a bit for each of the filled coefficients from k on, below end.
func (s *scan) refine(b *[64]int16, filled uint64, k, end int) {
	acc, n, at := s.acc, s.n, s.at // in registers
	for filled &= 1<<end - 1<<k; filled != 0; filled &= filled - 1 {
		c := &b[place[bits.TrailingZeros64(filled)&63]&63]
		if n < 1 {
			acc, n, at = s.filled(acc, n, at)
		}
		if acc>>63 != 0 && *c&(1<<s.low) == 0 {
			if *c > 0 {
				*c += 1 << s.low
			} else {
				*c -= 1 << s.low
			}
		}
		acc, n = acc<<1, n-1
	}
	s.acc, s.n, s.at = acc, n, at
}
