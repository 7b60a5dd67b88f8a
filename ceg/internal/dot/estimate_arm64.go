//go:build goexperiment.simd

package dot

import "simd/archsimd"

// estimate sets a tile of dst, whose rows are stride apart, to the inner products
// of the vectors of a strip and of a panel of k elements each, k at least 1.
func estimate(dst []float32, stride int, a, b []float32, k int) {
	for i := 0; i < stripRows; i += 4 {
		for j := 0; j < panelCols; j += 16 {
			estimateNEON(dst[i*stride+j:], stride, a[:k*stripRows], b[:k*panelCols], i, j)
		}
	}
}

// estimateNEON computes the rows i to i+3 and the columns j to j+15 of a tile; the masks
// show the compiler that no index is out of range.
func estimateNEON(dst []float32, stride int, a, b []float32, i, j int) {
	i, j = i&4, j&16
	var s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33 archsimd.Float32x4
	for len(a) >= stripRows && len(b) >= panelCols {
		x, y := (*[stripRows]float32)(a), (*[panelCols]float32)(b)
		y0, y1, y2, y3 := archsimd.LoadFloat32x4(y[j:]), archsimd.LoadFloat32x4(y[j+4:]), archsimd.LoadFloat32x4(y[j+8:]), archsimd.LoadFloat32x4(y[j+12:])
		// Six interleavings make four vectors of an element each: archsimd's broadcast,
		// which fills a cleared vector's first lane before, would take twelve instructions.
		bits := archsimd.LoadFloat32x4(x[i:]).ToBits()
		low, high := bits.InterleaveLo(bits).ReshapeToUint64s(), bits.InterleaveHi(bits).ReshapeToUint64s()
		x0, x1 := low.InterleaveLo(low).ReshapeToUint32s().BitsToFloat32(), low.InterleaveHi(low).ReshapeToUint32s().BitsToFloat32()
		x2, x3 := high.InterleaveLo(high).ReshapeToUint32s().BitsToFloat32(), high.InterleaveHi(high).ReshapeToUint32s().BitsToFloat32()
		s00, s01, s02, s03 = x0.MulAdd(y0, s00), x0.MulAdd(y1, s01), x0.MulAdd(y2, s02), x0.MulAdd(y3, s03)
		s10, s11, s12, s13 = x1.MulAdd(y0, s10), x1.MulAdd(y1, s11), x1.MulAdd(y2, s12), x1.MulAdd(y3, s13)
		s20, s21, s22, s23 = x2.MulAdd(y0, s20), x2.MulAdd(y1, s21), x2.MulAdd(y2, s22), x2.MulAdd(y3, s23)
		s30, s31, s32, s33 = x3.MulAdd(y0, s30), x3.MulAdd(y1, s31), x3.MulAdd(y2, s32), x3.MulAdd(y3, s33)
		a, b = a[stripRows:], b[panelCols:]
	}
	row := func(r int, s0, s1, s2, s3 archsimd.Float32x4) {
		d := dst[r*stride:][:16]
		s0.Store(d)
		s1.Store(d[4:])
		s2.Store(d[8:])
		s3.Store(d[12:])
	}
	row(0, s00, s01, s02, s03)
	row(1, s10, s11, s12, s13)
	row(2, s20, s21, s22, s23)
	row(3, s30, s31, s32, s33)
}
