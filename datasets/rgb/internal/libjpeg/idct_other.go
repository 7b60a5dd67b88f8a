//go:build !goexperiment.simd || !amd64

package libjpeg

func (c *component) vectors(b *[64]int16, dst []uint8) bool { return false }
