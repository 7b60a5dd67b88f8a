//go:build goexperiment.simd && amd64

package dot

import "simd/archsimd"

var (
	hasAVX512 = archsimd.X86.AVX512()
	hasAVX2   = archsimd.X86.AVX2() && archsimd.X86.FMA()
)

func products(dst *[tile * tile]float64, a, b []float64) {
	switch {
	case hasAVX512:
		productsAVX512(dst, a, b)
	case hasAVX2:
		productsAVX2(dst, a, b)
	default:
		productsGeneric(dst, a, b)
	}
}

func against(dst *[tile]float64, rows []float32, v Vector) {
	switch {
	case hasAVX512:
		againstAVX512(dst, rows, v)
	case hasAVX2:
		againstAVX2(dst, rows, v)
	default:
		againstGeneric(dst, rows, v)
	}
}

// one is the product of one row and a vector, padded or not.
func one(row []float32, v []float64) float64 {
	switch {
	case hasAVX512:
		return oneAVX512(row, v)
	case hasAVX2:
		return oneAVX2(row, v)
	}
	return product(row, v)
}

// float64s is the product of a float64 row and the first elements of v.
func float64s(row, v []float64) float64 {
	switch {
	case len(row) < lanes: // vectors do not pay
	case hasAVX512:
		return float64sAVX512(row, v)
	case hasAVX2:
		return float64sAVX2(row, v)
	}
	return product(row, v)
}

// sum8 adds the lanes 0-7 of s in the package's order.
func sum8(s archsimd.Float64x8) float64 { return sum4(s.GetLo().Add(s.GetHi())) }

// sum4 adds the lanes of s, which are already the sums of two.
func sum4(s archsimd.Float64x4) float64 {
	return sums4(s, s).GetElem(0)
}

// sums8 is sum8 of both, and sums4 sum4, by vector instructions alone: a scalar addition
// waits for the upper halves of registers that these leave in use.
func sums8(a, b archsimd.Float64x8) archsimd.Float64x2 {
	return sums4(a.GetLo().Add(a.GetHi()), b.GetLo().Add(b.GetHi()))
}

func sums4(a, b archsimd.Float64x4) archsimd.Float64x2 {
	return a.GetLo().Add(a.GetHi()).ConcatAddPairs(b.GetLo().Add(b.GetHi()))
}

func eight(p []float64, at int) archsimd.Float64x8 {
	return archsimd.LoadFloat64x8(p[at : at+8])
}

func four(p []float64, at int) archsimd.Float64x4 {
	return archsimd.LoadFloat64x4(p[at : at+4])
}

// loadPartial loads fewer than eight elements, and zeros. (archsimd's own
// LoadFloat32x8Part trips the pointer checks of the race detector.)
func loadPartial(v []float32) archsimd.Float32x8 {
	var eight [8]float32
	copy(eight[:], v)
	return archsimd.LoadFloat32x8(eight[:])
}

// productsAVX512 makes two columns at a time: the compiler has fifteen vector
// registers, and spills four columns' sums to memory at half the speed.
func productsAVX512(dst *[tile * tile]float64, a, b []float64) {
	for j := 0; j < tile; j += 2 {
		a, b := a, b[j*lanes:]
		var s00, s01, s10, s11, s20, s21, s30, s31 archsimd.Float64x8
		for {
			y0, y1 := eight(b, 0), eight(b, 8)
			x0, x1, x2, x3 := eight(a, 0), eight(a, 8), eight(a, 16), eight(a, 24)
			s00, s01 = x0.MulAdd(y0, s00), x0.MulAdd(y1, s01)
			s10, s11 = x1.MulAdd(y0, s10), x1.MulAdd(y1, s11)
			s20, s21 = x2.MulAdd(y0, s20), x2.MulAdd(y1, s21)
			s30, s31 = x3.MulAdd(y0, s30), x3.MulAdd(y1, s31)
			if len(a) <= step || len(b) <= step {
				break
			}
			a, b = a[step:], b[step:]
		}
		sums8(s00, s01).Store(dst[0+j : 2+j])
		sums8(s10, s11).Store(dst[4+j : 6+j])
		sums8(s20, s21).Store(dst[8+j : 10+j])
		sums8(s30, s31).Store(dst[12+j : 14+j])
	}
	archsimd.ClearAVXUpperBits()
}

func againstAVX512(dst *[tile]float64, rows []float32, v Vector) {
	a0, a1, a2, a3 := rows[:v.cols], rows[v.cols:2*v.cols], rows[2*v.cols:3*v.cols], rows[3*v.cols:4*v.cols]
	c := v.data
	var s0, s1, s2, s3 archsimd.Float64x8
	for len(a0) >= 8 && len(a1) >= 8 && len(a2) >= 8 && len(a3) >= 8 && len(c) >= 8 {
		y := eight(c, 0)
		s0 = archsimd.LoadFloat32x8(a0).ConvertToFloat64().MulAdd(y, s0)
		s1 = archsimd.LoadFloat32x8(a1).ConvertToFloat64().MulAdd(y, s1)
		s2 = archsimd.LoadFloat32x8(a2).ConvertToFloat64().MulAdd(y, s2)
		s3 = archsimd.LoadFloat32x8(a3).ConvertToFloat64().MulAdd(y, s3)
		a0, a1, a2, a3, c = a0[8:], a1[8:], a2[8:], a3[8:], c[8:]
	}
	if len(a0) > 0 {
		y := eight(c, 0)
		s0 = loadPartial(a0).ConvertToFloat64().MulAdd(y, s0)
		s1 = loadPartial(a1).ConvertToFloat64().MulAdd(y, s1)
		s2 = loadPartial(a2).ConvertToFloat64().MulAdd(y, s2)
		s3 = loadPartial(a3).ConvertToFloat64().MulAdd(y, s3)
	}
	sums8(s0, s1).Store(dst[:2])
	sums8(s2, s3).Store(dst[2:])
	archsimd.ClearAVXUpperBits()
}

// productsAVX2 makes two rows and two columns at a time, each sum in two
// registers.
func productsAVX2(dst *[tile * tile]float64, a, b []float64) {
	for i := 0; i < tile; i += 2 {
		for j := 0; j < tile; j += 2 {
			var lo00, lo01, lo10, lo11, hi00, hi01, hi10, hi11 archsimd.Float64x4
			a, b := a[i*lanes:], b[j*lanes:]
			for {
				x0, x1, y0, y1 := four(a, 0), four(a, 8), four(b, 0), four(b, 8)
				lo00, lo01, lo10, lo11 = x0.MulAdd(y0, lo00), x0.MulAdd(y1, lo01), x1.MulAdd(y0, lo10), x1.MulAdd(y1, lo11)
				x0, x1, y0, y1 = four(a, 4), four(a, 12), four(b, 4), four(b, 12)
				hi00, hi01, hi10, hi11 = x0.MulAdd(y0, hi00), x0.MulAdd(y1, hi01), x1.MulAdd(y0, hi10), x1.MulAdd(y1, hi11)
				if len(a) <= step || len(b) <= step {
					break
				}
				a, b = a[step:], b[step:]
			}
			sums4(lo00.Add(hi00), lo01.Add(hi01)).Store(dst[i*tile+j : i*tile+j+2])
			sums4(lo10.Add(hi10), lo11.Add(hi11)).Store(dst[(i+1)*tile+j : (i+1)*tile+j+2])
		}
	}
	archsimd.ClearAVXUpperBits()
}

func againstAVX2(dst *[tile]float64, rows []float32, v Vector) {
	for i := range tile {
		row, c := rows[i*v.cols:(i+1)*v.cols], v.data
		var lo, hi archsimd.Float64x4
		for len(row) >= 8 && len(c) >= 8 {
			x := archsimd.LoadFloat32x8(row)
			lo = x.GetLo().ConvertToFloat64().MulAdd(four(c, 0), lo)
			hi = x.GetHi().ConvertToFloat64().MulAdd(four(c, 4), hi)
			row, c = row[8:], c[8:]
		}
		if len(row) > 0 {
			x := loadPartial(row)
			lo = x.GetLo().ConvertToFloat64().MulAdd(four(c, 0), lo)
			hi = x.GetHi().ConvertToFloat64().MulAdd(four(c, 4), hi)
		}
		dst[i] = sum4(lo.Add(hi))
	}
	archsimd.ClearAVXUpperBits()
}

func oneAVX512(row []float32, v []float64) float64 {
	var s archsimd.Float64x8
	for len(row) >= 8 && len(v) >= 8 {
		s = archsimd.LoadFloat32x8(row).ConvertToFloat64().MulAdd(eight(v, 0), s)
		row, v = row[8:], v[8:]
	}
	if len(row) > 0 {
		var rest [8]float64
		copy(rest[:], v[:len(row)])
		s = loadPartial(row).ConvertToFloat64().MulAdd(eight(rest[:], 0), s)
	}
	sum := sum8(s)
	archsimd.ClearAVXUpperBits()
	return sum
}

func float64sAVX512(row, v []float64) float64 {
	var s archsimd.Float64x8
	for len(row) >= 8 && len(v) >= 8 {
		s = eight(row, 0).MulAdd(eight(v, 0), s)
		row, v = row[8:], v[8:]
	}
	if len(row) > 0 {
		x, y := rest(row, v)
		s = eight(x[:], 0).MulAdd(eight(y[:], 0), s)
	}
	sum := sum8(s)
	archsimd.ClearAVXUpperBits()
	return sum
}

// rest returns fewer than eight elements of a row, with as many of v, and zeros.
func rest(row, v []float64) (x, y [8]float64) {
	copy(y[:], v[:copy(x[:], row)])
	return x, y
}

func float64sAVX2(row, v []float64) float64 {
	var lo, hi archsimd.Float64x4
	for len(row) >= 8 && len(v) >= 8 {
		lo, hi = four(row, 0).MulAdd(four(v, 0), lo), four(row, 4).MulAdd(four(v, 4), hi)
		row, v = row[8:], v[8:]
	}
	if len(row) > 0 {
		x, y := rest(row, v)
		lo, hi = four(x[:], 0).MulAdd(four(y[:], 0), lo), four(x[:], 4).MulAdd(four(y[:], 4), hi)
	}
	sum := sum4(lo.Add(hi))
	archsimd.ClearAVXUpperBits()
	return sum
}

func oneAVX2(row []float32, v []float64) float64 {
	var lo, hi archsimd.Float64x4
	for len(row) >= 8 && len(v) >= 8 {
		x := archsimd.LoadFloat32x8(row)
		lo = x.GetLo().ConvertToFloat64().MulAdd(four(v, 0), lo)
		hi = x.GetHi().ConvertToFloat64().MulAdd(four(v, 4), hi)
		row, v = row[8:], v[8:]
	}
	if len(row) > 0 {
		var rest [8]float64
		copy(rest[:], v[:len(row)])
		x := loadPartial(row)
		lo = x.GetLo().ConvertToFloat64().MulAdd(four(rest[:], 0), lo)
		hi = x.GetHi().ConvertToFloat64().MulAdd(four(rest[:], 4), hi)
	}
	sum := sum4(lo.Add(hi))
	archsimd.ClearAVXUpperBits()
	return sum
}
