package imported

import "slices"

// stage is how far the operations have come that old files have in the place of LayerNormalization, and all in that
// of global response normalisation.
type stage uint8

const (
	_         stage = iota
	meanOf          // ReduceMean(x)
	deviation       // x - meanOf
	square          // deviation^2
	variance        // ReduceMean(square)
	shifted         // variance + eps
	root            // Sqrt(shifted), which the deviation is divided by

	magnitude     // ReduceL2(x)
	meanMagnitude // ReduceMean(magnitude)
	raised        // meanMagnitude + eps, which the magnitude is divided by
)

// normed is a part of a LayerNormalization of a term's last axis, its channels, or of its channels' responses.
type normed struct {
	x   *term
	at  stage
	eps float32
}

// norm adds a node that is a part of a normalisation; ok is false for others.
func (l *layered) norm(n *node) (t *term, ok bool) {
	in := slices.Clone(n.in)
	if len(in) == 2 && l.terms[in[0]] == nil { // a constant comes second here
		slices.Reverse(in)
	}
	x := l.terms[in[0]]
	if x == nil || x.scores != nil {
		return nil, false
	}
	next := func(p *term, at stage) *term {
		y := *p
		part := normed{x: p, at: at}
		if p.norm != nil {
			part.x, part.eps = p.norm.x, p.norm.eps
		}
		y.norm = &part
		return &y
	}
	is := func(t *term, at stage) bool { return t != nil && t.norm != nil && t.norm.at == at }
	var second *term
	var c constant
	if len(in) == 2 {
		second, c = l.terms[in[1]], l.constants[in[1]]
	}
	last := len(x.axes) - 1
	switch {
	case n.op == "ReduceMean" && (x.norm == nil || x.norm.at == square) && last >= 0:
		if axes := l.positions(n, len(x.axes)); !slices.Equal(axes, []int{last}) || x.axes[last].of(false) || n.int("keepdims", 1) == 0 {
			return nil, false
		}
		if is(x, square) {
			return next(x, variance), true
		}
		l.maps(x)
		fits(x.whole(x.axes[last]))
		return next(x, meanOf), true
	case n.op == "Sub" && is(second, meanOf) && second.norm.x == x:
		return next(second, deviation), true
	case n.op == "Pow" && is(x, deviation) && c.len() == 1 && c.at(0) == 2, n.op == "Mul" && is(x, deviation) && second == x:
		return next(x, square), true
	case n.op == "Add" && (is(x, variance) || is(x, meanMagnitude)) && c.len() == 1:
		y := next(x, x.norm.at+1)
		y.norm.eps = float32(c.at(0))
		return y, true
	case n.op == "Sqrt" && is(x, shifted):
		return next(x, root), true
	case n.op == "Div" && is(x, deviation) && is(second, root) && second.norm.x == x.norm.x:
		of := x.norm.x
		channels, _, _ := of.of.Dims()
		return of.with(l.to.LayerNorm(l.maps(of), slices.Repeat([]float32{1}, channels), make([]float32, channels), second.norm.eps)), true
	case n.op == "ReduceL2" && x.norm == nil:
		axes := l.reduced(n, x)
		_, h, w := l.maps(x).Dims()
		fits(x.place == 0 && x.whole(join(axes...)) && elements(x.dims()) == elements(sizes(axes))*h*w)
		y := next(x, magnitude)
		y.axes = axes
		return y, true
	case n.op == "ReduceMean" && is(x, magnitude):
		axes := l.reduced(n, x)
		fits(len(join(axes...)) == 0)
		return next(x, meanMagnitude), true
	case n.op == "Div" && is(x, magnitude) && is(second, raised) && second.norm.x == x.norm.x:
		of := x.norm.x
		y := of.with(l.to.Responses(of.of, second.norm.eps))
		y.axes = x.axes
		return y, true
	}
	for _, s := range n.in {
		fits(l.terms[s] == nil || l.terms[s].norm == nil)
	}
	return nil, false
}

// reduced are the axes of a term of which a node leaves one element where it reduces them.
func (l *layered) reduced(n *node, x *term) []axis {
	fits(n.int("keepdims", 1) != 0)
	axes := slices.Clone(x.axes)
	for _, i := range l.positions(n, len(axes)) {
		axes[i] = nil
	}
	return axes
}
