//go:build goexperiment.simd

package inference

import (
	"simd/archsimd"
	"unsafe"

	"github.com/ledg-go/ledg/ceg/internal/dot"
)

// Vectors reports whether the package's loops use vector instructions.
const Vectors = true

// correlate computes eight vectors of outputs at a time, so that a weight is broadcast once
// for all of them.
func correlate(dst, src []float32, offsets []int, w []float32, bias, lo, hi float32) {
	for _, o := range offsets { // once for all that is read through pointers below
		_ = src[o : o+len(dst)]
	}
	b, l, h := archsimd.BroadcastFloat32x4(bias), archsimd.BroadcastFloat32x4(lo), archsimd.BroadcastFloat32x4(hi)
	limit := func(s archsimd.Float32x4) archsimd.Float32x4 { return s.Max(l).Min(h) }
	w = w[:len(offsets)]
	i := 0
	for ; i+32 <= len(dst); i += 32 {
		s0, s1, s2, s3, s4, s5, s6, s7 := b, b, b, b, b, b, b, b
		x := unsafe.Pointer(unsafe.SliceData(src[i:]))
		for t, o := range offsets {
			v := archsimd.BroadcastFloat32x4(w[t])
			x := (*[32]float32)(unsafe.Add(x, 4*o))
			s0 = archsimd.LoadFloat32x4(x[:]).MulAdd(v, s0)
			s1 = archsimd.LoadFloat32x4(x[4:]).MulAdd(v, s1)
			s2 = archsimd.LoadFloat32x4(x[8:]).MulAdd(v, s2)
			s3 = archsimd.LoadFloat32x4(x[12:]).MulAdd(v, s3)
			s4 = archsimd.LoadFloat32x4(x[16:]).MulAdd(v, s4)
			s5 = archsimd.LoadFloat32x4(x[20:]).MulAdd(v, s5)
			s6 = archsimd.LoadFloat32x4(x[24:]).MulAdd(v, s6)
			s7 = archsimd.LoadFloat32x4(x[28:]).MulAdd(v, s7)
		}
		y := dst[i : i+32]
		limit(s0).Store(y)
		limit(s1).Store(y[4:])
		limit(s2).Store(y[8:])
		limit(s3).Store(y[12:])
		limit(s4).Store(y[16:])
		limit(s5).Store(y[20:])
		limit(s6).Store(y[24:])
		limit(s7).Store(y[28:])
	}
	for ; i+4 <= len(dst); i += 4 {
		s := b
		x := unsafe.Pointer(unsafe.SliceData(src[i:]))
		for t, o := range offsets {
			s = archsimd.LoadFloat32x4Array((*[4]float32)(unsafe.Add(x, 4*o))).MulAdd(archsimd.BroadcastFloat32x4(w[t]), s)
		}
		limit(s).Store(dst[i:])
	}
}

func finish(tile, bias []float32, lo, hi float32) { finishPlus(tile, nil, bias, lo, hi) }

// finishPlus adds a bias to every row of a tile, and another tile unless that is nil,
// and limits it.
func finishPlus(tile, plus, bias []float32, lo, hi float32) {
	l, h := archsimd.BroadcastFloat32x4(lo), archsimd.BroadcastFloat32x4(hi)
	for _, v := range bias {
		b := archsimd.BroadcastFloat32x4(v)
		row := (*[dot.TileCols]float32)(tile)
		for i := 0; i+4 <= len(row); i += 4 {
			x := archsimd.LoadFloat32x4(row[i : i+4]).Add(b)
			if plus != nil {
				x = x.Add(archsimd.LoadFloat32x4(plus[i : i+4]))
			}
			x.Max(l).Min(h).Store(row[i : i+4])
		}
		tile = tile[dot.TileCols:]
		if plus != nil {
			plus = plus[dot.TileCols:]
		}
	}
}
