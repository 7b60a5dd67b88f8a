package imported

import "slices"

// stage is how far the operations have come that old files have in the place of LayerNormalization.
type stage uint8

const (
	_         stage = iota
	meanOf          // ReduceMean(x)
	deviation       // x - meanOf
	square          // deviation^2
	variance        // ReduceMean(square)
	shifted         // variance + eps
	root            // Sqrt(shifted), which the deviation is divided by
)

// normed is a part of a LayerNormalization of a term's last axis, its channels.
type normed struct {
	x   *term
	at  stage
	eps float32
}

// norm adds a node that is a part of a LayerNormalization; ok is false for others.
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
	case n.op == "Add" && is(x, variance) && c.len() == 1:
		y := next(x, shifted)
		y.norm.eps = float32(c.at(0))
		return y, true
	case n.op == "Sqrt" && is(x, shifted):
		return next(x, root), true
	case n.op == "Div" && is(x, deviation) && is(second, root) && second.norm.x == x.norm.x:
		of := x.norm.x
		channels, _, _ := of.of.Dims()
		return of.with(l.to.LayerNorm(l.maps(of), slices.Repeat([]float32{1}, channels), make([]float32, channels), second.norm.eps)), true
	}
	for _, s := range n.in {
		fits(l.terms[s] == nil || l.terms[s].norm == nil)
	}
	return nil, false
}
