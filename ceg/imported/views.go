package imported

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
)

// square are the maps of a term that shows all of them as an image.
func (l *layered) square(x *term) nets.Maps {
	m := l.maps(x)
	y := imageOf(m)
	fits(x.channel == 0 && x.place == 0 && slices.EqualFunc(x.axes, y.axes, same))
	return m
}

// slice takes a part of an axis. Of maps of which one place is left, the others are not computed.
func (l *layered) slice(x *term, i, from, n int) *term {
	y := x.with(l.maps(x))
	y.axes = slices.Clone(x.axes)
	a, channel, place := x.axes[i].slice(from, n)
	y.axes[i], y.channel, y.place = a, y.channel+channel, y.place+place
	if _, h, w := y.of.Dims(); h*w > 1 && !slices.ContainsFunc(y.axes, func(a axis) bool { return !a.of(true) }) {
		y.of, y.place = l.to.MeanOf(y.of, y.place, 1), 0
	}
	return y
}

// gather takes elements of an axis that lie side by side.
func (l *layered) gather(x *term, i int, at constant) *term {
	fits(at.whole != nil && len(at.whole) > 0)
	from := at.whole[0]
	if from < 0 {
		from += int64(x.axes[i].size())
	}
	for j, v := range at.whole {
		fits(v == at.whole[0]+int64(j))
	}
	y := l.slice(x, i, int(from), len(at.whole))
	y.axes = reshape(y.axes, slices.Concat(x.dims()[:i], at.dims, x.dims()[i+1:]))
	return y
}

// mean is that over axes, which are gone then: of places that lie side by side.
func (l *layered) mean(x *term, axes []int) *term {
	var gone, kept []axis
	for i, a := range x.axes {
		if slices.Contains(axes, i) {
			gone = append(gone, a)
		} else {
			kept = append(kept, a)
		}
	}
	all := join(gone...)
	if len(all) == 0 {
		y := *x
		y.axes = kept
		return &y
	}
	m := l.maps(x)
	fits(same(all, places(all.size())) && !slices.ContainsFunc(kept, func(a axis) bool { return !a.of(true) }))
	y := termOf(l.to.MeanOf(m, x.place, all.size()), kept)
	y.channel = x.channel
	return y
}

// concat joins terms along channels, or puts constants in front of places.
func (l *layered) concat(n *node) *term {
	var list []*term
	var front []constant
	for _, s := range n.in {
		y := l.terms[s]
		if c, ok := l.constants[s]; ok && len(list) == 0 {
			front = append(front, c)
			continue
		}
		fits(y != nil && y.scores == nil && y.channel == 0 && y.place == 0 && (len(list) == 0 || len(y.axes) == len(list[0].axes)))
		list = append(list, y)
	}
	x := list[0]
	i, rank := int(n.int("axis", 0)), len(x.axes)
	if i < 0 {
		i += rank
	}
	fits(i >= 0 && i < rank)
	if front != nil {
		return l.lead(x, i, front, len(list))
	}
	total := 0
	var maps []nets.Maps
	for _, y := range list {
		m := l.maps(y)
		c, h, w := m.Dims()
		_, h0, w0 := l.maps(x).Dims()
		fits(h == h0 && w == w0 && same(y.axes[i], channels(c)))
		for j, a := range y.axes {
			fits(j == i || same(a, x.axes[j]) && a.of(false))
		}
		maps, total = append(maps, m), total+c
	}
	y := termOf(l.to.Concat(maps...), slices.Clone(x.axes))
	y.axes[i] = channels(total)
	return y
}

// lead puts constants in front of the places of axis i.
func (l *layered) lead(x *term, i int, front []constant, terms int) *term {
	m := l.maps(x)
	c, h, w := m.Dims()
	var v []float32
	for _, f := range front {
		d := x.dims()
		d[i] = len(f.v) / c
		fits(f.v != nil && slices.Equal(d, f.dims) && i == len(d)-2) // rows of channels
		v = append(v, f.v...)
	}
	fits(terms == 1 && same(x.axes[i], places(h*w)) && x.whole(x.axes[len(x.axes)-1]) && x.axes[i].size()*c == elements(x.dims()))
	y := termOf(l.to.Lead(m, v), slices.Clone(x.axes))
	y.axes[i] = places(h*w + len(v)/c)
	return y
}
