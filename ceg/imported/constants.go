package imported

import (
	"math"
	"slices"
)

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

// evaluate computes a node all of whose inputs are constants; ok is false for what is not known.
func (l *layered) evaluate(n *node) (c constant, ok bool) {
	var in []constant
	whole := true
	for _, s := range n.in {
		v, ok := l.constants[s]
		if !ok && (n.op != "Clip" || s != "") { // which may leave out limits
			return c, false
		}
		in, whole = append(in, v), whole && v.whole != nil
	}
	two := map[string]func(x, y float64) float64{
		"Add": func(x, y float64) float64 { return x + y }, "Sub": func(x, y float64) float64 { return x - y }, "Mul": func(x, y float64) float64 { return x * y },
		"Div": func(x, y float64) float64 { return x / y }, "Mod": math.Mod, "Pow": math.Pow, "Min": math.Min, "Max": math.Max,
		"Equal": func(x, y float64) float64 {
			if x == y {
				return 1
			}
			return 0
		},
	}
	one := map[string]func(x float64) float64{"Sqrt": math.Sqrt, "Floor": math.Floor, "Ceil": math.Ceil, "Neg": func(x float64) float64 { return -x }}
	switch {
	case len(in) == 0:
		return c, false
	case two[n.op] != nil && len(in) == 2:
		f := two[n.op]
		fits(!(whole && n.op == "Div") || !slices.Contains(in[1].whole, 0))
		return combine(func(v []float64) float64 { return f(v[0], v[1]) }, whole || n.op == "Equal", in...), true
	case one[n.op] != nil:
		f := one[n.op]
		return combine(func(v []float64) float64 { return f(v[0]) }, whole, in[0]), true
	}
	switch n.op {
	case "Identity":
		return in[0], true
	case "Clip":
		limits := []constant{{v: []float32{float32(math.Inf(-1))}}, {v: []float32{float32(math.Inf(1))}}}
		fits(len(in) <= 3)
		for i, v := range in[1:] {
			if v.len() > 0 {
				limits[i] = v
			}
		}
		return combine(func(v []float64) float64 { return min(max(v[0], v[1]), v[2]) }, in[0].whole != nil, in[0], limits[0], limits[1]), true
	case "Cast":
		if to := int(n.int("to", float32Type)); to == float32Type {
			return combine(func(v []float64) float64 { return v[0] }, false, in[0]), true
		} else if to == int64Type || to == boolType && whole {
			return combine(func(v []float64) float64 { return math.Trunc(v[0]) }, true, in[0]), true
		}
	case "Shape":
		return shapeOf(part(n, in[0].dims)...), true
	case "Reshape", "Flatten", "Squeeze", "Unsqueeze":
		in[0].dims = l.newDims(n, in[0].dims)
		return in[0], true
	case "Expand":
		target := constant{dims: in[1].shape(), whole: []int64{0}}
		fits(elements(target.dims) <= mostComputed)
		target.whole = make([]int64, elements(target.dims))
		return combine(func(v []float64) float64 { return v[0] }, in[0].whole != nil, in[0], target), true
	case "Where":
		return combine(func(v []float64) float64 {
			if v[0] != 0 {
				return v[1]
			}
			return v[2]
		}, in[1].whole != nil, in...), true
	case "ConstantOfShape":
		c = constant{dims: in[0].shape()}
		count := elements(c.dims)
		fits(count <= mostComputed)
		if a := n.get("value"); a == nil {
			c.v = make([]float32, count)
		} else if v := a.t.int64s(); len(v) == 1 {
			c.whole = slices.Repeat(v, count)
		} else {
			v, err := a.t.float32s(a.t.raw)
			fits(err == nil && len(v) == 1)
			c.v = slices.Repeat(v, count)
		}
		return c, true
	case "Range":
		fits(len(in) == 3 && whole && in[0].len() == 1 && in[1].len() == 1 && in[2].len() == 1 && in[2].whole[0] == 1 && in[1].whole[0]-in[0].whole[0] <= mostComputed)
		c.whole = []int64{}
		for v := in[0].whole[0]; v < in[1].whole[0]; v++ {
			c.whole = append(c.whole, v)
		}
		c.dims = []int{len(c.whole)}
		return c, true
	case "CumSum":
		fits(len(in) == 2 && in[0].whole != nil && len(in[0].dims) == 1)
		list, sum := slices.Clone(in[0].whole), int64(0)
		if n.int("reverse", 0) != 0 {
			slices.Reverse(list)
		}
		for i, v := range list {
			if sum += v; n.int("exclusive", 0) == 0 {
				list[i] = sum
			} else {
				list[i] = sum - v
			}
		}
		if n.int("reverse", 0) != 0 {
			slices.Reverse(list)
		}
		return constant{dims: in[0].dims, whole: list}, true
	case "Gather":
		fits(len(in) == 2 && n.int("axis", 0) == 0 && len(in[0].dims) > 0 && in[1].whole != nil)
		d := in[0].dims
		row := elements(d[1:])
		c.dims = slices.Concat(in[1].dims, d[1:])
		fits(elements(c.dims) <= mostComputed)
		for _, i := range in[1].whole {
			if i < 0 {
				i += int64(d[0])
			}
			fits(i >= 0 && i < int64(d[0]))
			if at := int(i) * row; in[0].whole != nil {
				c.whole = append(c.whole, in[0].whole[at:at+row]...)
			} else {
				c.v = append(c.v, in[0].v[at:at+row]...)
			}
		}
		return c, true
	case "Slice":
		if c, ok := in[0].backwards(in[1:]); ok {
			return c, true
		}
		from, count, apart := l.ranges(n, in[0].dims)
		if slices.Equal(count, in[0].dims) {
			return in[0], true
		}
		fits(len(from) == 1 && apart[0] == 1 && in[0].whole != nil)
		return constant{dims: count, whole: in[0].whole[from[0] : from[0]+count[0]]}, true
	case "Concat":
		c = constant{dims: []int{0}}
		if whole {
			c.whole = []int64{}
		}
		for _, v := range in {
			fits((v.whole != nil) == whole && len(v.dims) == 1)
			c.whole, c.v, c.dims[0] = append(c.whole, v.whole...), append(c.v, v.v...), c.dims[0]+v.dims[0]
		}
		return c, true
	case "Transpose":
		d, perm := in[0].dims, []int{}
		if a := n.get("perm"); a != nil {
			perm = ints(a.ints)
		} else {
			for i := range d {
				perm = append(perm, len(d)-1-i)
			}
		}
		fits(len(perm) == len(d))
		// The strides of the axes, in their new order.
		strides := make([]int, len(d))
		for i, j := range perm {
			fits(j >= 0 && j < len(d) && !slices.Contains(perm[:i], j))
			c.dims, strides[i] = append(c.dims, d[j]), elements(d[j+1:])
		}
		for i := range in[0].len() {
			from, rest := 0, i
			for k := len(d) - 1; k >= 0; k-- {
				from += rest % c.dims[k] * strides[k]
				rest /= c.dims[k]
			}
			if in[0].whole != nil {
				c.whole = append(c.whole, in[0].whole[from])
			} else {
				c.v = append(c.v, in[0].v[from])
			}
		}
		return c, true
	}
	return c, false
}

// backwards are rows of whole numbers in the other order, where that is what the other inputs of a Slice say: from -1
// to before the first, along axis 0, by -1. ok is false for others.
func (c constant) backwards(in []constant) (rows constant, ok bool) {
	if len(in) != 4 || len(c.dims) == 0 || c.whole == nil {
		return rows, false
	}
	for i, want := range []int64{-1, int64(-c.dims[0] - 1), 0, -1} {
		if v := in[i].whole; len(v) != 1 || v[0] != want && !(i == 1 && v[0] < want) {
			return rows, false
		}
	}
	rows = constant{dims: c.dims, whole: []int64{}}
	for rest, row := c.whole, elements(c.dims[1:]); len(rest) > 0 && row > 0; rest = rest[:len(rest)-row] {
		rows.whole = append(rows.whole, rest[len(rest)-row:]...)
	}
	return rows, true
}

// part is what a Shape says of dims.
func part(n *node, dims []int) []int {
	from, to := n.int("start", 0), n.int("end", int64(len(dims)))
	place := func(v int64) int {
		if v < 0 {
			v += int64(len(dims))
		}
		return int(min(max(v, 0), int64(len(dims))))
	}
	return dims[place(from):max(place(from), place(to))]
}
