//go:build goexperiment.simd

package dot

import "simd/archsimd"

// two returns the first two elements of p; widen4 four of them, made float64: lower and upper ones.
func two(p []float64) archsimd.Float64x2 { return archsimd.LoadFloat64x2(p) }

func widen4(p []float32) (lower, upper archsimd.Float64x2) {
	x := archsimd.LoadFloat32x4(p)
	return x.ConvertLo2ToFloat64(), x.HiToLo().ConvertLo2ToFloat64()
}

// fold adds the partial sums 01, 23, 45 and 67 in the package's order but for the last
// addition, which is of the two lanes that it returns.
func fold(s01, s23, s45, s67 archsimd.Float64x2) archsimd.Float64x2 {
	return s01.Add(s45).Add(s23.Add(s67))
}

// products makes two of the eight partial sums of all sixteen products at a time, which
// take half of the vector registers.
func products(dst *[tile * tile]float64, a, b []float64) {
	var parts [4][2 * tile * tile]float64
	for l := range parts {
		partial(&parts[l], a, b, 2*l)
	}
	for i := 0; i < tile*tile; i += 2 {
		at := func(i int) archsimd.Float64x2 {
			return fold(two(parts[0][2*i:]), two(parts[1][2*i:]), two(parts[2][2*i:]), two(parts[3][2*i:]))
		}
		at(i).ConcatAddPairs(at(i + 1)).Store(dst[i:])
	}
}

// partial sets dst[2*(4*i+j):] to the partial sums l and l+1 of the product of vector i of a
// and vector j of b. The mask shows the compiler that no index is out of range.
func partial(dst *[2 * tile * tile]float64, a, b []float64, l int) {
	l &= lanes - 2
	var s00, s01, s02, s03, s10, s11, s12, s13, s20, s21, s22, s23, s30, s31, s32, s33 archsimd.Float64x2
	for len(a) >= step && len(b) >= step {
		x, y := (*[step]float64)(a), (*[step]float64)(b)
		x0, x1 := archsimd.LoadFloat64x2(x[l:]), archsimd.LoadFloat64x2(x[lanes+l:])
		x2, x3 := archsimd.LoadFloat64x2(x[2*lanes+l:]), archsimd.LoadFloat64x2(x[3*lanes+l:])
		y0, y1 := archsimd.LoadFloat64x2(y[l:]), archsimd.LoadFloat64x2(y[lanes+l:])
		y2, y3 := archsimd.LoadFloat64x2(y[2*lanes+l:]), archsimd.LoadFloat64x2(y[3*lanes+l:])
		s00, s01, s02, s03 = x0.MulAdd(y0, s00), x0.MulAdd(y1, s01), x0.MulAdd(y2, s02), x0.MulAdd(y3, s03)
		s10, s11, s12, s13 = x1.MulAdd(y0, s10), x1.MulAdd(y1, s11), x1.MulAdd(y2, s12), x1.MulAdd(y3, s13)
		s20, s21, s22, s23 = x2.MulAdd(y0, s20), x2.MulAdd(y1, s21), x2.MulAdd(y2, s22), x2.MulAdd(y3, s23)
		s30, s31, s32, s33 = x3.MulAdd(y0, s30), x3.MulAdd(y1, s31), x3.MulAdd(y2, s32), x3.MulAdd(y3, s33)
		a, b = a[step:], b[step:]
	}
	store4 := func(d []float64, s0, s1, s2, s3 archsimd.Float64x2) {
		s0.Store(d)
		s1.Store(d[2:])
		s2.Store(d[4:])
		s3.Store(d[6:])
	}
	store4(dst[:8], s00, s01, s02, s03)
	store4(dst[8:16], s10, s11, s12, s13)
	store4(dst[16:24], s20, s21, s22, s23)
	store4(dst[24:], s30, s31, s32, s33)
}

// against makes two rows at a time.
func against(dst *[tile]float64, rows []float32, v Vector) {
	for i := 0; i < tile; i += 2 {
		a, b, c := rows[i*v.cols:(i+1)*v.cols], rows[(i+1)*v.cols:(i+2)*v.cols], v.data
		var a01, a23, a45, a67, b01, b23, b45, b67 archsimd.Float64x2
		add := func(a, b []float32, c []float64) {
			y01, y23, y45, y67 := two(c), two(c[2:]), two(c[4:]), two(c[6:])
			x01, x23 := widen4(a)
			x45, x67 := widen4(a[4:])
			a01, a23, a45, a67 = x01.MulAdd(y01, a01), x23.MulAdd(y23, a23), x45.MulAdd(y45, a45), x67.MulAdd(y67, a67)
			x01, x23 = widen4(b)
			x45, x67 = widen4(b[4:])
			b01, b23, b45, b67 = x01.MulAdd(y01, b01), x23.MulAdd(y23, b23), x45.MulAdd(y45, b45), x67.MulAdd(y67, b67)
		}
		for len(a) >= lanes && len(b) >= lanes && len(c) >= lanes {
			add(a, b, c)
			a, b, c = a[lanes:], b[lanes:], c[lanes:]
		}
		if len(a) > 0 {
			x, y := rest(a), rest(b)
			add(x[:], y[:], c)
		}
		fold(a01, a23, a45, a67).ConcatAddPairs(fold(b01, b23, b45, b67)).Store(dst[i:])
	}
}

// rest returns fewer than eight elements, and zeros.
func rest[T Number](row []T) (x [lanes]T) {
	copy(x[:], row)
	return x
}

// one is the product of one row and a vector, padded or not.
func one(row []float32, v []float64) float64 {
	var s01, s23, s45, s67 archsimd.Float64x2
	add := func(row []float32, v []float64) {
		x01, x23 := widen4(row)
		x45, x67 := widen4(row[4:])
		s01, s23, s45, s67 = x01.MulAdd(two(v), s01), x23.MulAdd(two(v[2:]), s23), x45.MulAdd(two(v[4:]), s45), x67.MulAdd(two(v[6:]), s67)
	}
	for len(row) >= lanes && len(v) >= lanes {
		add(row, v)
		row, v = row[lanes:], v[lanes:]
	}
	if len(row) > 0 {
		x, y := rest(row), rest(v[:len(row)])
		add(x[:], y[:])
	}
	return total(s01, s23, s45, s67)
}

func total(s01, s23, s45, s67 archsimd.Float64x2) float64 {
	s := fold(s01, s23, s45, s67)
	return s.ConcatAddPairs(s).GetElem(0)
}

// float64s is the product of a float64 row and the first elements of v.
func float64s(row, v []float64) float64 {
	var s01, s23, s45, s67 archsimd.Float64x2
	add := func(row, v []float64) {
		s01, s23 = two(row).MulAdd(two(v), s01), two(row[2:]).MulAdd(two(v[2:]), s23)
		s45, s67 = two(row[4:]).MulAdd(two(v[4:]), s45), two(row[6:]).MulAdd(two(v[6:]), s67)
	}
	for len(row) >= lanes && len(v) >= lanes {
		add(row, v)
		row, v = row[lanes:], v[lanes:]
	}
	if len(row) > 0 {
		x, y := rest(row), rest(v[:len(row)])
		add(x[:], y[:])
	}
	return total(s01, s23, s45, s67)
}
