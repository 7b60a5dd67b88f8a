package dot

// Strides are in bytes, and add is 0 or 1.
//
//go:noescape
func strided32AVX512(dst *float32, sd int, a *float32, si, sk int, b *float32, sb, k, add int)

//go:noescape
func strided16AVX512(dst *float32, sd int, a *float32, si, sk int, b *float32, sb, k, add int)

func strided(dst []float32, sd int, a []float32, si, sk int, b []float32, sb, cols, k int, add bool) {
	if !wide || cols != 16 && cols != 32 {
		stridedGeneric(dst, sd, a, si, sk, b, sb, cols, k, add)
		return
	}
	plus := 0
	if add {
		plus = 1
	}
	if cols == 32 {
		strided32AVX512(&dst[0], 4*sd, &a[0], 4*si, 4*sk, &b[0], 4*sb, k, plus)
	} else {
		strided16AVX512(&dst[0], 4*sd, &a[0], 4*si, 4*sk, &b[0], 4*sb, k, plus)
	}
}
