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

// mix adds a node that makes mixtures, or others of them; ok is false for others.
func (l *layered) mix(n *node) (ok bool) {
	var list []*mixed
	some, all := false, true
	for _, s := range n.in {
		t := l.terms[s]
		some, all = some || t != nil && t.mixed != nil, all && t != nil
	}
	set := func(out string, m *mixed) { l.terms[out] = &term{of: m.of, mixed: m} }
	switch x, c, both := l.arithmetic(n); {
	case n.op == "Neg":
		set(n.out[0], l.mixtures(l.terms[n.in[0]]).times(constant{v: []float32{-1}}))
		return true
	case n.op == "Mul" && both && (x.mixed != nil || x.unlike(c)):
		set(n.out[0], l.mixtures(x).times(c))
		return true
	case !some:
		return false
	case n.op == "Add" && all, n.op == "Sub" && all, n.op == "Concat" && all:
		for _, s := range n.in {
			t := l.terms[s]
			if all := l.onePlace[t.of]; all != nil && t.mixed == nil && t.bare() && t.channel == all.channel && slices.EqualFunc(t.axes, all.axes, same) {
				t = all
			}
			list = append(list, l.mixtures(t))
			fits(list[len(list)-1].of == list[0].of)
		}
	case slices.Contains([]string{"Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Transpose", "Slice", "Split"}, n.op) && l.terms[n.in[0]] != nil:
		list = append(list, l.mixtures(l.terms[n.in[0]]))
	default:
		return false
	}
	switch n.op {
	case "Sub":
		list[1] = list[1].times(constant{v: []float32{-1}})
		fallthrough
	case "Add":
		set(n.out[0], list[0].plus(list[1]))
		return true
	}
	// The numbers of the elements go the way of constants.
	var elements []mixture
	for i, m := range list {
		c := constant{dims: m.dims, whole: []int64{}}
		for j := range m.list {
			c.whole = append(c.whole, int64(len(elements)+j))
		}
		elements = append(elements, m.list...)
		l.constants[n.in[i]] = c
	}
	out, known := l.evaluate(n)
	fits(known)
	for i := range list {
		delete(l.constants, n.in[i])
	}
	for i, c := range out {
		m := &mixed{of: list[0].of, dims: c.dims}
		for _, j := range c.whole {
			m.list = append(m.list, elements[j])
		}
		set(n.out[i], m)
	}
	return true
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
