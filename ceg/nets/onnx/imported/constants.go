package imported

import "slices"

// constant are numbers that do not depend on the pixels of images: weights, and what the shapes of
// one image's values say.
type constant struct {
	dims []int
	v    []float32
	// whole are the numbers where they are integers or truth values, and v is nil.
	whole []int64
}

// mostComputed bounds the elements that are computed: what depends on shapes is small.
const mostComputed = 1 << 20

func (c constant) len() int { return max(len(c.v), len(c.whole)) }

func (c constant) at(i int) float64 {
	if c.whole != nil {
		return float64(c.whole[i])
	}
	return float64(c.v[i])
}

// shapeOf is a vector of integers.
func shapeOf(dims ...int) constant {
	c := constant{dims: []int{len(dims)}, whole: []int64{}}
	for _, d := range dims {
		c.whole = append(c.whole, int64(d))
	}
	return c
}

// shape are the numbers of a vector, or a number, of integers.
func (c constant) shape() []int {
	fits(c.whole != nil && len(c.dims) <= 1)
	d := []int{}
	for _, v := range c.whole {
		d = append(d, int(min(max(v, -1<<31), 1<<31))) // as a Slice may say "to the end"
	}
	return d
}

// elements is the product of dims.
func elements(dims []int) int {
	n := 1
	for _, d := range dims {
		fits(d >= 0 && (d == 0 || n <= mostComputed*64/d))
		n *= d
	}
	return n
}

// repeated are the dims of numbers that are combined with others, as axes of size 1 are repeated.
func repeated(list ...[]int) []int {
	var out []int
	for _, dims := range list {
		for len(out) < len(dims) {
			out = slices.Insert(out, 0, 1)
		}
		for i, d := range dims {
			at := len(out) - len(dims) + i
			fits(d == out[at] || d == 1 || out[at] == 1)
			if out[at] == 1 {
				out[at] = d
			}
		}
	}
	return out
}

// combine computes numbers of others with the same place.
func combine(f func(v []float64) float64, whole bool, list ...constant) constant {
	var out constant
	for _, c := range list {
		out.dims = repeated(out.dims, c.dims)
	}
	n := elements(out.dims)
	fits(n <= mostComputed)
	v := make([]float64, len(list))
	for i := range n {
		for j, c := range list {
			v[j] = c.at(index(i, out.dims, c.dims))
		}
		if x := f(v); whole {
			out.whole = append(out.whole, int64(x))
		} else {
			out.v = append(out.v, float32(x))
		}
	}
	return out
}

// index is where element i of an array of some dims is in another that is repeated to these.
func index(i int, dims, of []int) int {
	at, stride := 0, 1
	for j := len(dims) - 1; j >= 0; j-- {
		if k := j - len(dims) + len(of); k >= 0 {
			if of[k] > 1 {
				at += i % dims[j] * stride
			}
			stride *= of[k]
		}
		i /= dims[j]
	}
	return at
}

// axes are those that a node names, by an attribute or by its second input; nil for none.
func (l *layered) axes(n *node) []int {
	if a := n.get("axes"); a != nil {
		return ints(a.ints)
	} else if len(n.in) > 1 {
		return l.constants[n.in[1]].shape()
	}
	return nil
}

// positions are a node's axes of a value, counted from the front.
func (l *layered) positions(n *node, rank int) []int {
	list := l.axes(n)
	for i, a := range list {
		if a < 0 {
			list[i] += rank
		}
		fits(list[i] >= 0 && list[i] < rank)
	}
	return list
}

// newDims are those of a value after a node that changes nothing else.
func (l *layered) newDims(n *node, dims []int) []int {
	switch n.op {
	case "Flatten":
		axis := int(n.int("axis", 1))
		if axis < 0 {
			axis += len(dims)
		}
		fits(axis >= 0 && axis <= len(dims))
		return []int{elements(dims[:axis]), elements(dims[axis:])}
	case "Squeeze":
		list := l.positions(n, len(dims))
		var out []int
		for i, d := range dims {
			if gone := slices.Contains(list, i) || list == nil && d == 1; !gone {
				out = append(out, d)
			} else {
				fits(d == 1)
			}
		}
		return out
	case "Unsqueeze":
		rank := len(dims) + len(l.axes(n))
		list := l.positions(n, rank)
		var out []int
		for i := range rank {
			if slices.Contains(list, i) {
				out = append(out, 1)
			} else {
				fits(len(dims) > 0)
				out, dims = append(out, dims[0]), dims[1:]
			}
		}
		fits(len(dims) == 0)
		return out
	}
	fits(len(n.in) == 2)
	out, rest := l.constants[n.in[1]].shape(), -1
	for i, d := range out {
		switch {
		case d == 0 && n.int("allowzero", 0) == 0:
			fits(i < len(dims))
			out[i] = dims[i]
		case d == -1:
			fits(rest < 0)
			rest, out[i] = i, 1
		}
		fits(out[i] > 0)
	}
	if rest >= 0 {
		fits(elements(dims)%elements(out) == 0)
		out[rest] = elements(dims) / elements(out)
	}
	fits(elements(dims) == elements(out))
	return out
}

func ints(v []int64) []int {
	d := []int{}
	for _, x := range v {
		fits(x > -1<<31 && x < 1<<31)
		d = append(d, int(x))
	}
	return d
}

// ranges are what a Slice takes of dims: from, how many, and how far apart.
func (l *layered) ranges(n *node, dims []int) (from, count, apart []int) {
	list := func(name string, input int) []int {
		if a := n.get(name); a != nil {
			return ints(a.ints)
		} else if input < len(n.in) && n.in[input] != "" {
			return l.constants[n.in[input]].shape()
		}
		return nil
	}
	starts, ends, axes, steps := list("starts", 1), list("ends", 2), list("axes", 3), list("steps", 4)
	from, count, apart = make([]int, len(dims)), slices.Clone(dims), slices.Repeat([]int{1}, len(dims))
	if axes == nil {
		for i := range starts {
			axes = append(axes, i)
		}
	}
	if steps == nil {
		steps = slices.Repeat([]int{1}, len(axes))
	}
	fits(len(starts) == len(axes) && len(ends) == len(axes) && len(steps) == len(axes))
	for i, a := range axes {
		if a < 0 {
			a += len(dims)
		}
		fits(a >= 0 && a < len(dims) && steps[i] > 0)
		place := func(v int) int {
			if v < 0 {
				v += dims[a]
			}
			return min(max(v, 0), dims[a])
		}
		from[a], apart[a] = place(starts[i]), steps[i]
		count[a] = (max(place(ends[i])-from[a], 0) + steps[i] - 1) / steps[i]
	}
	return from, count, apart
}
