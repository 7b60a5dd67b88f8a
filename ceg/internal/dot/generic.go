package dot

import "math"

// product is the inner product of a and the first len(a) elements of b, in the
// order of summation that the package promises. Every kernel gives its bits.
func product[A, B Number](a []A, b []B) float64 {
	var s [lanes]float64
	b = b[:len(a)]
	j := 0
	for ; j+lanes <= len(a); j += lanes {
		for l := range s {
			s[l] = math.FMA(float64(a[j+l]), float64(b[j+l]), s[l])
		}
	}
	for l := 0; j < len(a); j, l = j+1, l+1 {
		s[l] = math.FMA(float64(a[j]), float64(b[j]), s[l])
	}
	return sum(&s)
}

func sum(s *[lanes]float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// productsGeneric sets dst[4*i+j] to the product of vector i of tile a and
// vector j of tile b, of equal length. The sums are variables, not an array, so
// that they stay in registers: a third faster.
func productsGeneric(dst *[tile * tile]float64, a, b []float64) {
	for i := range tile {
		for j := range tile {
			var s0, s1, s2, s3, s4, s5, s6, s7 float64
			for k := 0; k < len(a); k += step {
				x, y := (*[lanes]float64)(a[k+i*lanes:]), (*[lanes]float64)(b[k+j*lanes:])
				s0, s1 = math.FMA(x[0], y[0], s0), math.FMA(x[1], y[1], s1)
				s2, s3 = math.FMA(x[2], y[2], s2), math.FMA(x[3], y[3], s3)
				s4, s5 = math.FMA(x[4], y[4], s4), math.FMA(x[5], y[5], s5)
				s6, s7 = math.FMA(x[6], y[6], s6), math.FMA(x[7], y[7], s7)
			}
			dst[i*tile+j] = sum(&[lanes]float64{s0, s1, s2, s3, s4, s5, s6, s7})
		}
	}
}

// againstGeneric sets dst[i] to the product of row i of four rows and v.
func againstGeneric(dst *[tile]float64, rows []float32, v Vector) {
	for i := range tile {
		dst[i] = product(rows[i*v.cols:(i+1)*v.cols], v.data)
	}
}
