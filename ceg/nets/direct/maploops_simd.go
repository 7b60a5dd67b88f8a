//go:build goexperiment.simd && amd64

package direct

import (
	"simd/archsimd"
	"unsafe"
)

// trains reports whether the loops of training are vectors here.
var trains = hasAVX512

func load(v []float32, at int) archsimd.Float32x16 { return archsimd.LoadFloat32x16(v[at : at+16]) }

// at loads from i values after p, where somebody has looked that there are any.
func at(p unsafe.Pointer, i int) archsimd.Float32x16 {
	return archsimd.LoadFloat32x16Array((*[16]float32)(unsafe.Add(p, 4*i)))
}

// put stores where at loads from.
func put(p unsafe.Pointer, i int, v archsimd.Float32x16) {
	v.StoreArray((*[16]float32)(unsafe.Add(p, 4*i)))
}

// reach panics unless v has all values of an area with the given number of channels.
func reach(v view, rows, cols, width, channels int) {
	_ = v.v[((rows-1)*width+cols-1)*v.stride+channels-1]
}

func normalise(dst, src view, a area, scale, bias []float32, lo, hi float32) {
	if !hasAVX512 {
		normaliseGeneric(dst, src, a, scale, bias, lo, hi)
		return
	}
	reach(dst, a.rows, a.cols, a.width, len(scale))
	reach(src, a.rows, a.cols, a.cols, len(scale))
	l, h := archsimd.BroadcastFloat32x16(lo), archsimd.BroadcastFloat32x16(hi)
	to, from := dst.stride, src.stride
	for c := 0; c < len(scale); c += 32 {
		y, x := unsafe.Pointer(&dst.v[c]), unsafe.Pointer(&src.v[c])
		s, b := load(scale, c), load(bias, c)
		if c+16 == len(scale) {
			for r := range a.rows {
				d, o := r*a.width*to, r*a.cols*from
				for range a.cols {
					put(y, d, at(x, o).MulAdd(s, b).Max(l).Min(h))
					d, o = d+to, o+from
				}
			}
			break
		}
		s1, b1 := load(scale, c+16), load(bias, c+16)
		for r := range a.rows {
			d, o := r*a.width*to, r*a.cols*from
			for range a.cols {
				v, w := at(x, o).MulAdd(s, b).Max(l).Min(h), at(x, o+16).MulAdd(s1, b1).Max(l).Min(h)
				put(y, d, v)
				put(y, d+16, w)
				d, o = d+to, o+from
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

func combine(dst, y, x view, of area, a, b, c []float32) {
	if !hasAVX512 {
		combineGeneric(dst, y, x, of, a, b, c)
		return
	}
	reach(dst, of.rows, of.cols, of.width, len(a))
	reach(y, of.rows, of.cols, of.cols, len(a))
	reach(x, of.rows, of.cols, of.cols, len(a))
	for i := 0; i < len(a); i += 16 {
		a, b, c := load(a, i), load(b, i), load(c, i)
		d, y0, x0 := unsafe.Pointer(&dst.v[i]), unsafe.Pointer(&y.v[i]), unsafe.Pointer(&x.v[i])
		for r := range of.rows {
			o, p, q := r*of.width*dst.stride, r*of.cols*y.stride, r*of.cols*x.stride
			for range of.cols {
				put(d, o, at(y0, p).MulAdd(a, at(x0, q).MulAdd(b, c)))
				o, p, q = o+dst.stride, p+y.stride, q+x.stride
			}
		}
	}
	archsimd.ClearAVXUpperBits()
}

func shifted(sum, square []float32, x view, rows int, shift []float32) {
	if !hasAVX512 {
		shiftedGeneric(sum, square, x, rows, shift)
		return
	}
	for c := 0; c < len(shift); c += 16 {
		v := load(shift, c)
		var s, q archsimd.Float32x16
		for r := range rows {
			d := load(x.v, r*x.stride+c).Sub(v)
			s, q = s.Add(d), d.MulAdd(d, q)
		}
		s.Store(sum[c : c+16])
		q.Store(square[c : c+16])
	}
	archsimd.ClearAVXUpperBits()
}

func gate(dy, x view, rows int, n *normed, from int, lo, hi float32, sum, product []float32) {
	if !hasAVX512 {
		gateGeneric(dy, x, rows, n, from, lo, hi, sum, product)
		return
	}
	var zero archsimd.Float32x16
	l, h := archsimd.BroadcastFloat32x16(lo), archsimd.BroadcastFloat32x16(hi)
	for c := 0; c < len(sum); c += 16 {
		scale, bias, inv, off := load(n.scale, from+c), load(n.bias, from+c), load(n.inv, from+c), load(n.off, from+c)
		var s, p archsimd.Float32x16
		for r := range rows {
			v := load(x.v, r*x.stride+c)
			u := v.MulAdd(scale, bias)
			d := load(dy.v, r*dy.stride+c).Masked(u.Sub(l).Mul(h.Sub(u)).Greater(zero)) // u is between them
			d.Store(dy.v[r*dy.stride+c : r*dy.stride+c+16])
			s, p = s.Add(d), d.MulAdd(v.MulAdd(inv, off), p)
		}
		s.Store(sum[c : c+16])
		p.Store(product[c : c+16])
	}
	archsimd.ClearAVXUpperBits()
}

func add(dst []float32, a float32, x []float32) {
	if !hasAVX512 {
		addGeneric(dst, a, x)
		return
	}
	f := archsimd.BroadcastFloat32x16(a)
	for i := 0; i < len(x); i += 16 {
		load(x, i).MulAdd(f, load(dst, i)).Store(dst[i : i+16])
	}
	archsimd.ClearAVXUpperBits()
}

func addWide(dst []float64, a float64, x []float32) {
	if !hasAVX512 {
		addWideGeneric(dst, a, x)
		return
	}
	f := archsimd.BroadcastFloat64x8(a)
	for i := 0; i < len(x); i += 8 {
		d := dst[i : i+8]
		archsimd.LoadFloat32x8(x[i:i+8]).ConvertToFloat64().MulAdd(f, archsimd.LoadFloat64x8(d)).Store(d)
	}
	archsimd.ClearAVXUpperBits()
}

func inner(x, y []float32) float64 {
	if !hasAVX512 {
		return innerGeneric(x, y)
	}
	var s, t archsimd.Float64x8
	for i := 0; i < len(x); i += 16 {
		x, y := x[i:i+16], y[i:i+16]
		s = archsimd.LoadFloat32x8(x).ConvertToFloat64().MulAdd(archsimd.LoadFloat32x8(y).ConvertToFloat64(), s)
		t = archsimd.LoadFloat32x8(x[8:]).ConvertToFloat64().MulAdd(archsimd.LoadFloat32x8(y[8:]).ConvertToFloat64(), t)
	}
	var all [8]float64
	s.Add(t).Store(all[:])
	archsimd.ClearAVXUpperBits()
	return ((all[0] + all[4]) + (all[2] + all[6])) + ((all[1] + all[5]) + (all[3] + all[7]))
}
