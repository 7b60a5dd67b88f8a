//go:build goexperiment.simd && amd64

package direct

import (
	"math"
	"simd/archsimd"
)

// These loops have vectors of eight with AVX-512, too: they are a small part of the time.

type eight = archsimd.Float32x8

func all8(v float32) eight { return archsimd.BroadcastFloat32x8(v) }

// number is eight times the same, in memory: broadcast one by one, the numbers of a formula take longer
// than the formula.
type number [8]float32

func numberOf(v float64) *number {
	n := new(number)
	for i := range n {
		n[i] = float32(v)
	}
	return n
}

func (n *number) v() eight { return archsimd.LoadFloat32x8Array((*[8]float32)(n)) }

var (
	zero, one  = numberOf(0), numberOf(1)
	expLeast   = numberOf(-87)
	expMost    = numberOf(88)
	log2E      = numberOf(math.Log2E)
	ln2High    = numberOf(-0.693359375) // of few bits, so that its products are exact
	ln2Low     = numberOf(0.693359375 - math.Ln2)
	factorials = [...]*number{numberOf(1. / 5040), numberOf(1. / 720), numberOf(1. / 120), numberOf(1. / 24), numberOf(1. / 6), numberOf(1. / 2)}
	erfLeast   = numberOf(-80)
	erfT       = numberOf(0.3275911)
	erfs       = [...]*number{numberOf(1.061405429), numberOf(-1.453152027), numberOf(1.421413741), numberOf(-0.284496736), numberOf(0.254829592)}
)

// exp8 is exp(x), of x limited to what float32 has: a power of two times the Taylor series of a
// number of up to ln(2)/2, whose error is below 1e-7.
func exp8(x eight) eight {
	x = x.Max(expLeast.v()).Min(expMost.v())
	n := x.Mul(log2E.v()).Round()
	r := n.MulAdd(ln2Low.v(), n.MulAdd(ln2High.v(), x))
	p := r.MulAdd(factorials[0].v(), factorials[1].v())
	p = p.MulAdd(r, factorials[2].v())
	p = p.MulAdd(r, factorials[3].v())
	p = p.MulAdd(r, factorials[4].v())
	p = p.MulAdd(r, factorials[5].v())
	p = p.MulAdd(r, one.v())
	p = p.MulAdd(r, one.v())
	power := n.ConvertToInt32().Add(archsimd.BroadcastInt32x8(127)).ShiftAllLeft(23)
	return p.Mul(power.AsFloat32x8())
}

// sigmoid8 is 1/(1+exp(-x)).
func sigmoid8(x eight) eight { return one.v().Div(exp8(zero.v().Sub(x)).Add(one.v())) }

// erf8 is the error function, by formula 7.1.26 of Abramowitz and Stegun 1964, whose error is
// 1.5e-7 at most.
func erf8(x eight) eight {
	a := x.Max(zero.v().Sub(x))
	t := one.v().Div(a.MulAdd(erfT.v(), one.v()))
	p := t.MulAdd(erfs[0].v(), erfs[1].v())
	p = p.MulAdd(t, erfs[2].v())
	p = p.MulAdd(t, erfs[3].v())
	p = p.MulAdd(t, erfs[4].v()).Mul(t)
	y := one.v().Sub(p.Mul(exp8(zero.v().Sub(a.Mul(a)).Max(erfLeast.v())))) // less would be denormal numbers
	return y.ToBits().Or(x.ToBits().And(archsimd.BroadcastUint32x8(1 << 31))).BitsToFloat32()
}

func (c *Activation) apply(v []float32) {
	if !hasAVX2 {
		c.applyGeneric(v)
		return
	}
	inner, offset, scale, shift, lo, hi, third := all8(c.Inner), all8(c.Offset), all8(c.Scale), all8(c.Shift), all8(c.Lo), all8(c.Hi), all8(c.Third)
	for i := 0; i < len(v); i += 8 {
		x := archsimd.LoadFloat32x8(v[i : i+8])
		u := x.MulAdd(inner, offset)
		switch c.F {
		case Sigmoid:
			u = sigmoid8(third.Mul(u).Mul(u).MulAdd(u, u)) // in this order, as u may be large and third 0
		case Erf:
			u = erf8(u)
		default:
			u = u.Max(lo).Min(hi)
		}
		if u = u.MulAdd(scale, shift); c.Times {
			u = u.Mul(x)
		}
		u.Store(v[i : i+8])
	}
	archsimd.ClearAVXUpperBits()
}

func sumRows(sums, block []float32) {
	if !hasAVX2 {
		sumRowsGeneric(sums, block)
		return
	}
	for r := range len(sums) / 8 {
		row, sum := block[r*cols:(r+1)*cols], sums[r*8:(r+1)*8]
		a := archsimd.LoadFloat32x8(row).Add(archsimd.LoadFloat32x8(row[8:]))
		b := archsimd.LoadFloat32x8(row[16:]).Add(archsimd.LoadFloat32x8(row[24:]))
		a.Add(b).Add(archsimd.LoadFloat32x8(sum)).Store(sum)
	}
	archsimd.ClearAVXUpperBits()
}

func normaliseRows(y, x, scale, bias []float32, eps float32) {
	if !hasAVX2 {
		normaliseRowsGeneric(y, x, scale, bias, eps)
		return
	}
	n, e := all8(float32(len(scale))), all8(eps)
	for j := 0; j < cols; j += 16 {
		var s0, s1, q0, q1 eight
		for r := range scale {
			row := x[r*cols+j : r*cols+j+16]
			s0, s1 = s0.Add(archsimd.LoadFloat32x8(row)), s1.Add(archsimd.LoadFloat32x8(row[8:]))
		}
		s0, s1 = s0.Div(n), s1.Div(n)
		for r := range scale {
			row := x[r*cols+j : r*cols+j+16]
			d0, d1 := archsimd.LoadFloat32x8(row).Sub(s0), archsimd.LoadFloat32x8(row[8:]).Sub(s1)
			q0, q1 = d0.MulAdd(d0, q0), d1.MulAdd(d1, q1)
		}
		q0, q1 = one.v().Div(q0.Div(n).Add(e).Sqrt()), one.v().Div(q1.Div(n).Add(e).Sqrt())
		for r, f := range scale {
			from, to, s, b := x[r*cols+j:r*cols+j+16], y[r*cols+j:r*cols+j+16], all8(f), all8(bias[r])
			archsimd.LoadFloat32x8(from).Sub(s0).Mul(q0).MulAdd(s, b).Store(to)
			archsimd.LoadFloat32x8(from[8:]).Sub(s1).Mul(q1).MulAdd(s, b).Store(to[8:])
		}
	}
	archsimd.ClearAVXUpperBits()
}

func lay(dst, src []float32, runs []run) {
	if !hasAVX2 {
		layGeneric(dst, src, runs)
		return
	}
	for _, r := range runs { // what is too much is written over by the next one
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

func times(y, x, z []float32) {
	if !hasAVX2 {
		timesGeneric(y, x, z)
		return
	}
	for i := 0; i < len(y); i += 8 {
		archsimd.LoadFloat32x8(x[i : i+8]).Mul(archsimd.LoadFloat32x8(z[i : i+8])).Store(y[i : i+8])
	}
	archsimd.ClearAVXUpperBits()
}

func softmaxRows(x []float32, inverse *[cols]float32) {
	if !hasAVX2 {
		softmaxRowsGeneric(x, inverse)
		return
	}
	for j := 0; j < cols; j += 16 {
		m0, m1 := archsimd.LoadFloat32x8(x[j:j+8]), archsimd.LoadFloat32x8(x[j+8:j+16])
		for i := j + cols; i < len(x); i += cols {
			m0, m1 = m0.Max(archsimd.LoadFloat32x8(x[i:i+8])), m1.Max(archsimd.LoadFloat32x8(x[i+8:i+16]))
		}
		var s0, s1 eight
		for i := j; i < len(x); i += cols {
			e0, e1 := exp8(archsimd.LoadFloat32x8(x[i:i+8]).Sub(m0)), exp8(archsimd.LoadFloat32x8(x[i+8:i+16]).Sub(m1))
			e0.Store(x[i : i+8])
			e1.Store(x[i+8 : i+16])
			s0, s1 = s0.Add(e0), s1.Add(e1)
		}
		one.v().Div(s0).Store(inverse[j : j+8])
		one.v().Div(s1).Store(inverse[j+8 : j+16])
	}
	archsimd.ClearAVXUpperBits()
}
