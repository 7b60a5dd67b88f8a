package libjpeg

import (
	"encoding/binary"
	"math"
)

// The constants of Loeffler, Ligtenberg and Moschytz's transform (figure 1 and the
// rotations written out), as integers of 13 fractional bits.
const (
	c0298 = 2446
	c0390 = 3196
	c0541 = 4433
	c0765 = 6270
	c0899 = 7373
	c1175 = 9633
	c1501 = 12299
	c1847 = 15137
	c1961 = 16069
	c2053 = 16819
	c2562 = 20995
	c3072 = 25172
)

// The columns' results keep two fractional bits; the rows' lose them, and the factor
// of eight of both transforms.
const (
	shift1 = 13 - 2
	shift2 = 13 + 2 + 3
	half1  = 1 << (shift1 - 1)
	half2  = 1 << (shift2 - 1)
)

// place is where blocks have the i-th coefficient of the file: rows 0 and 4, 2 and 6, 1 and 3, and 5
// and 7 are in pairs, so that vectors multiply pairs. Columns 0, 2, 1, 5 come before the others of their pairs.
// Behind the last coefficient it is 64.
var place = func() (p [256]uint8) {
	for k := range p {
		p[k] = 64
	}
	at := [8]uint8{0, 2, 1, 6, 4, 3, 5, 7} // the pair, and 4 for its second
	for k, i := range zigzag {
		row, column := at[i/8], at[i%8]
		p[k] = 16*(row&3) + 2*column + row>>2
	}
	return p
}()

// quantise sets the table of quantisation.
func (c *component) quantise(table *[64]int32) {
	c.table = table
	for k, i := range zigzag {
		c.placed[place[k]] = int16(table[i])
		c.large = c.large || table[i] > math.MaxInt16
	}
}

// put writes the samples of a block, at x, y in blocks; filled is false for one that has a constant
// only.
func (c *component) put(b *[64]int16, filled bool, x, y int) {
	dst := c.plane.Pix[c.side*(y*c.plane.Stride+x):]
	if filled && c.side > 1 {
		if c.large || !c.vectors(b, dst) {
			c.scalars(b, dst)
		}
		return
	}
	v := uint64(sample((int32(b[0])*c.table[0]+4)>>3)) * 0x0101010101010101
	for i := range c.side {
		c.store(dst[i*c.plane.Stride:], v)
	}
}

// store writes a row of a block.
func (c *component) store(dst []uint8, row uint64) {
	switch c.side {
	case 8:
		binary.LittleEndian.PutUint64(dst, row)
	case 4:
		binary.LittleEndian.PutUint32(dst, uint32(row))
	case 2:
		binary.LittleEndian.PutUint16(dst, uint16(row))
	default:
		dst[0] = uint8(row)
	}
}

// scalars writes the inverse DCT of a block.
func (c *component) scalars(placed *[64]int16, dst []uint8) {
	var b [64]int32
	for k, i := range zigzag {
		b[i] = int32(placed[place[k]]) * c.table[i]
	}
	switch c.side {
	case 8:
		idct8(&b, dst, c.plane.Stride)
	case 4:
		idct4(&b, dst, c.plane.Stride)
	case 2:
		idct2(&b, dst, c.plane.Stride)
	}
}

// idct8 writes the inverse DCT of a dequantised block, in natural order, as 8 x 8
// samples with 128 added, clipped, the rows stride apart. It destroys the block.
func idct8(b *[64]int32, dst []uint8, stride int) {
	for x := range 8 {
		if b[8+x]|b[16+x]|b[24+x]|b[32+x]|b[40+x]|b[48+x]|b[56+x] == 0 {
			v := (b[x]<<13 + half1) >> shift1
			for i := x; i < 64; i += 8 {
				b[i] = v
			}
			continue
		}
		// Even part.
		r := (b[16+x] + b[48+x]) * c0541
		e2, e3 := r-b[48+x]*c1847, r+b[16+x]*c0765
		e0, e1 := (b[x]+b[32+x])<<13+half1, (b[x]-b[32+x])<<13+half1
		s0, s1, s2, s3 := e0+e3, e1+e2, e1-e2, e0-e3
		// Odd part.
		o7, o5, o3, o1 := b[56+x], b[40+x], b[24+x], b[8+x]
		z := (o7 + o5 + o3 + o1) * c1175
		p73, p51 := z-(o7+o3)*c1961, z-(o5+o1)*c0390
		q71, q53 := (o7+o1)*c0899, (o5+o3)*c2562
		o7 = o7*c0298 - q71 + p73
		o5 = o5*c2053 - q53 + p51
		o3 = o3*c3072 - q53 + p73
		o1 = o1*c1501 - q71 + p51
		b[x], b[56+x] = (s0+o1)>>shift1, (s0-o1)>>shift1
		b[8+x], b[48+x] = (s1+o3)>>shift1, (s1-o3)>>shift1
		b[16+x], b[40+x] = (s2+o5)>>shift1, (s2-o5)>>shift1
		b[24+x], b[32+x] = (s3+o7)>>shift1, (s3-o7)>>shift1
	}
	// The rows likewise, written out again since a call would cost more than it does.
	for y := range 8 {
		w := (*[8]int32)(b[8*y:])
		out := (*[8]uint8)(dst[y*stride:])
		r := (w[2] + w[6]) * c0541
		e2, e3 := r-w[6]*c1847, r+w[2]*c0765
		e0, e1 := (w[0]+w[4])<<13+half2, (w[0]-w[4])<<13+half2
		s0, s1, s2, s3 := e0+e3, e1+e2, e1-e2, e0-e3
		o7, o5, o3, o1 := w[7], w[5], w[3], w[1]
		z := (o7 + o5 + o3 + o1) * c1175
		p73, p51 := z-(o7+o3)*c1961, z-(o5+o1)*c0390
		q71, q53 := (o7+o1)*c0899, (o5+o3)*c2562
		o7 = o7*c0298 - q71 + p73
		o5 = o5*c2053 - q53 + p51
		o3 = o3*c3072 - q53 + p73
		o1 = o1*c1501 - q71 + p51
		out[0], out[7] = sample((s0+o1)>>shift2), sample((s0-o1)>>shift2)
		out[1], out[6] = sample((s1+o3)>>shift2), sample((s1-o3)>>shift2)
		out[2], out[5] = sample((s2+o5)>>shift2), sample((s2-o5)>>shift2)
		out[3], out[4] = sample((s3+o7)>>shift2), sample((s3-o7)>>shift2)
	}
}

// The constants of the transforms to 4 x 4 and 2 x 2 samples (jidctred.c): means of 2 x 2 or 4 x 4
// samples, in which frequency 4, or 2, 4 and 6, cancel.
const (
	c0211 = 1730
	c0509 = 4176
	c0601 = 4926
	c0720 = 5906
	c0850 = 6967
	c1061 = 8697
	c1272 = 10426
	c1451 = 11893
	c2172 = 17799
	c3624 = 29692
)

// idct4 is [idct8] to 4 x 4 samples.
func idct4(b *[64]int32, dst []uint8, stride int) {
	for x := range 8 {
		if x == 4 {
			continue // of no use for the rows
		}
		s0, s1, s2, s3 := four(b[x], b[8+x], b[16+x], b[24+x], b[40+x], b[48+x], b[56+x], 1<<shift1)
		b[x], b[8+x], b[16+x], b[24+x] = s0>>(shift1+1), s1>>(shift1+1), s2>>(shift1+1), s3>>(shift1+1)
	}
	for y := range 4 {
		w, out := (*[8]int32)(b[8*y:]), (*[4]uint8)(dst[y*stride:])
		s0, s1, s2, s3 := four(w[0], w[1], w[2], w[3], w[5], w[6], w[7], 1<<shift2)
		out[0], out[1], out[2], out[3] = sample(s0>>(shift2+1)), sample(s1>>(shift2+1)), sample(s2>>(shift2+1)), sample(s3>>(shift2+1))
	}
}

// four is the transform of one column or row, of 14 more fractional bits, half added.
func four(v0, v1, v2, v3, v5, v6, v7, half int32) (s0, s1, s2, s3 int32) {
	e0 := v0<<14 + half
	e2 := v2*c1847 - v6*c0765
	o0 := v5*c1451 - v7*c0211 - v3*c2172 + v1*c1061
	o2 := v3*c0899 - v7*c0509 - v5*c0601 + v1*c2562
	return e0 + e2 + o2, e0 - e2 + o0, e0 - e2 - o0, e0 + e2 - o2
}

// idct2 is [idct8] to 2 x 2 samples.
func idct2(b *[64]int32, dst []uint8, stride int) {
	for _, x := range [5]int{0, 1, 3, 5, 7} {
		odd := b[24+x]*-c1272 + b[40+x]*c0850 - b[56+x]*c0720 + b[8+x]*c3624
		even := b[x]<<15 + 1<<(shift1+1)
		b[x], b[8+x] = (even+odd)>>(shift1+2), (even-odd)>>(shift1+2)
	}
	for y := range 2 {
		w, out := (*[8]int32)(b[8*y:]), (*[2]uint8)(dst[y*stride:])
		odd := w[3]*-c1272 + w[5]*c0850 - w[7]*c0720 + w[1]*c3624
		even := w[0]<<15 + 1<<(shift2+1)
		out[0], out[1] = sample((even+odd)>>(shift2+2)), sample((even-odd)>>(shift2+2))
	}
}

func sample(v int32) uint8 { return uint8(min(max(v+128, 0), 255)) }
