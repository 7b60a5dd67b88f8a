package imported

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/nets/direct"
)

// scores are inner products of queries and keys, times scale and plus a bias, and with a softmax where
// they are weights. Of a test of weights they say where these are numbers, which all are, or where not.
type scores struct {
	queries, keys *term
	scale         float32
	bias          constant
	weights       bool
	numbers, not  bool
}

// heads are the channels of queries, keys or values [..., windows, ..., heads, ..., places, dim]: from
// one on, and how far apart. The axes are -1 where there is one head, or one window.
type heads struct{ axis, count, dim, from, apart, windowAxis, windows int }

// headsOf says what the heads of an ordered term are.
func headsOf(x *term) heads {
	r := len(x.axes)
	fits(r >= 2)
	_, h, w := x.of.Dims()
	last := x.axes[r-1]
	a := heads{axis: -1, count: 1, dim: last.size(), from: x.channel, windowAxis: -1, windows: 1}
	for i, v := range x.axes[:r-2] {
		switch {
		case len(v) == 0:
		case len(v) == 1 && v[0].channel && a.axis < 0:
			a.axis, a.count, a.apart = i, v[0].size, v[0].stride
		default:
			fits(len(v) == 1 && a.axis < 0 && a.windowAxis < 0)
			a.windowAxis, a.windows = i, v[0].size
		}
	}
	n := h * w / a.windows
	fits(x.place == 0 && n*a.windows == h*w && same(x.axes[r-2], places(n)) && same(last, channels(last.size())))
	fits(a.windows == 1 || same(x.axes[a.windowAxis], axis{{false, a.windows, n}}))
	return a
}

// products are the scores of attention, or its output.
func (l *layered) products(x, y *term) *term {
	fits(y.scores == nil && len(x.axes) == len(y.axes) && len(x.axes) >= 2)
	r := len(y.axes)
	scale := float32(1)
	unscaled := func(t *term) *term {
		u := *t
		if t.straight && t.curve.Shift == 0 {
			scale *= t.curve.Scale
			u.curve.Scale = 1
		}
		return &u
	}
	queries, turned := l.ordered(unscaled(x)), unscaled(y)
	turned.axes = slices.Clone(y.axes)
	turned.axes[r-1], turned.axes[r-2] = y.axes[r-2], y.axes[r-1]
	keys := l.ordered(turned)
	a, b := headsOf(queries), headsOf(keys)
	fits(a.axis == b.axis && a.count == b.count && a.dim == b.dim && a.windowAxis == b.windowAxis && a.windows == b.windows)
	z := termOf(queries.of, queries.axes)
	z.scores = &scores{queries: queries, keys: keys, scale: scale}
	return z
}

// attention adds a node whose input are scores.
func (l *layered) attention(n *node, x *term) *term {
	rank, s := int64(len(x.axes)), *x.scores
	y := *x
	switch n.op {
	case "Identity":
		return x
	case "Equal":
		fits(s.weights && !s.numbers && n.in[0] == n.in[1])
		s.numbers = true
		y.scores = &s
		return &y
	case "Not":
		fits(s.numbers && !s.not)
		s.not = true
		y.scores = &s
		return &y
	case "Where":
		weights := l.terms[n.in[2]]
		_, constant := l.constants[n.in[1]]
		fits(s.not && constant && weights != nil && weights.scores != nil && !weights.scores.numbers && weights.scores.queries == s.queries && weights.scores.keys == s.keys)
		return weights
	case "Softmax":
		axis := n.int("axis", -1)
		fits(!s.weights && (axis == -1 || axis == rank-1))
		s.weights = true
		y.scores = &s
		return &y
	case "Reshape", "Squeeze", "Unsqueeze": // of what is before queries and keys
		d := l.dims(x)
		dims := l.newDims(n, d)
		most := len(dims) - 2
		fits(most >= 0 && !s.numbers && slices.Equal(dims[most:], d[rank-2:]))
		again := func(t *term) *term {
			u := *t
			u.axes = slices.Concat(reshape(t.axes[:rank-2], dims[:most]), t.axes[rank-2:])
			return &u
		}
		s.queries, s.keys = again(s.queries), again(s.keys)
		if s.bias.v != nil { // which may not be of all dims
			s.bias = combine(func(v []float64) float64 { return v[0] }, false, s.bias, constant{dims: d, whole: make([]int64, elements(d))})
			s.bias.dims = dims
		}
		y.axes, y.scores = s.queries.axes, &s
		return &y
	case "MatMul":
		values := l.terms[n.in[1]]
		fits(s.weights && !s.numbers && values != nil && values.scores == nil && int64(len(values.axes)) == rank)
		values = l.ordered(values)
		m := l.maps(values)
		a, b, c := headsOf(s.queries), headsOf(s.keys), headsOf(values)
		fits(a.axis == b.axis && a.windowAxis == b.windowAxis && c.axis == a.axis && c.count == a.count && c.dim == a.dim && c.windowAxis == a.windowAxis && c.windows == a.windows)
		h := direct.Heads{Count: a.count, Dim: a.dim, Scale: s.scale, Windows: a.windows, Bias: s.biases(l.dims(x), a)}
		h.Queries.From, h.Queries.Apart, h.Keys.From, h.Keys.Apart, h.Values.From, h.Values.Apart = a.from, a.apart, b.from, b.apart, c.from, c.apart
		out := termOf(l.to.Attention(s.queries.of, s.keys.of, m, h), slices.Clone(s.queries.axes))
		if a.axis >= 0 {
			out.axes[a.axis] = axis{{true, a.count, a.dim}}
		}
		return out
	}
	panic(strange{})
}

// biases are the numbers of the bias by windows, unless it is the same for all, and heads.
func (s *scores) biases(dims []int, a heads) []float32 {
	if s.bias.v == nil {
		return nil
	}
	every := slices.Clone(dims)
	if i := a.windowAxis - len(dims) + len(s.bias.dims); a.windowAxis >= 0 && (i < 0 || s.bias.dims[i] == 1) {
		every[a.windowAxis] = 1
	}
	v := make([]float32, elements(every))
	for i := range v {
		v[i] = s.bias.v[index(i, every, s.bias.dims)]
	}
	return v
}
