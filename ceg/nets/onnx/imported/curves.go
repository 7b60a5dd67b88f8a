package imported

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/direct"
)

// maps computes a term.
func (l *layered) maps(t *term) nets.Maps {
	if t.bare() {
		return t.of
	}
	c := t.curve
	if p := t.powers; p != nil {
		t.of, t.powers = l.expand(t.of, *p), nil
		t.straight, t.curve = true, direct.Activation{Scale: 1}
		return t.of
	}
	switch limit := (direct.Activation{F: direct.Clamp, Lo: c.Lo, Hi: c.Hi, Inner: 1, Scale: 1}); {
	case t.straight:
		n, _, _ := t.of.Dims()
		t.of = l.to.Affine(t.of, slices.Repeat([]float32{c.Scale}, n), slices.Repeat([]float32{c.Shift}, n))
	case c == limit:
		t.of = l.to.Clip(t.of, c.Lo, c.Hi)
	default:
		t.of = l.to.Activate(t.of, c)
	}
	t.straight, t.curve = true, direct.Activation{Scale: 1}
	return t.of
}

// arithmetic returns the term and the constant of a node that combines them.
func (l *layered) arithmetic(n *node) (x *term, c constant, ok bool) {
	if len(n.in) != 2 || !slices.Contains([]string{"Add", "Sub", "Mul", "Div"}, n.op) {
		return nil, c, false
	}
	if c, ok = l.constants[n.in[1]]; ok && l.terms[n.in[0]] != nil {
		return l.terms[n.in[0]], c, true
	}
	c, ok = l.constants[n.in[0]]
	fits(!ok || n.op == "Add" || n.op == "Mul")
	x = l.terms[n.in[1]]
	return x, c, ok && x != nil
}

// withConstant is a term plus, minus, times or divided by numbers: one, or one for each channel, or
// added to each place.
func (l *layered) withConstant(op string, x *term, c constant) *term {
	scale, shift := func(v float32) float32 { return v }, func(float32) float32 { return 0 }
	switch op {
	case "Add":
		scale, shift = func(float32) float32 { return 1 }, func(v float32) float32 { return v }
	case "Sub":
		scale, shift = func(float32) float32 { return 1 }, func(v float32) float32 { return -v }
	case "Div":
		scale = func(v float32) float32 { return 1 / v }
	}
	fits(c.v != nil && len(c.dims) <= len(l.dims(x)))
	if x.powers != nil {
		x = x.with(l.maps(x))
	}
	if len(c.v) == 1 {
		y := *x
		if x.scores != nil {
			fits(!x.scores.weights && shift(c.v[0]) == 0 && x.scores.bias.v == nil)
			s := *x.scores
			s.scale *= scale(c.v[0])
			y.scores = &s
			return &y
		}
		if y.curve.Times && shift(c.v[0]) != 0 {
			y = *x.with(l.maps(x))
		}
		y.curve.Scale *= scale(c.v[0])
		y.curve.Shift = y.curve.Shift*scale(c.v[0]) + shift(c.v[0])
		return &y
	}
	if x.scores != nil {
		fits(op == "Add" && !x.scores.weights && slices.Equal(repeated(l.dims(x), c.dims), l.dims(x)))
		s := *x.scores
		if s.bias.v == nil {
			s.bias = c
		} else {
			s.bias = combine(func(v []float64) float64 { return v[0] + v[1] }, false, s.bias, c)
		}
		y := *x
		y.scores = &s
		return &y
	}
	m := l.maps(x)
	dims := x.dims()
	n, h, w := m.Dims()
	everyPlace, first := true, len(dims)-len(c.dims)
	for i, d := range c.dims {
		fits(d == 1 || d == dims[first+i])
		everyPlace = everyPlace && (d == 1 || x.axes[first+i].of(true))
	}
	if everyPlace {
		a, b := slices.Repeat([]float32{1}, n), make([]float32, n)
		i := 0
		everywhere(x.axes, x.channel, 0, func(channel, _ int) {
			v := c.v[index(i, dims, c.dims)]
			a[channel], b[channel] = scale(v), shift(v)
			i++
		})
		return x.with(l.to.Affine(m, a, b))
	}
	fits((op == "Add" || op == "Sub") && elements(dims) == n*h*w && x.channel == 0 && x.place == 0)
	v, i := make([]float32, n*h*w), 0
	everywhere(x.axes, 0, 0, func(channel, place int) {
		v[place*n+channel] = shift(c.v[index(i, dims, c.dims)])
		i++
	})
	return x.with(l.to.AddConstant(m, v))
}

// bent puts a term on a curve of what it is, which may be a multiple of maps.
func (l *layered) bent(x *term, c direct.Activation) *term {
	if !x.straight {
		l.maps(x)
	}
	c.Inner, c.Offset, c.Scale = x.curve.Scale, x.curve.Shift, 1
	y := x.with(x.of)
	y.curve, y.straight = c, false
	return y
}

// curved puts a term on a curve.
func (l *layered) curved(x *term, c direct.Activation) *term {
	y := x.with(l.maps(x))
	y.curve, y.straight = c, false
	return y
}

// alike reports whether two terms are the same view of maps, or of others of their size.
func alike(x, y *term) bool {
	return x.channel == y.channel && x.place == y.place && slices.EqualFunc(x.axes, y.axes, same)
}

// both is the sum or the product of two terms.
func (l *layered) both(op string, x, y *term) *term {
	fits(x.scores == nil && y.scores == nil && len(x.axes) == len(y.axes))
	if x.straight {
		x, y = y, x
	}
	match := x.powers == nil && y.powers == nil && alike(x, y)
	if op == "Mul" && match && x.of == y.of && !x.straight && y.straight && y.curve.Shift == 0 && !x.curve.Times {
		z := *x
		z.curve.Scale, z.curve.Shift, z.curve.Times = z.curve.Scale*y.curve.Scale, z.curve.Shift*y.curve.Scale, true
		return &z
	}
	if match = alike(x, y); !match && slices.Equal(x.dims(), y.dims()) { // places in another order
		x, y = l.ordered(x), l.ordered(y)
		match = alike(x, y)
	}
	u, v := l.maps(x), l.maps(y)
	c, h, w := u.Dims()
	d, i, j := v.Dims()
	fits(c == d)
	if match && h*w == i*j {
		if op == "Add" {
			return x.with(l.to.Add(u, v))
		}
		return x.with(l.to.Mul(u, v))
	}
	if h*w == 1 {
		x, y, u, v = y, x, v, u
		i, j = h, w
	}
	fits(op == "Mul" && i*j == 1 && x.channel == y.channel)
	for k, a := range x.axes { // a gate has the same channels
		fits(same(a, y.axes[k]) || a.of(false) && len(y.axes[k]) == 0)
	}
	return x.with(l.to.Mul(u, v))
}
