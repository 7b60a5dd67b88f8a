package imported

import "slices"

// A value of a file that is maps of an image is seen through axes: each is made of atoms, which say how
// channels and places follow from an index along it. [1, c, h, w], [1, h*w, c] and the heads of attention
// are such views, and reshapes, transpositions and slices make a view of another.

// atom is a part of an axis: so many channels, or places in reading order, that are stride apart.
type atom struct {
	channel      bool
	size, stride int
}

// axis is made of atoms, the outermost first, none of size 1. Without any it has size 1.
type axis []atom

func (a axis) size() int {
	n := 1
	for _, v := range a {
		n *= v.size
	}
	return n
}

// join makes an axis of others, one inside the other.
func join(list ...axis) axis {
	var a axis
	for _, v := range slices.Concat(list...) {
		if v.size == 1 {
			continue
		}
		if n := len(a) - 1; n >= 0 && a[n].channel == v.channel && a[n].stride == v.size*v.stride {
			a[n].size, a[n].stride = a[n].size*v.size, v.stride
			continue
		}
		a = append(a, v)
	}
	return a
}

// channels and places are axes of all that maps have, from the first one on.
func channels(n int) axis { return join(axis{{true, n, 1}}) }
func places(n int) axis   { return join(axis{{false, n, 1}}) }

// of reports whether all of an axis are channels, or all are places.
func (a axis) of(channel bool) bool {
	return !slices.ContainsFunc(a, func(v atom) bool { return v.channel != channel })
}

// reshape divides axes into others of some sizes.
func reshape(list []axis, dims []int) []axis {
	rest := slices.Clone(join(list...))
	var out []axis
	for _, d := range dims {
		var a axis
		for d > 1 {
			fits(len(rest) > 0)
			v := rest[0]
			if d%v.size == 0 {
				a, rest, d = append(a, v), rest[1:], d/v.size
				continue
			}
			fits(v.size%d == 0)
			inner := v.size / d
			a, d = append(a, atom{v.channel, d, v.stride * inner}), 1
			rest[0].size = inner
		}
		fits(d == 1)
		out = append(out, join(a))
	}
	fits(len(rest) == 0)
	return out
}

func sizes(list []axis) []int {
	d := []int{}
	for _, a := range list {
		d = append(d, a.size())
	}
	return d
}

// slice takes n elements of an axis, from one on and so far apart, and returns the channel and the place
// of the first.
func (a axis) slice(from, n, apart int) (b axis, channel, place int) {
	fits(from >= 0 && n > 0 && from+(n-1)*apart < a.size())
	if n == a.size() {
		return a, 0, 0
	}
	v, inner := a[0], a[1:].size()
	fits(from%inner == 0 && (apart == 1 && n%inner == 0 || inner == 1))
	at := from / inner * v.stride
	b = slices.Clone(a)
	b[0].size, b[0].stride = n/inner, v.stride*apart
	if v.channel {
		return join(b), at, 0
	}
	return join(b), 0, at
}

// everywhere calls do for every element of axes, in order, with its channel and its place.
func everywhere(list []axis, channel, place int, do func(channel, place int)) {
	all := slices.Concat(list...)
	var walk func(i, c, p int)
	walk = func(i, c, p int) {
		if i == len(all) {
			do(c, p)
			return
		}
		for range all[i].size {
			walk(i+1, c, p)
			if all[i].channel {
				c += all[i].stride
			} else {
				p += all[i].stride
			}
		}
	}
	walk(0, channel, place)
}
