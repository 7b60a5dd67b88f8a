//go:build goexperiment.simd && amd64

package inference

import (
	"simd/archsimd"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

var (
	hasAVX512 = archsimd.X86.AVX512()
	hasAVX2   = archsimd.X86.AVX2() && archsimd.X86.FMA()
)

// Vectors reports whether the package's loops use vector instructions.
var Vectors = hasAVX512 || hasAVX2

func correlate(dst, src []float32, offsets []int, w []float32, bias, lo, hi float32) {
	switch {
	case hasAVX512:
		correlateAVX512(dst, src, offsets, w, bias, lo, hi)
	case hasAVX2:
		correlateAVX2(dst, src, offsets, w, bias, lo, hi)
	default:
		correlateGeneric(dst, src, offsets, w, bias, lo, hi)
	}
}

func finish(tile, bias []float32, lo, hi float32) {
	switch {
	case hasAVX512:
		finishAVX512(tile, nil, bias, lo, hi)
	case hasAVX2:
		finishAVX2(tile, nil, bias, lo, hi)
	default:
		finishGeneric(tile, bias, lo, hi)
	}
}

func finishPlus(tile, plus, bias []float32, lo, hi float32) {
	switch {
	case hasAVX512:
		finishAVX512(tile, plus, bias, lo, hi)
	case hasAVX2:
		finishAVX2(tile, plus, bias, lo, hi)
	default:
		finishPlusGeneric(tile, plus, bias, lo, hi)
	}
}

// correlateAVX512 computes four vectors of outputs at a time, so that a weight is
// broadcast once for all of them.
func correlateAVX512(dst, src []float32, offsets []int, w []float32, bias, lo, hi float32) {
	b, l, h := archsimd.BroadcastFloat32x16(bias), archsimd.BroadcastFloat32x16(lo), archsimd.BroadcastFloat32x16(hi)
	w = w[:len(offsets)]
	i := 0
	for ; i+64 <= len(dst); i += 64 {
		s0, s1, s2, s3 := b, b, b, b
		for t, o := range offsets {
			v := archsimd.BroadcastFloat32x16(w[t])
			x := src[i+o : i+o+64]
			s0 = archsimd.LoadFloat32x16(x).MulAdd(v, s0)
			s1 = archsimd.LoadFloat32x16(x[16:]).MulAdd(v, s1)
			s2 = archsimd.LoadFloat32x16(x[32:]).MulAdd(v, s2)
			s3 = archsimd.LoadFloat32x16(x[48:]).MulAdd(v, s3)
		}
		y := dst[i : i+64]
		s0.Max(l).Min(h).Store(y)
		s1.Max(l).Min(h).Store(y[16:])
		s2.Max(l).Min(h).Store(y[32:])
		s3.Max(l).Min(h).Store(y[48:])
	}
	for ; i+16 <= len(dst); i += 16 {
		s := b
		for t, o := range offsets {
			s = archsimd.LoadFloat32x16(src[i+o:i+o+16]).MulAdd(archsimd.BroadcastFloat32x16(w[t]), s)
		}
		s.Max(l).Min(h).Store(dst[i : i+16])
	}
	archsimd.ClearAVXUpperBits()
}

func correlateAVX2(dst, src []float32, offsets []int, w []float32, bias, lo, hi float32) {
	b, l, h := archsimd.BroadcastFloat32x8(bias), archsimd.BroadcastFloat32x8(lo), archsimd.BroadcastFloat32x8(hi)
	w = w[:len(offsets)]
	i := 0
	for ; i+32 <= len(dst); i += 32 {
		s0, s1, s2, s3 := b, b, b, b
		for t, o := range offsets {
			v := archsimd.BroadcastFloat32x8(w[t])
			x := src[i+o : i+o+32]
			s0 = archsimd.LoadFloat32x8(x).MulAdd(v, s0)
			s1 = archsimd.LoadFloat32x8(x[8:]).MulAdd(v, s1)
			s2 = archsimd.LoadFloat32x8(x[16:]).MulAdd(v, s2)
			s3 = archsimd.LoadFloat32x8(x[24:]).MulAdd(v, s3)
		}
		y := dst[i : i+32]
		s0.Max(l).Min(h).Store(y)
		s1.Max(l).Min(h).Store(y[8:])
		s2.Max(l).Min(h).Store(y[16:])
		s3.Max(l).Min(h).Store(y[24:])
	}
	for ; i+8 <= len(dst); i += 8 {
		s := b
		for t, o := range offsets {
			s = archsimd.LoadFloat32x8(src[i+o:i+o+8]).MulAdd(archsimd.BroadcastFloat32x8(w[t]), s)
		}
		s.Max(l).Min(h).Store(dst[i : i+8])
	}
	archsimd.ClearAVXUpperBits()
}

// finishAVX512 adds a bias to every row of a tile, and another tile unless that is nil,
// and limits it.
func finishAVX512(tile, plus, bias []float32, lo, hi float32) {
	l, h := archsimd.BroadcastFloat32x16(lo), archsimd.BroadcastFloat32x16(hi)
	for r, v := range bias {
		b := archsimd.BroadcastFloat32x16(v)
		row := tile[r*dot.TileCols : (r+1)*dot.TileCols]
		x, y := archsimd.LoadFloat32x16(row).Add(b), archsimd.LoadFloat32x16(row[16:]).Add(b)
		if plus != nil {
			p := plus[r*dot.TileCols : (r+1)*dot.TileCols]
			x, y = x.Add(archsimd.LoadFloat32x16(p)), y.Add(archsimd.LoadFloat32x16(p[16:]))
		}
		x.Max(l).Min(h).Store(row)
		y.Max(l).Min(h).Store(row[16:])
	}
	archsimd.ClearAVXUpperBits()
}

func finishAVX2(tile, plus, bias []float32, lo, hi float32) {
	l, h := archsimd.BroadcastFloat32x8(lo), archsimd.BroadcastFloat32x8(hi)
	for r, v := range bias {
		b := archsimd.BroadcastFloat32x8(v)
		for i := r * dot.TileCols; i < (r+1)*dot.TileCols; i += 8 {
			x := archsimd.LoadFloat32x8(tile[i : i+8]).Add(b)
			if plus != nil {
				x = x.Add(archsimd.LoadFloat32x8(plus[i : i+8]))
			}
			x.Max(l).Min(h).Store(tile[i : i+8])
		}
	}
	archsimd.ClearAVXUpperBits()
}
