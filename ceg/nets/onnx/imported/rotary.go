package imported

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
)

// mixture is a sum of two channels of a place, each times a factor.
type mixture struct {
	place    int
	channels [2]int
	factors  [2]float32
}

// mixed is a value whose elements are mixtures of the same maps, as rotary position embeddings make them of queries
// and keys, or a part of one.
type mixed struct {
	of   nets.Maps
	dims []int
	list []mixture
}

// mixtures are the elements of a term.
func (l *layered) mixtures(t *term) *mixed {
	if t.mixed != nil {
		return t.mixed
	}
	fits(t.scores == nil && t.norm == nil)
	m := &mixed{of: l.maps(t), dims: t.dims()}
	fits(elements(m.dims) <= mostComputed)
	everywhere(t.axes, t.channel, t.place, func(c, p int) {
		m.list = append(m.list, mixture{p, [2]int{c, c}, [2]float32{1, 0}})
	})
	return m
}

// times multiplies with numbers.
func (m *mixed) times(c constant) *mixed {
	fits(c.v != nil && slices.Equal(repeated(m.dims, c.dims), m.dims))
	out := &mixed{m.of, m.dims, slices.Clone(m.list)}
	for i := range out.list {
		f := &out.list[i].factors
		v := c.v[index(i, m.dims, c.dims)]
		f[0], f[1] = v*f[0], v*f[1]
	}
	return out
}

// plus adds mixtures of the same places, of two channels together.
func (m *mixed) plus(o *mixed) *mixed {
	fits(m.of == o.of && slices.Equal(m.dims, o.dims))
	out := &mixed{m.of, m.dims, nil}
	for i, a := range m.list {
		b := o.list[i]
		fits(a.place == b.place)
		sum := mixture{place: a.place, channels: [2]int{-1, -1}}
		for _, part := range []mixture{a, b} {
			for k, f := range part.factors {
				if f != 0 {
					sum.add(part.channels[k], f)
				}
			}
		}
		out.list = append(out.list, sum)
	}
	return out
}

// add adds a channel times a factor to a mixture whose channels are -1 where there is none.
func (m *mixture) add(channel int, factor float32) {
	for k, c := range m.channels {
		if c < 0 || c == channel {
			m.channels[k] = channel
			m.factors[k] += factor
			return
		}
	}
	panic(strange{})
}

// unlike reports whether numbers differ from place to place.
func (t *term) unlike(c constant) bool {
	d := c.dims
	if t.scores != nil || t.norm != nil || t.mixed != nil || len(c.v) < 2 || len(d) > len(t.axes) {
		return false
	}
	for i, a := range t.axes[len(t.axes)-len(d):] {
		if d[i] > 1 && !a.of(true) {
			return true
		}
	}
	return false
}

// moves are operations that only change which elements there are, and in which order.
var moves = []string{"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split"}

// mix adds a node that makes mixtures, or others of them; ok is false for others.
func (l *layered) mix(n *node) (ok bool) {
	some, all := false, true
	for _, s := range n.in {
		t := l.terms[s]
		some, all = some || t != nil && t.mixed != nil, all && t != nil
	}
	of := func(i int) *mixed { return l.mixtures(l.terms[n.in[i]]) }
	minus := constant{v: []float32{-1}}
	x, c, both := l.arithmetic(n)
	var y *mixed
	switch {
	case n.op == "Neg":
		y = of(0).times(minus)
	case n.op == "Mul" && both && (x.mixed != nil || x.unlike(c)):
		y = l.mixtures(x).times(c)
	case n.op == "Add" && some && all:
		y = of(0).plus(of(1))
	case n.op == "Sub" && some && all:
		y = of(0).plus(of(1).times(minus))
	case n.op == "Concat" && some && all:
		var list []*mixed
		for _, s := range n.in {
			t := l.terms[s]
			if all := l.onePlace[t.of]; all != nil && t.mixed == nil && t.bare() && t.channel == all.channel && slices.EqualFunc(t.axes, all.axes, same) {
				t = all
			}
			list = append(list, l.mixtures(t))
		}
		y = l.moved(n, list...)[0]
	case some && l.terms[n.in[0]] != nil && slices.Contains(moves, n.op):
		for i, m := range l.moved(n, of(0)) {
			l.terms[n.out[i]] = &term{of: m.of, mixed: m}
		}
		return true
	default:
		return false
	}
	l.terms[n.out[0]] = &term{of: y.of, mixed: y}
	return true
}

// moved are the outputs of a node that takes elements of its first inputs as they are. It is one of constants, the
// numbers of the elements.
func (l *layered) moved(n *node, list ...*mixed) (out []*mixed) {
	var elements []mixture
	for i, m := range list {
		fits(m.of == list[0].of)
		c := constant{dims: m.dims, whole: []int64{}}
		for j := range m.list {
			c.whole = append(c.whole, int64(len(elements)+j))
		}
		elements = append(elements, m.list...)
		l.constants[n.in[i]] = c
	}
	parts, known := l.evaluate(n)
	fits(known)
	for i := range list {
		delete(l.constants, n.in[i])
	}
	for _, c := range parts {
		m := &mixed{of: list[0].of, dims: c.dims}
		for _, j := range c.whole {
			m.list = append(m.list, elements[j])
		}
		out = append(out, m)
	}
	return out
}

// settled computes what is mixed, of all places of maps: maps whose channels are in the order of the elements.
func (l *layered) settled(t *term) *term {
	m := t.mixed
	if m == nil {
		return t
	}
	axes := make([]axis, len(m.dims))
	channels, places, apart := 1, 1, 1
	for i := len(m.dims) - 1; i >= 0; i-- {
		d := m.dims[i]
		if d == 1 {
			continue
		}
		if m.list[apart].place != m.list[0].place {
			axes[i], places = axis{{false, d, places}}, places*d
		} else {
			axes[i], channels = axis{{true, d, channels}}, channels*d
		}
		apart *= d
	}
	_, h, w := m.of.Dims()
	fits(places == h*w)
	pairs := [2][]int{slices.Repeat([]int{-1}, channels), slices.Repeat([]int{-1}, channels)}
	factors := [2][]float32{make([]float32, places*channels), make([]float32, places*channels)}
	i := 0
	everywhere(axes, 0, 0, func(c, p int) {
		e := m.list[i]
		fits(e.place == p)
		for k, f := range e.factors {
			if f == 0 {
				continue
			}
			pair := mixture{channels: [2]int{pairs[0][c], pairs[1][c]}}
			pair.add(e.channels[k], f)
			for k := range pairs {
				pairs[k][c] = pair.channels[k]
				factors[k][p*channels+c] += pair.factors[k]
			}
		}
		i++
	})
	for _, list := range pairs {
		for c := range list {
			list[c] = max(list[c], 0)
		}
	}
	return termOf(l.to.Rotate(m.of, pairs, factors), axes)
}
