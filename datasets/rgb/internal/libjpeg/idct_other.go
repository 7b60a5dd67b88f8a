//go:build !goexperiment.simd || !amd64

package libjpeg

func idct(b *[64]int32, dst []uint8, stride int) { idctGeneric(b, dst, stride) }
