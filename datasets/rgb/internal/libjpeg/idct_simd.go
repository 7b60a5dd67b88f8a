//go:build goexperiment.simd && amd64

package libjpeg

import "simd/archsimd"

var hasAVX2 = archsimd.X86.AVX2()

// transform is a transform of columns, then of rows, to 8, 4 or 2 samples. They have pairs of inputs
// (see place), whose products with factors are added. The first results are sums of s0 and o0 to s3 and o3,
// the others differences.
type transform struct {
	half, shift [2][8]int32
	// Factors of the first pair for s0 and s3, and s1 and s2; of the second for s0 to s3; of the third and fourth
	// for o0, o1, o2 and o3.
	factors [14][8]int32
}

// transforms are those to 2, 4 and 8 samples.
var transforms = [3]transform{
	// The second pair is the first. There are two results, equal but for the sign of o.
	newTransform(2, [14][2]int16{{1 << 14}, {1 << 14}, {1 << 14}, {1 << 14}, {1 << 14}, {1 << 14},
		{c3624, -c1272}, {c0850, -c0720}, {-c3624, c1272}, {-c0850, c0720}}),
	newTransform(1, [14][2]int16{{1 << 14}, {1 << 14}, {c1847, -c0765}, {-c1847, c0765}, {-c1847, c0765}, {c1847, -c0765},
		{c2562, c0899}, {-c0601, -c0509}, {c1061, -c2172}, {c1451, -c0211}, {-c1061, c2172}, {-c1451, c0211}, {-c2562, -c0899}, {c0601, c0509}}),
	newTransform(0, [14][2]int16{{1 << 13, 1 << 13}, {1 << 13, -1 << 13},
		{c0541 + c0765, c0541}, {c0541, c0541 - c1847}, {-c0541, c1847 - c0541}, {-c0541 - c0765, -c0541},
		{c1501 - c0899 + c1175 - c0390, c1175}, {c1175 - c0390, c1175 - c0899},
		{c1175, c3072 - c2562 + c1175 - c1961}, {c1175 - c2562, c1175 - c1961},
		{c1175 - c0390, c1175 - c2562}, {c2053 - c2562 + c1175 - c0390, c1175},
		{c1175 - c0899, c1175 - c1961}, {c1175, c0298 - c0899 + c1175 - c1961}}),
}

// newTransform returns a transform whose results have more fractional bits, by more, than those of the
// transform to 8 samples.
func newTransform(more int, factors [14][2]int16) (t transform) {
	for lane := range 8 {
		for i, f := range factors {
			t.factors[i][lane] = int32(f[1])<<16 | int32(f[0])&0xffff
		}
		for i, shift := range [2]int{shift1 + more, shift2 + more} {
			t.shift[i][lane], t.half[i][lane] = int32(shift), 1<<(shift-1)
		}
		t.half[1][lane] += 128 << t.shift[1][lane]
	}
	return t
}

// most is the largest sum of magnitudes of half a column with which no later sum overflows.
const most = 2200

// vectors writes the inverse DCT of a block, as scalars does, unless sums might overflow, as they do in
// damaged files, or the processor cannot.
func (c *component) vectors(b *[64]int16, dst []uint8) bool {
	if !hasAVX2 {
		return false
	}
	at := func(v *[64]int16, i int) archsimd.Int16x16 { return archsimd.LoadInt16x16Array((*[16]int16)(v[16*i:])) }
	b0, b1, b2, b3 := at(b, 0), at(b, 1), at(b, 2), at(b, 3)
	q0, q1, q2, q3 := at(&c.placed, 0), at(&c.placed, 1), at(&c.placed, 2), at(&c.placed, 3)
	p0, p1, p2, p3 := b0.Mul(q0), b1.Mul(q1), b2.Mul(q2), b3.Mul(q3)
	lost := b0.MulHigh(q0).Xor(p0.ShiftAllRight(15)).Or(b1.MulHigh(q1).Xor(p1.ShiftAllRight(15))).
		Or(b2.MulHigh(q2).Xor(p2.ShiftAllRight(15))).Or(b3.MulHigh(q3).Xor(p3.ShiftAllRight(15)))
	sum := p0.Abs().ToBits().AddSaturated(p1.Abs().ToBits()).AddSaturated(p2.Abs().ToBits().AddSaturated(p3.Abs().ToBits()))
	if !lost.ToBits().Or(sum.SubSaturated(archsimd.BroadcastUint16x16(most))).IsZero() {
		archsimd.ClearAVXUpperBits()
		return false
	}
	t := &transforms[c.side/4]
	by := func(p archsimd.Int16x16, i int) archsimd.Int32x8 {
		return p.DotProductPairs(archsimd.LoadInt32x8Array(&t.factors[i]).AsInt16x16())
	}
	var r0, r1, r2, r3, r4, r5, r6, r7 archsimd.Int32x8
	for pass := 0; ; pass++ {
		if c.side == 2 {
			p1 = p0
		}
		half, shift := archsimd.LoadInt32x8Array(&t.half[pass]), archsimd.LoadInt32x8Array(&t.shift[pass]).ToBits()
		e0, e1 := by(p0, 0).Add(half), by(p0, 1).Add(half)
		s0, s1, s2, s3 := e0.Add(by(p1, 2)), e1.Add(by(p1, 3)), e1.Add(by(p1, 4)), e0.Add(by(p1, 5))
		o0, o1, o2, o3 := by(p2, 6).Add(by(p3, 7)), by(p2, 8).Add(by(p3, 9)), by(p2, 10).Add(by(p3, 11)), by(p2, 12).Add(by(p3, 13))
		r0, r7 = s0.Add(o0).ShiftRight(shift), s0.Sub(o0).ShiftRight(shift)
		r1, r6 = s1.Add(o1).ShiftRight(shift), s1.Sub(o1).ShiftRight(shift)
		r2, r5 = s2.Add(o2).ShiftRight(shift), s2.Sub(o2).ShiftRight(shift)
		r3, r4 = s3.Add(o3).ShiftRight(shift), s3.Sub(o3).ShiftRight(shift)
		if pass == 1 {
			break
		}
		// Halves of vectors are the first and the second of pairs of columns. They become vectors of pairs, for rows.
		v0, v1 := r0.SaturateToInt16ConcatGrouped(r1), r2.SaturateToInt16ConcatGrouped(r3)
		v2, v3 := r4.SaturateToInt16ConcatGrouped(r5), r6.SaturateToInt16ConcatGrouped(r7)
		f0, g0 := v0.ConcatPermute128Scalars(0, 2, v1), v0.ConcatPermute128Scalars(1, 3, v1)
		f1, g1 := v2.ConcatPermute128Scalars(0, 2, v3), v2.ConcatPermute128Scalars(1, 3, v3)
		w02, w13 := f0.InterleaveLoGrouped(g0).AsInt32x8(), f0.InterleaveHiGrouped(g0).AsInt32x8()
		w46, w57 := f1.InterleaveLoGrouped(g1).AsInt32x8(), f1.InterleaveHiGrouped(g1).AsInt32x8()
		t0, t1 := w02.InterleaveLoGrouped(w13).AsInt64x4(), w02.InterleaveHiGrouped(w13).AsInt64x4()
		t2, t3 := w46.InterleaveLoGrouped(w57).AsInt64x4(), w46.InterleaveHiGrouped(w57).AsInt64x4()
		p0, p1 = t0.InterleaveLoGrouped(t2).AsInt16x16(), t0.InterleaveHiGrouped(t2).AsInt16x16()
		p2, p3 = t1.InterleaveLoGrouped(t3).AsInt16x16(), t1.InterleaveHiGrouped(t3).AsInt16x16()
	}
	// Columns of rows 0, 1, 4, 5 and 2, 3, 6, 7 become rows.
	x01, x23 := bytePairs(r0, r4, r1, r5), bytePairs(r2, r6, r3, r7)
	x0123, x4567 := x01.InterleaveLoGrouped(x23).AsInt32x8(), x01.InterleaveHiGrouped(x23).AsInt32x8()
	var rows [8]uint64
	x0123.InterleaveLoGrouped(x4567).AsUint64x4().StoreArray((*[4]uint64)(rows[:4]))
	x0123.InterleaveHiGrouped(x4567).AsUint64x4().StoreArray((*[4]uint64)(rows[4:]))
	archsimd.ClearAVXUpperBits()
	for i := range c.side {
		c.store(dst[i*c.plane.Stride:], rows[i])
	}
	return true
}

// bytePairs are a and b, clipped, with c and d in their high bytes.
func bytePairs(a, b, c, d archsimd.Int32x8) archsimd.Int16x16 {
	limit := archsimd.BroadcastUint16x16(255)
	low, high := a.SaturateToUint16ConcatGrouped(b).Min(limit), c.SaturateToUint16ConcatGrouped(d).Min(limit)
	return low.Or(high.ShiftAllLeft(8)).BitsToInt16()
}
