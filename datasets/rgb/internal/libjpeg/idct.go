package libjpeg

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

// idct writes the inverse DCT of a dequantised block, in natural order, as 8 x 8
// samples with 128 added, clipped, the rows stride apart. It destroys the block.
func idct(b *[64]int32, dst []uint8, stride int) {
	for x := range 8 {
		if b[8+x]|b[16+x]|b[24+x]|b[32+x]|b[40+x]|b[48+x]|b[56+x] == 0 {
			v := b[x] << 2
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

// flat writes the inverse DCT of a block that has a constant only.
func flat(dc int32, dst []uint8, stride int) {
	v := sample((dc<<2 + 1<<4) >> 5)
	for y := range 8 {
		out := (*[8]uint8)(dst[y*stride:])
		*out = [8]uint8{v, v, v, v, v, v, v, v}
	}
}

func sample(v int32) uint8 { return uint8(min(max(v+128, 0), 255)) }
