package libjpeg

import (
	"context"
	"fmt"
)

// zigzag is the place in natural order of the i-th coefficient of the file.
var zigzag = [64]uint8{
	0, 1, 8, 16, 9, 2, 3, 10,
	17, 24, 32, 25, 18, 11, 4, 5,
	12, 19, 26, 33, 40, 48, 41, 34,
	27, 20, 13, 6, 7, 14, 21, 28,
	35, 42, 49, 56, 57, 50, 43, 36,
	29, 22, 15, 23, 30, 37, 44, 51,
	58, 59, 52, 45, 38, 31, 39, 46,
	53, 60, 61, 54, 47, 55, 62, 63,
}

// scan is the state of one scan.
type scan struct {
	reader
	parts []scanComponent
	// first and last coefficient, and the bit above and the lowest of their bits that
	// the scan brings.
	first, last, high, low int
	eobRun                 int32 // blocks that are known to have nothing more
	// block has zeros between blocks. What is behind 64 is of no use.
	block [256]int16
}

// scanComponent is a component in a scan.
type scanComponent struct {
	*component
	dc, ac *table
	last   int32 // the DC coefficient before
}

// maxScans is how many scans are decoded. Progressive files have about ten; one of few
// bytes could have thousands, and each goes through the whole picture.
const maxScans = 100

// scan reads a scan: its header (T.81, B.2.3) and its data.
func (d *decoder) scan(b []byte) error {
	if d.scans++; d.scans > maxScans {
		return FormatError(fmt.Sprintf("it has more than %d scans", maxScans))
	}
	s := scan{reader: reader{data: d.scanned}}
	if err := d.scanHeader(&s, b); err != nil {
		return err
	}
	d.at = s.start(d.data, d.at)
	decode, err := d.coding(&s)
	if err != nil {
		return err
	}
	mcusX, mcusY := d.mcusX, d.mcusY
	alone := len(s.parts) == 1
	if alone { // then its MCUs are single blocks, without those that fill up
		mcusX, mcusY = s.parts[0].bx, s.parts[0].by
	}
	mcu := 0
	for my := range mcusY {
		if d.ctx.Err() != nil {
			return context.Cause(d.ctx)
		}
		for mx := range mcusX {
			if d.restart > 0 && mcu > 0 && mcu%d.restart == 0 {
				if err := d.expectRestart(&s, mcu/d.restart-1); err != nil {
					return err
				}
			}
			mcu++
			row := my
			if d.streams && !d.progressive {
				row %= 2
			}
			for i := range s.parts {
				p := &s.parts[i]
				if alone {
					decode(&s, p, mx, row)
					continue
				}
				for v := range p.v {
					for h := range p.h {
						decode(&s, p, mx*p.h+h, row*p.v+v)
					}
				}
			}
			if s.bad {
				return FormatError("a wrong Huffman code")
			}
			if s.short() {
				return errShort
			}
		}
		if d.streams && !d.progressive {
			d.ready(my)
		}
	}
	d.scanned = s.data
	return nil
}

func (d *decoder) scanHeader(s *scan, b []byte) error {
	if d.components == nil {
		return FormatError("a scan before the frame header")
	}
	if len(b) < 1 || len(b) != 4+2*int(b[0]) || b[0] < 1 || int(b[0]) > len(d.components) {
		return FormatError("a scan header has a wrong length")
	}
	n := int(b[0])
	whole := n == len(d.components) && (n > 1 || d.components[0].v == 1)
	if d.scans == 1 {
		d.streams = d.progressive || whole
	} else if d.streams && !d.progressive && !whole {
		return FormatError("a scan of some components after one of all")
	}
	for i := range n {
		id, dc, ac := b[1+2*i], b[2+2*i]>>4, b[2+2*i]&15
		if dc > 3 || ac > 3 {
			return FormatError("a scan names a Huffman table that cannot be")
		}
		p := scanComponent{dc: d.dc[dc], ac: d.ac[ac]}
		for j := range d.components {
			if d.components[j].id == id {
				p.component = &d.components[j]
			}
		}
		if p.component == nil {
			return FormatError(fmt.Sprintf("a scan of component %d, which the frame does not have", id))
		}
		for _, other := range s.parts {
			if other.component == p.component {
				return FormatError(fmt.Sprintf("component %d twice in a scan", id))
			}
		}
		if !p.seen {
			if d.quant[p.quant] == nil {
				return FormatError(fmt.Sprintf("component %d has no quantisation table", id))
			}
			p.seen = true
			p.quantise(d.quant[p.quant])
			d.allocate(p.component)
		}
		s.parts = append(s.parts, p)
	}
	b = b[1+2*n:]
	s.first, s.last, s.high, s.low = int(b[0]), int(b[1]), int(b[2]>>4), int(b[2]&15)
	return nil
}

// coding returns the function that decodes the scan's next block, of a component, into
// place x, y.
func (d *decoder) coding(s *scan) (func(s *scan, p *scanComponent, x, y int), error) {
	needDC, needAC := true, true
	decode := (*scan).sequential
	if d.progressive {
		isDC, refines := s.first == 0, s.high > 0
		if s.last > 63 || s.first > s.last || s.low > 13 || refines && s.low != s.high-1 ||
			isDC && s.last != 0 || !isDC && len(s.parts) > 1 {
			return nil, FormatError(fmt.Sprintf("a progressive scan of coefficients %d to %d, bits %d to %d, %d components",
				s.first, s.last, s.high, s.low, len(s.parts)))
		}
		needDC, needAC = isDC && !refines, !isDC
		switch {
		case isDC && refines:
			decode = (*scan).dcRefine
		case isDC:
			decode = (*scan).dcFirst
		case refines:
			decode = (*scan).acRefine
		default:
			decode = (*scan).acFirst
		}
	}
	for _, p := range s.parts {
		if needDC && p.dc == nil || needAC && p.ac == nil {
			return nil, FormatError(fmt.Sprintf("component %d has no Huffman table", p.id))
		}
	}
	return decode, nil
}

// expectRestart continues after the restart marker with number i modulo 8.
func (d *decoder) expectRestart(s *scan, i int) error {
	m, err := d.marker()
	if err != nil {
		return err
	}
	if want := uint8(mRST0 + i%8); m != want {
		return FormatError(fmt.Sprintf("marker 0x%02x where restart marker 0x%02x belongs", m, want))
	}
	d.at = s.start(d.data, d.at)
	s.eobRun = 0
	for j := range s.parts {
		s.parts[j].last = 0
	}
	return nil
}

// sequential decodes a whole block, and transforms it (T.81, F.2.2).
func (s *scan) sequential(p *scanComponent, x, y int) {
	acc, n, at, codes := s.acc, s.n, s.at, &p.dc.joined // in registers
	k := -1
	for k < 63 {
		if n < 32 {
			acc, n, at = s.filled(acc, n, at)
		}
		c := codes[acc>>(64-fastBits)]
		value, steps := c.value(), c.steps()
		if c&pending == 0 {
			first := k + steps
			k = first + int(c>>24&255)
			s.block[place[uint8(first)]], s.block[place[uint8(k)]] = int16(value), int16(c>>48)
			if k > 63 {
				last, bits := int16(c>>48), int(c&63)
				if first >= 63 { // a second code is the next block's
					k, last, bits = first, int16(value), c.bits()
				}
				acc, n = acc<<(bits&63), n-bits
				s.bad = s.bad || k > 63 && last != 0
				break
			}
			acc, n = acc<<(c&63), n-int(c&63)
		} else {
			if value == 0 {
				s.acc, s.n = acc, n
				if k < 0 {
					value, steps = s.coefficient(p.dc, true)
				} else {
					value, steps = s.coefficient(p.ac, false)
				}
				acc, n = s.acc, s.n
			} else {
				acc <<= c & 63
				size := value & 15
				value = int32(acc>>(64-size)) + (int32(acc>>63)-1)&(1-1<<size)
				acc, n = acc<<size, n-int(c&63)-int(size)
			}
			if k += steps; k > 63 {
				s.bad = s.bad || value != 0
				break
			}
			s.block[place[uint8(k)]] = int16(value)
		}
		codes = &p.ac.joined
	}
	s.acc, s.n, s.at = acc, n, at
	p.last += int32(s.block[0])
	s.block[0] = int16(p.last)
	block, filled := (*[64]int16)(s.block[:]), k != endOfBlock
	p.put(block, filled, x, y)
	if block[0] = 0; filled {
		*block = [64]int16{}
	}
}
