package imported

import "github.com/ledg-go/ledg/datasets/seed"

// of is a Constant of normal values.
func of(name string, dims ...int64) *node {
	r, n := seed.New(1, name), int64(1)
	for _, d := range dims {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	t := floats(v)
	t.dims = dims
	return &node{op: "Constant", out: []string{name}, attrs: []attr{{name: "value", kind: tensorAttr, t: t}}}
}

// single is a Constant of one number.
func single(name string, v float32) *node {
	t := floats([]float32{v})
	t.dims = nil
	return &node{op: "Constant", out: []string{name}, attrs: []attr{{name: "value", kind: tensorAttr, t: t}}}
}

func do(op, out string, in []string, attrs ...attr) *node {
	return &node{op: op, in: in, out: []string{out}, attrs: attrs}
}

func list(name string, v ...int64) attr { return attr{name: name, kind: intsAttr, ints: v} }
