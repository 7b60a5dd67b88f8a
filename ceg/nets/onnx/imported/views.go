package imported

import (
	"fmt"
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
func (l *layered) slice(x *term, i, from, n, apart int) *term {
	if old := x.axes[i]; len(old) > 1 && old.of(false) && n < old.size() {
		x = l.ordered(x) // then it is one atom
	}
	y := x.with(l.maps(x))
	y.axes = slices.Clone(x.axes)
	a, channel, place := x.axes[i].slice(from, n, apart)
	y.axes[i], y.channel, y.place = a, y.channel+channel, y.place+place
	if _, h, w := y.of.Dims(); h*w > 1 && !slices.ContainsFunc(y.axes, func(a axis) bool { return !a.of(true) }) {
		all := *y
		y.of, y.place = l.to.MeanOf(y.of, y.place, 1), 0
		l.onePlace[y.of] = &all
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
	y := l.slice(x, i, int(from), len(at.whole), 1)
	y.axes = reshape(y.axes, slices.Concat(x.dims()[:i], at.dims, x.dims()[i+1:]))
	return y
}

// mean is that over axes, which are gone then: of places.
func (l *layered) mean(x *term, axes []int) *term {
	divide := func() (all axis, kept []axis) {
		for i, a := range x.axes {
			if slices.Contains(axes, i) {
				all = join(all, a)
			} else {
				kept = append(kept, a)
			}
		}
		return all, kept
	}
	all, kept := divide()
	if len(all) == 0 {
		y := *x
		y.axes = kept
		return &y
	}
	if !same(all, places(all.size())) {
		x = l.ordered(x)
		all, kept = divide()
	}
	m := l.maps(x)
	fits(same(all, places(all.size())) && !slices.ContainsFunc(kept, func(a axis) bool { return !a.of(true) }))
	y := termOf(l.to.MeanOf(m, x.place, all.size()), kept)
	y.channel = x.channel
	return y
}

// ordered is a term of maps whose places are in the order in which its axes have them, and no others.
func (l *layered) ordered(x *term) *term {
	m := l.maps(x)
	_, h, w := m.Dims()
	y := x.with(m)
	y.axes, y.place = slices.Clone(x.axes), 0
	var seen []axis
	stride := 1
	for i := len(x.axes) - 1; i >= 0; i-- {
		a := x.axes[i]
		fits(a.of(true) || a.of(false))
		if len(a) > 0 && a.of(false) {
			seen = slices.Insert(seen, 0, a)
			y.axes[i], stride = axis{{false, a.size(), stride}}, stride*a.size()
		}
	}
	if x.place == 0 && stride == h*w && same(join(seen...), places(h*w)) {
		return y
	}
	y.of = l.reorder(m, l.places(seen, x.place))
	return y
}

// places lists those of axes.
func (l *layered) places(list []axis, from int) []int {
	fits(elements(sizes(list)) <= mostComputed)
	var order []int
	everywhere(list, 0, from, func(_, place int) { order = append(order, place) })
	return order
}

// reorder adds a layer, once.
func (l *layered) reorder(m nets.Maps, order []int) nets.Maps {
	key := fmt.Sprintf("%p %v", m, order)
	if l.reordered[key] == nil {
		l.reordered[key] = l.to.Reorder(m, order)
	}
	return l.reordered[key]
}

// deep is a term whose last axis is all channels, of one whose last axis is places and then all channels:
// those of a square become one place.
func (l *layered) deep(x *term) *term {
	last := len(x.axes) - 1
	fits(last >= 0)
	a := x.axes[last]
	at := slices.IndexFunc(a, func(v atom) bool { return v.channel })
	if at <= 0 {
		return x
	}
	m := l.maps(x)
	fits(x.whole(a[at:]) && a[:at].of(false))
	outer := x.axes[:last]
	fits(!slices.ContainsFunc(outer, func(a axis) bool { return !a.of(false) }))
	var parts []nets.Maps
	for _, p := range l.places([]axis{a[:at]}, x.place) {
		parts = append(parts, l.reorder(m, l.places(outer, p)))
	}
	y := termOf(l.to.Concat(parts...), slices.Clone(x.axes))
	stride := 1
	for i := last - 1; i >= 0; i-- {
		n := outer[i].size()
		y.axes[i], stride = join(axis{{false, n, stride}}), stride*n
	}
	y.axes[last] = channels(a.size())
	return y
}

// concat joins terms along channels or places, or puts constants in front of places.
func (l *layered) concat(n *node) *term {
	var list []*term
	var front []constant
	for _, s := range n.in {
		y := l.terms[s]
		if c, ok := l.constants[s]; ok && len(list) == 0 {
			front = append(front, c)
			continue
		}
		fits(y != nil && y.scores == nil && y.channel == 0 && (len(list) == 0 || len(y.axes) == len(list[0].axes)))
		list = append(list, y)
	}
	x := list[0]
	i, rank := int(n.int("axis", 0)), len(x.axes)
	if i < 0 {
		i += rank
	}
	fits(i >= 0 && i < rank)
	switch {
	case front != nil:
		fits(len(list) == 1 && x.place == 0)
		return l.lead(x, i, front)
	case slices.ContainsFunc(list, func(y *term) bool { return len(y.axes[i]) > 0 && y.axes[i].of(false) }):
		return l.row(list, i)
	}
	total := 0
	var maps []nets.Maps
	for k, y := range list {
		if y = l.ordered(y); k == 0 {
			x = y
		}
		m := l.maps(y)
		c, h, w := m.Dims()
		_, h0, w0 := l.maps(x).Dims()
		fits(h*w == h0*w0 && same(y.axes[i], channels(c)))
		for j, a := range y.axes {
			fits(j == i || same(a, x.axes[j]) && a.of(false))
		}
		maps, total = append(maps, m), total+c
	}
	y := termOf(l.to.Concat(maps...), slices.Clone(x.axes))
	y.axes[i] = channels(total)
	return y
}

// row puts places of the same maps one after the other along an axis, as when maps are shifted.
func (l *layered) row(list []*term, i int) *term {
	x := list[0]
	m, last := l.maps(x), len(x.axes)-1
	fits(x.whole(x.axes[last]) && i < last)
	dims := x.dims()[:last]
	dims[i] = 0
	var parts [][]int
	for _, y := range list {
		fits(l.maps(y) == m && same(y.axes[last], x.axes[last]))
		d := y.dims()[:last]
		for j, a := range y.axes[:last] {
			fits(a.of(false) && (j == i || d[j] == dims[j]))
		}
		parts, dims[i] = append(parts, l.places(y.axes[:last], y.place)), dims[i]+d[i]
	}
	outer := elements(dims[:i])
	var order []int
	for o := range outer {
		for _, p := range parts {
			n := len(p) / outer
			order = append(order, p[o*n:(o+1)*n]...)
		}
	}
	y := termOf(l.reorder(m, order), slices.Clone(x.axes))
	stride := 1
	for j := last - 1; j >= 0; j-- {
		y.axes[j], stride = join(axis{{false, dims[j], stride}}), stride*dims[j]
	}
	return y
}

// lead puts constants in front of the places of axis i.
func (l *layered) lead(x *term, i int, front []constant) *term {
	m := l.maps(x)
	c, h, w := m.Dims()
	var v []float32
	for _, f := range front {
		d := x.dims()
		d[i] = len(f.v) / c
		fits(f.v != nil && slices.Equal(d, f.dims) && i == len(d)-2) // rows of channels
		v = append(v, f.v...)
	}
	fits(same(x.axes[i], places(h*w)) && x.whole(x.axes[len(x.axes)-1]) && x.axes[i].size()*c == elements(x.dims()))
	y := termOf(l.to.Prepend(m, v), slices.Clone(x.axes))
	y.axes[i] = places(h*w + len(v)/c)
	return y
}
