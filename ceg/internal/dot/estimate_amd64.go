package dot

import "golang.org/x/sys/cpu"

//go:noescape
func estimateAVX512(dst *float32, stride int, a, b *float32, k int)

//go:noescape
func estimateAVX2(dst *float32, stride int, a, b *float32, k int)

var (
	wide   = cpu.X86.HasAVX512F
	narrow = cpu.X86.HasAVX2 && cpu.X86.HasFMA
)

// estimate sets a tile of dst, whose rows are stride apart, to the inner products
// of the vectors of a strip and of a panel of k elements each, k at least 1.
func estimate(dst []float32, stride int, a, b []float32, k int) {
	switch {
	case wide:
		estimateAVX512(&dst[0], stride, &a[0], &b[0], k)
	case narrow:
		estimateQuarters(dst, stride, a, b, k)
	default:
		estimateGeneric(dst, stride, a, b, k)
	}
}

// estimateQuarters is estimate by estimateAVX2.
func estimateQuarters(dst []float32, stride int, a, b []float32, k int) {
	for i := 0; i < stripRows; i += 4 {
		for j := 0; j < panelCols; j += 16 {
			estimateAVX2(&dst[i*stride+j], stride, &a[i], &b[j], k)
		}
	}
}
