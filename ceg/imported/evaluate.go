package imported

import (
	"math"
	"slices"
)

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
