package imported

import (
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/direct"
)

// powers are a polynomial of maps without a constant: the factors of x, x^2 and x^3. Old files and
// Hugging Face's have those of GELU by tanh.
type powers [3]float32

// monomials returns the polynomial that a term is of its maps; ok is false for others.
func (t *term) monomials() (p powers, ok bool) {
	switch {
	case t == nil || t.scores != nil || t.norm != nil:
		return p, false
	case t.powers != nil:
		return *t.powers, true
	}
	return powers{t.curve.Scale}, t.straight && t.curve.Shift == 0
}

// polynomial adds a node that makes a polynomial, or the tanh of one; ok is false for others.
func (l *layered) polynomial(n *node) (t *term, ok bool) {
	x := l.terms[n.in[0]]
	of := func(p powers) (*term, bool) {
		y := x.with(x.of)
		y.powers, y.straight = &p, false
		return y, true
	}
	if n.op == "Tanh" {
		return l.tanh(x)
	}
	if len(n.in) != 2 {
		return nil, false
	}
	y, c := l.terms[n.in[1]], l.constants[n.in[1]]
	if x == nil && (n.op == "Add" || n.op == "Mul") {
		x, y, c = y, nil, l.constants[n.in[0]]
	}
	p, ok := x.monomials()
	if n.op == "Pow" && !ok && x != nil && x.scores == nil && x.norm == nil {
		x = x.with(l.maps(x)) // powers of a curve
		p, ok = x.monomials()
	}
	if !ok {
		return nil, false
	}
	if q, both := y.monomials(); both && alike(x, y) && x.of == y.of {
		switch more := x.powers != nil || y.powers != nil; {
		case n.op == "Mul" && (more || x == y): // the product of two views is a layer of its own
			r, fit := p.times(q)
			if !fit {
				return nil, false
			}
			return of(r)
		case n.op == "Add" && more:
			return of(powers{p[0] + q[0], p[1] + q[1], p[2] + q[2]})
		}
		return nil, false
	}
	if y != nil || c.v == nil || c.len() != 1 || len(c.dims) > len(x.axes) {
		return nil, false
	}
	v := c.v[0]
	switch {
	case n.op == "Pow" && (v == 2 || v == 3) && x.powers == nil:
		r, _ := p.times(p)
		if v == 3 {
			r, _ = r.times(p)
		}
		return of(r)
	case n.op == "Div" && x.powers != nil:
		v = 1 / v
	case n.op != "Mul" || x.powers == nil:
		return nil, false
	}
	return of(powers{v * p[0], v * p[1], v * p[2]})
}

// times is the product of two polynomials; fit is false where it has other powers.
func (p powers) times(q powers) (r powers, fit bool) {
	fit = true
	for i, a := range p {
		for j, b := range q {
			switch v := a * b; {
			case v == 0:
			case i+j+1 < len(r):
				r[i+j+1] += v
			default:
				fit = false
			}
		}
	}
	return r, fit
}

// tanh is 2*sigmoid(2u) - 1 of a multiple of maps plus a number, or of one plus another of their cube.
func (l *layered) tanh(x *term) (t *term, ok bool) {
	if x == nil || x.scores != nil || x.norm != nil {
		return nil, false
	}
	var third float32
	if p := x.powers; p != nil && p[0] != 0 && p[1] == 0 {
		k := 2 * p[0]
		x, third = x.with(x.of), 2*p[2]/(k*k*k)
		x.curve.Scale = p[0]
	}
	y := l.bent(x, direct.Activation{F: direct.Sigmoid, Third: third})
	c := &y.curve
	c.Inner, c.Offset, c.Scale, c.Shift = 2*c.Inner, 2*c.Offset, 2, -1
	return y, true
}

// expand computes a polynomial.
func (l *layered) expand(x nets.Maps, p powers) (sum nets.Maps) {
	power := x
	for i, v := range p {
		if i > 0 && (v != 0 || i+1 < len(p) && p[i+1] != 0) {
			power = l.to.Mul(power, x)
		}
		if v == 0 {
			continue
		}
		part := l.maps(&term{of: power, straight: true, curve: direct.Activation{Scale: v}})
		if sum == nil {
			sum = part
		} else {
			sum = l.to.Add(sum, part)
		}
	}
	fits(sum != nil)
	return sum
}
