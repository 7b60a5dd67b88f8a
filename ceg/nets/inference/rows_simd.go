//go:build goexperiment.simd && amd64

package inference

import "simd/archsimd"

// These loops have vectors of eight with AVX-512, too: they are a small part of the time.

type eight = archsimd.Float32x8

func all8(v float32) eight { return archsimd.BroadcastFloat32x8(v) }

func lay(dst, src []float32, runs []run) {
	if !hasAVX2 {
		layGeneric(dst, src, runs)
		return
	}
	for _, r := range runs { // the next run overwrites the excess
		for j := 0; j < r.n; j += 8 {
			archsimd.LoadFloat32x8(src[r.from+j : r.from+j+8]).Store(dst[r.at+j : r.at+j+8])
		}
	}
	archsimd.ClearAVXUpperBits()
}

func scaleRows(y, x, scale, bias []float32) {
	if !hasAVX2 {
		scaleRowsGeneric(y, x, scale, bias)
		return
	}
	for r, v := range scale {
		s, b, from, to := all8(v), all8(bias[r]), x[r*cols:(r+1)*cols], y[r*cols:(r+1)*cols]
		for i := 0; i < cols; i += 8 {
			archsimd.LoadFloat32x8(from[i:i+8]).MulAdd(s, b).Store(to[i : i+8])
		}
	}
	archsimd.ClearAVXUpperBits()
}

func limit(y []float32, lo, hi float32) {
	if !hasAVX2 {
		limitGeneric(y, lo, hi)
		return
	}
	l, h := all8(lo), all8(hi)
	for i := 0; i < len(y); i += 8 {
		archsimd.LoadFloat32x8(y[i : i+8]).Max(l).Min(h).Store(y[i : i+8])
	}
	archsimd.ClearAVXUpperBits()
}

func addLimited(y, x []float32, lo, hi float32) {
	if !hasAVX2 {
		addLimitedGeneric(y, x, lo, hi)
		return
	}
	l, h := all8(lo), all8(hi)
	for i := 0; i < len(y); i += 8 {
		archsimd.LoadFloat32x8(y[i : i+8]).Add(archsimd.LoadFloat32x8(x[i : i+8])).Max(l).Min(h).Store(y[i : i+8])
	}
	archsimd.ClearAVXUpperBits()
}
