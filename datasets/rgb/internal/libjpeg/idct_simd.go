//go:build goexperiment.simd && amd64

package libjpeg

import (
	"encoding/binary"
	"simd/archsimd"
)

var hasAVX2 = archsimd.X86.AVX2()

// idct is [idctGeneric], eight columns or rows at a time where the processor can.
func idct(b *[64]int32, dst []uint8, stride int) {
	if !hasAVX2 {
		idctGeneric(b, dst, stride)
		return
	}
	columns(b, half1, shift1)
	transpose(b)
	columns(b, half2, shift2)
	// Of the words of each half, four rows of columns 0 and 1 come first, then those of 2 and 3.
	var low, high archsimd.Uint8x32
	for i := range 2 {
		even, odd := samples(row(b, 4*i), row(b, 4*i+2)), samples(row(b, 4*i+1), row(b, 4*i+3))
		low, high = high, even.Or(odd.ShiftAllLeft(8)).AsUint8x32().PermuteOrZeroGrouped(archsimd.LoadInt8x32Array(&pairs))
	}
	l, h := low.AsInt32x8(), high.AsInt32x8()
	rows01, rows23 := l.InterleaveLoGrouped(h).AsUint64x4(), l.InterleaveHiGrouped(h).AsUint64x4() // with 45 and 67
	for i, two := range [4]archsimd.Uint64x2{rows01.GetLo(), rows23.GetLo(), rows01.GetHi(), rows23.GetHi()} {
		binary.LittleEndian.PutUint64(dst[2*i*stride:], two.GetElem(0))
		binary.LittleEndian.PutUint64(dst[(2*i+1)*stride:], two.GetElem(1))
	}
	archsimd.ClearAVXUpperBits()
}

// pairs brings words 0 and 4, 1 and 5, 2 and 6, 3 and 7 of each half together.
var pairs = [32]int8{
	0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
	0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15,
}

func row(b *[64]int32, y int) archsimd.Int32x8 {
	return archsimd.LoadInt32x8Array((*[8]int32)(b[8*y:]))
}

// samples is [sample] of two columns.
func samples(v, w archsimd.Int32x8) archsimd.Int16x16 {
	s := v.SaturateToInt16ConcatGrouped(w).Add(archsimd.BroadcastInt16x16(128))
	return s.Max(archsimd.BroadcastInt16x16(0)).Min(archsimd.BroadcastInt16x16(255))
}

// columns is the transform of the eight columns.
func columns(b *[64]int32, half int32, shift uint32) {
	all := archsimd.BroadcastInt32x8
	by := archsimd.BroadcastUint32x8(shift) // a shift by a scalar would be an SSE instruction, which waits
	v2, v6 := row(b, 2), row(b, 6)
	r := v2.Add(v6).Mul(all(c0541))
	e2, e3 := r.Sub(v6.Mul(all(c1847))), r.Add(v2.Mul(all(c0765)))
	v0, v4 := row(b, 0), row(b, 4)
	e0, e1 := v0.Add(v4).ShiftAllLeft(13).Add(all(half)), v0.Sub(v4).ShiftAllLeft(13).Add(all(half))
	s0, s1, s2, s3 := e0.Add(e3), e1.Add(e2), e1.Sub(e2), e0.Sub(e3)
	o7, o5, o3, o1 := row(b, 7), row(b, 5), row(b, 3), row(b, 1)
	z73, z51 := o7.Add(o3), o5.Add(o1)
	z := z73.Add(z51).Mul(all(c1175))
	p73, p51 := z.Sub(z73.Mul(all(c1961))), z.Sub(z51.Mul(all(c0390)))
	q71, q53 := o7.Add(o1).Mul(all(c0899)), o5.Add(o3).Mul(all(c2562))
	o7 = o7.Mul(all(c0298)).Sub(q71).Add(p73)
	o5 = o5.Mul(all(c2053)).Sub(q53).Add(p51)
	o3 = o3.Mul(all(c3072)).Sub(q53).Add(p73)
	o1 = o1.Mul(all(c1501)).Sub(q71).Add(p51)
	s0.Add(o1).ShiftRight(by).StoreArray((*[8]int32)(b[0:]))
	s1.Add(o3).ShiftRight(by).StoreArray((*[8]int32)(b[8:]))
	s2.Add(o5).ShiftRight(by).StoreArray((*[8]int32)(b[16:]))
	s3.Add(o7).ShiftRight(by).StoreArray((*[8]int32)(b[24:]))
	s3.Sub(o7).ShiftRight(by).StoreArray((*[8]int32)(b[32:]))
	s2.Sub(o5).ShiftRight(by).StoreArray((*[8]int32)(b[40:]))
	s1.Sub(o3).ShiftRight(by).StoreArray((*[8]int32)(b[48:]))
	s0.Sub(o1).ShiftRight(by).StoreArray((*[8]int32)(b[56:]))
}

// transpose exchanges the rows and columns of a block.
func transpose(b *[64]int32) {
	for y := 0; y < 8; y += 4 { // columns of four rows: 0 and 4, 1 and 5, and so on
		v0, v1, v2, v3 := row(b, y), row(b, y+1), row(b, y+2), row(b, y+3)
		a0, a1 := v0.InterleaveLoGrouped(v1).AsInt64x4(), v0.InterleaveHiGrouped(v1).AsInt64x4()
		a2, a3 := v2.InterleaveLoGrouped(v3).AsInt64x4(), v2.InterleaveHiGrouped(v3).AsInt64x4()
		a0.InterleaveLoGrouped(a2).AsInt32x8().StoreArray((*[8]int32)(b[8*y:]))
		a0.InterleaveHiGrouped(a2).AsInt32x8().StoreArray((*[8]int32)(b[8*y+8:]))
		a1.InterleaveLoGrouped(a3).AsInt32x8().StoreArray((*[8]int32)(b[8*y+16:]))
		a1.InterleaveHiGrouped(a3).AsInt32x8().StoreArray((*[8]int32)(b[8*y+24:]))
	}
	for y := range 4 {
		v, w := row(b, y), row(b, y+4)
		v.ConcatPermute128Scalars(0, 2, w).StoreArray((*[8]int32)(b[8*y:]))
		v.ConcatPermute128Scalars(1, 3, w).StoreArray((*[8]int32)(b[8*y+32:]))
	}
}
