package imported

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/nets/direct"
)

// scores are inner products of queries and keys, times scale, and with a softmax where they are weights.
// Tested, they say where weights are no numbers, which none are.
type scores struct {
	queries, keys   *term
	scale           float32
	weights, tested bool
}

// heads are the channels of queries, keys or values [..., heads, ..., places, dim]: from one on, and
// how far apart.
type heads struct{ axis, count, dim, from, apart int }

// headsOf says what a term's heads are, whose last axes are places and channels.
func headsOf(x *term) heads {
	r := len(x.axes)
	fits(r >= 2)
	_, h, w := x.of.Dims()
	last := x.axes[r-1]
	fits(x.place == 0 && same(x.axes[r-2], places(h*w)) && same(last, channels(last.size())))
	a := heads{axis: -1, count: 1, dim: last.size(), from: x.channel}
	for i, v := range x.axes[:r-2] {
		if len(v) > 0 {
			fits(a.axis < 0 && len(v) == 1 && v[0].channel)
			a.axis, a.count, a.apart = i, v[0].size, v[0].stride
		}
	}
	return a
}

// products are the scores of attention, or its output.
func (l *layered) products(x, y *term) *term {
	fits(y.scores == nil && len(x.axes) == len(y.axes) && len(x.axes) >= 2)
	queries, keys := *x, *y
	r := len(y.axes)
	keys.axes = slices.Clone(y.axes)
	keys.axes[r-1], keys.axes[r-2] = y.axes[r-2], y.axes[r-1]
	scale := float32(1)
	for _, t := range []*term{&queries, &keys} {
		if t.straight && t.curve.Shift == 0 {
			scale *= t.curve.Scale
			t.curve.Scale = 1
		}
		l.maps(t)
	}
	a, b := headsOf(&queries), headsOf(&keys)
	fits(a.axis == b.axis && a.count == b.count && a.dim == b.dim)
	z := *termOf(queries.of, nil)
	z.axes, z.scores = queries.axes, &scores{queries: &queries, keys: &keys, scale: scale}
	return &z
}

// attention adds a node whose input are scores.
func (l *layered) attention(n *node, x *term) *term {
	rank, s := int64(len(x.axes)), *x.scores
	y := *x
	switch n.op {
	case "Identity":
		return x
	case "Equal":
		fits(s.weights && !s.tested && n.in[0] == n.in[1])
		s.tested = true
		y.scores = &s
		return &y
	case "Not":
		fits(s.tested)
		return x
	case "Where":
		weights := l.terms[n.in[2]]
		_, constant := l.constants[n.in[1]]
		fits(s.tested && constant && weights != nil && weights.scores != nil && weights.scores.queries == s.queries && weights.scores.keys == s.keys)
		return weights
	case "Softmax":
		axis := n.int("axis", -1)
		fits(!s.weights && (axis == -1 || axis == rank-1))
		s.weights = true
		y.scores = &s
		return &y
	case "MatMul":
		values := l.terms[n.in[1]]
		fits(s.weights && !s.tested && values != nil && values.scores == nil && int64(len(values.axes)) == rank)
		m := l.maps(values)
		a, b, c := headsOf(s.queries), headsOf(s.keys), headsOf(values)
		fits(c.axis == a.axis && c.count == a.count && c.dim == a.dim)
		h := direct.Heads{Count: a.count, Dim: a.dim, Scale: s.scale}
		h.Queries.From, h.Queries.Apart, h.Keys.From, h.Keys.Apart, h.Values.From, h.Values.Apart = a.from, a.apart, b.from, b.apart, c.from, c.apart
		out := termOf(l.to.Attention(s.queries.of, s.keys.of, m, h), slices.Clone(s.queries.axes))
		if a.axis >= 0 {
			out.axes[a.axis] = axis{{true, a.count, a.dim}}
		}
		return out
	}
	panic(strange{})
}
