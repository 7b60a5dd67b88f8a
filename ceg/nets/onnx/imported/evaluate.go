package imported

import (
	"math"
	"slices"
)

// evaluate computes the outputs of a node all of whose inputs are constants; ok is false for what is not known.
func (l *layered) evaluate(n *node) (out []constant, ok bool) {
	if n.op != "Split" {
		c, ok := l.output(n)
		return []constant{c}, ok
	}
	c, ok := l.constants[n.in[0]]
	if !ok {
		return nil, false
	}
	i := int(n.int("axis", 0))
	if i < 0 {
		i += len(c.dims)
	}
	fits(i >= 0 && i < len(c.dims))
	from, apart := make([]int, len(c.dims)), slices.Repeat([]int{1}, len(c.dims))
	for _, size := range l.parts(n, c.dims[i]) {
		count := slices.Clone(c.dims)
		count[i] = size
		out = append(out, c.cut(from, count, apart))
		from[i] += size
	}
	return out, true
}

// parts are the sizes of those that a Split makes of an axis.
func (l *layered) parts(n *node, size int) []int {
	parts := slices.Repeat([]int{size / len(n.out)}, len(n.out))
	if len(n.in) == 2 {
		parts = l.constants[n.in[1]].shape()
	}
	sum := 0
	for _, p := range parts {
		fits(p > 0)
		sum += p
	}
	fits(len(parts) == len(n.out) && sum == size)
	return parts
}

// output computes the only output of a node.
func (l *layered) output(n *node) (c constant, ok bool) {
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
		return in[0].cut(from, count, apart), true
	case "Concat":
		return joined(in, int(n.int("axis", 0))), true
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
		return in[0].picked(c.dims, strides, 0), true
	}
	return c, false
}

// picked are some elements of a constant: with which dims, how far apart along each of them, and from which one on.
func (c constant) picked(dims, strides []int, from int) constant {
	out := constant{dims: dims}
	if c.whole != nil {
		out.whole = []int64{}
	}
	n := elements(dims)
	fits(n <= mostComputed)
	for i := range n {
		at, rest := from, i
		for k := len(dims) - 1; k >= 0; k-- {
			at += rest % dims[k] * strides[k]
			rest /= dims[k]
		}
		if c.whole != nil {
			out.whole = append(out.whole, c.whole[at])
		} else {
			out.v = append(out.v, c.v[at])
		}
	}
	return out
}

// cut is a part of a constant: from which element of each axis, how many, and how far apart.
func (c constant) cut(from, count, apart []int) constant {
	strides, first := make([]int, len(count)), 0
	for i := range strides {
		stride := elements(c.dims[i+1:])
		strides[i], first = apart[i]*stride, first+from[i]*stride
	}
	return c.picked(count, strides, first)
}

// joined are constants one after the other along an axis.
func joined(list []constant, axis int) constant {
	first := list[0]
	if axis < 0 {
		axis += len(first.dims)
	}
	fits(axis >= 0 && axis < len(first.dims))
	out := constant{dims: slices.Clone(first.dims)}
	out.dims[axis] = 0
	if first.whole != nil {
		out.whole = []int64{}
	}
	for _, c := range list {
		fits((c.whole != nil) == (first.whole != nil) && len(c.dims) == len(first.dims))
		for i, d := range c.dims {
			fits(i == axis || d == first.dims[i])
		}
		out.dims[axis] += c.dims[axis]
	}
	fits(elements(out.dims) <= mostComputed)
	for o := range elements(first.dims[:axis]) {
		for _, c := range list {
			n := elements(c.dims[axis:])
			if c.whole != nil {
				out.whole = append(out.whole, c.whole[o*n:(o+1)*n]...)
			} else {
				out.v = append(out.v, c.v[o*n:(o+1)*n]...)
			}
		}
	}
	return out
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
