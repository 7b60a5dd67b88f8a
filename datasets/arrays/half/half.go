// Package half converts IEEE 754 binary16 (float16) numbers to and from float32; Go has no such
// type.
package half

import "math"

// Float32 converts the bits of a binary16 number, exactly.
func Float32(bits uint16) float32 {
	sign := uint32(bits>>15) << 31
	exp := uint32(bits>>10) & 0x1f
	frac := uint32(bits) & 0x3ff
	switch exp {
	case 0: // zero or subnormal: frac * 2^-24
		v := float32(frac) * 0x1p-24
		return math.Float32frombits(math.Float32bits(v) | sign)
	case 0x1f: // infinity or NaN, with its payload
		return math.Float32frombits(sign | 0x7f800000 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// Bits rounds v to binary16, half to even; values beyond 65504 become infinity. NaN stays NaN.
func Bits(v float32) uint16 {
	b := math.Float32bits(v)
	sign, abs := uint16(b>>16)&0x8000, math.Float32frombits(b&0x7fffffff)
	switch {
	case v != v:
		return sign | 0x7e00
	case abs >= 65520: // half way to the next power of two
		return sign | 0x7c00
	case abs < 0x1p-14: // subnormal: a whole number of 2^-24
		return sign | uint16(math.RoundToEven(float64(abs)*0x1p24))
	}
	// 13 bits of the fraction go; a carry into the exponent is right.
	m := b & 0x7fffffff
	m += 0xfff + m>>13&1
	return sign | uint16(m>>13-112<<10)
}
