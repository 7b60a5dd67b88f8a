//go:build !amd64 && !(arm64 && goexperiment.simd)

package dot

func estimate(dst []float32, stride int, a, b []float32, k int) {
	estimateGeneric(dst, stride, a, b, k)
}
