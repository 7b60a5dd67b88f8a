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

func normalise(dst, src view, rows int, scale, bias []float32, lo, hi float32) {
	if !hasAVX512 {
		normaliseGeneric(dst, src, rows, scale, bias, lo, hi)
		return
	}
	l, h := archsimd.BroadcastFloat32x16(lo), archsimd.BroadcastFloat32x16(hi)
	for c := 0; c < len(scale); c += 16 {
		s, b := load(scale, c), load(bias, c)
		for r := range rows {
			load(src.v, r*src.stride+c).MulAdd(s, b).Max(l).Min(h).Store(dst.v[r*dst.stride+c : r*dst.stride+c+16])
		}
	}
	archsimd.ClearAVXUpperBits()
}

func combine(dst, y, x view, rows int, a, b, c []float32) {
	if !hasAVX512 {
		combineGeneric(dst, y, x, rows, a, b, c)
		return
	}
	for i := 0; i < len(a); i += 16 {
		a, b, c := load(a, i), load(b, i), load(c, i)
		for r := range rows {
			d := load(y.v, r*y.stride+i).MulAdd(a, load(x.v, r*x.stride+i).MulAdd(b, c))
			d.Store(dst.v[r*dst.stride+i : r*dst.stride+i+16])
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

// weigh computes four pixels at a time, so that a weight is loaded once for all of them.
func weigh(dst []float32, step int, src []float32, move int, t taps, w []float32, n, channels int) {
	if !hasAVX512 {
		weighGeneric(dst, step, src, move, t, w, n, channels)
		return
	}
	check(src, move, t, w, n, channels)
	weights := t.weight[:len(t.at)]
	for c := 0; c < channels; c += 16 {
		x, v := unsafe.Pointer(&src[c]), unsafe.Pointer(&w[c])
		j := 0
		for ; j+4 <= n; j += 4 {
			var s0, s1, s2, s3 archsimd.Float32x16
			x := unsafe.Add(x, 4*j*move)
			for i, o := range t.at {
				f := at(v, weights[i])
				s0 = at(x, o).MulAdd(f, s0)
				s1 = at(x, o+move).MulAdd(f, s1)
				s2 = at(x, o+2*move).MulAdd(f, s2)
				s3 = at(x, o+3*move).MulAdd(f, s3)
			}
			s0.Store(dst[j*step+c : j*step+c+16])
			s1.Store(dst[(j+1)*step+c : (j+1)*step+c+16])
			s2.Store(dst[(j+2)*step+c : (j+2)*step+c+16])
			s3.Store(dst[(j+3)*step+c : (j+3)*step+c+16])
		}
		for ; j < n; j++ {
			var s archsimd.Float32x16
			for i, o := range t.at {
				s = at(x, o+j*move).MulAdd(at(v, weights[i]), s)
			}
			s.Store(dst[j*step+c : j*step+c+16])
		}
	}
	archsimd.ClearAVXUpperBits()
}

// unweigh computes the gradients of four weights at a time.
func unweigh(dst []float32, step int, src []float32, move int, t taps, w []float32, n, channels int) {
	if !hasAVX512 {
		unweighGeneric(dst, step, src, move, t, w, n, channels)
		return
	}
	check(src, move, t, w, n, channels)
	_ = dst[(n-1)*step+channels-1]
	for c := 0; c < channels; c += 16 {
		y := unsafe.Pointer(&dst[c])
		i := 0
		for ; i+4 <= len(t.at); i += 4 {
			var s0, s1, s2, s3 archsimd.Float32x16
			x0, x1 := unsafe.Pointer(&src[t.at[i]+c]), unsafe.Pointer(&src[t.at[i+1]+c])
			x2, x3 := unsafe.Pointer(&src[t.at[i+2]+c]), unsafe.Pointer(&src[t.at[i+3]+c])
			for j := range n {
				d, o := at(y, j*step), j*move
				s0, s1, s2, s3 = at(x0, o).MulAdd(d, s0), at(x1, o).MulAdd(d, s1), at(x2, o).MulAdd(d, s2), at(x3, o).MulAdd(d, s3)
			}
			for k, s := range [4]archsimd.Float32x16{s0, s1, s2, s3} {
				g := w[t.weight[i+k]+c : t.weight[i+k]+c+16]
				archsimd.LoadFloat32x16(g).Add(s).Store(g)
			}
		}
		for ; i < len(t.at); i++ {
			var s archsimd.Float32x16
			x := unsafe.Pointer(&src[t.at[i]+c])
			for j := range n {
				s = at(x, j*move).MulAdd(at(y, j*step), s)
			}
			g := w[t.weight[i]+c : t.weight[i]+c+16]
			archsimd.LoadFloat32x16(g).Add(s).Store(g)
		}
	}
	archsimd.ClearAVXUpperBits()
}

// check panics if a tap or a weight is out of range.
func check(src []float32, move int, t taps, w []float32, n, channels int) {
	for i, o := range t.at {
		_, _ = src[o], src[o+(n-1)*move+channels-1]
		_, _ = w[t.weight[i]], w[t.weight[i]+channels-1]
	}
}
