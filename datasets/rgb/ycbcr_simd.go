//go:build goexperiment.simd && amd64

package rgb

import "simd/archsimd"

var hasAVX2 = archsimd.X86.AVX2()

// fromChromaVectors is fromChroma for the first pixels; it returns their number. Products of 16 bits
// are rounded as the tables' are: half of the high word of a product with 2x, rounded.
func fromChromaVectors(row, luma, cb, cr []uint8) (done int) {
	if !hasAVX2 {
		return 0
	}
	all := archsimd.BroadcastInt16x16
	zero, most, middle, one := all(0), all(255), all(128), all(1)
	red, blue := all(91881-1<<16), all(116130-2<<16)
	green := archsimd.BroadcastInt32x8((1<<16-46802)<<16 | -22554&(1<<16-1)).AsInt16x16() // of Cb and Cr in turns
	half := archsimd.BroadcastInt32x8(1 << 15)
	place := func(i int) archsimd.Int8x32 { return archsimd.LoadInt8x32Array(&places[i]) }
	p0, p1, p2, p3 := place(0), place(1), place(2), place(3)
	for ; done+19 <= len(luma); done += 16 { // 56 bytes are written
		l, u, v := words(luma[done:]), words(cb[done:]).Sub(middle), words(cr[done:]).Sub(middle)
		r := v.Add(v).MulHigh(red).Add(one).ShiftAllRight(1).Add(v).Add(l)
		u2 := u.Add(u)
		b := u2.MulHigh(blue).Add(one).ShiftAllRight(1).Add(u2).Add(l)
		g1 := u.InterleaveLoGrouped(v).DotProductPairs(green).Add(half).ShiftAllRight(16)
		g2 := u.InterleaveHiGrouped(v).DotProductPairs(green).Add(half).ShiftAllRight(16)
		g := g1.SaturateToInt16ConcatGrouped(g2).Sub(v).Add(l)
		rg := r.Max(zero).Min(most).Or(g.Max(zero).Min(most).ShiftAllLeft(8)).AsUint8x32()
		b8 := b.Max(zero).Min(most).AsUint8x32()
		first := rg.PermuteOrZeroGrouped(p0).Or(b8.PermuteOrZeroGrouped(p2))
		second := rg.PermuteOrZeroGrouped(p1).Or(b8.PermuteOrZeroGrouped(p3))
		out := row[3*done:][:56] // eight bytes of the second parts are written over
		second.GetLo().Store(out[16:])
		second.GetHi().Store(out[40:])
		first.GetLo().Store(out)
		first.GetHi().Store(out[24:])
	}
	archsimd.ClearAVXUpperBits()
	return done
}

// words are sixteen bytes as numbers of 16 bits.
func words(b []uint8) archsimd.Int16x16 {
	return archsimd.LoadUint8x16(b).ExtendToUint16().BitsToInt16()
}

// places are where the first 16 and the other bytes of eight pixels come from: red and green, then
// blue of 16 bits. Both halves are equal.
var places = func() (p [4][32]int8) {
	for i := range 64 {
		part, at := i%32/16, i%16+i/32*16
		p[part][at], p[2+part][at] = -1, -1
		if x, c := i%32/3, i%32%3; c < 2 {
			p[part][at] = int8(2*x + c)
		} else {
			p[2+part][at] = int8(2 * x)
		}
	}
	return p
}()

// sumVectors is sum for the first values; it returns their number.
func sumVectors(sums []int16, near, far []uint8, weights [2]int16) (done int) {
	if !hasAVX2 {
		return 0
	}
	a, b := archsimd.BroadcastInt16x16(weights[0]), archsimd.BroadcastInt16x16(weights[1])
	for ; done+16 <= len(near); done += 16 {
		words(near[done:]).Mul(a).Add(words(far[done:]).Mul(b)).Store(sums[done:])
	}
	archsimd.ClearAVXUpperBits()
	return done
}

// widenVectors is widen for the first values; it returns their number.
func widenVectors(dst []uint8, s []int16, left, right int16, shift int) (done int) {
	if !hasAVX2 {
		return 0
	}
	all := archsimd.BroadcastInt16x16
	addLeft, addRight, divide := all(left), all(right), all(1<<(16-shift)) // a shift by a scalar would be an SSE instruction, which waits
	for ; done+18 <= len(s); done += 16 {
		v := archsimd.LoadInt16x16(s[done+1:])
		v = v.Add(v).Add(v)
		l := v.Add(archsimd.LoadInt16x16(s[done:])).Add(addLeft).MulHigh(divide)
		r := v.Add(archsimd.LoadInt16x16(s[done+2:])).Add(addRight).MulHigh(divide)
		l.Or(r.ShiftAllLeft(8)).AsUint8x32().Store(dst[2*done:])
	}
	archsimd.ClearAVXUpperBits()
	return done
}
