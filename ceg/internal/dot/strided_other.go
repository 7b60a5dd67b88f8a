//go:build !amd64

package dot

func strided(dst []float32, sd int, a []float32, si, sk int, b []float32, sb, cols, k int, add bool) {
	stridedGeneric(dst, sd, a, si, sk, b, sb, cols, k, add)
}
