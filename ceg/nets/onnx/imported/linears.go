package imported

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
)

// Linears implements nets.Adaptable: the two-dimensional parameters that only MatMul or Gemm
// use, directly or through a Transpose, consistently as [in, out] or [out, in].
func (t *Trainable) Linears() []nets.Matrix {
	turned := map[string]string{} // parameters by the name of their transpose
	uses := map[string]map[string]bool{}
	use := func(s, how string) {
		if uses[s] == nil {
			uses[s] = map[string]bool{}
		}
		uses[s][how] = true
	}
	const inOut, outIn, other = "in, out", "out, in", "other"
	for _, n := range t.graph.nodes {
		if perm := n.get("perm"); n.op == "Transpose" && t.flat(n.in[0]) && (perm == nil || slices.Equal(perm.ints, []int64{1, 0})) {
			turned[n.out[0]] = n.in[0]
			continue
		}
		for i, s := range n.in {
			how := other
			switch {
			case n.op == "MatMul" && i == 1, n.op == "Gemm" && i == 1 && n.int("transB", 0) == 0:
				how = inOut
			case n.op == "MatMul", n.op == "Gemm" && i == 1:
				how = outIn
			}
			if of, ok := turned[s]; ok {
				s = of
				if how != other {
					how = map[string]string{inOut: outIn, outIn: inOut}[how]
				}
			}
			if t.flat(s) {
				use(s, how)
			}
		}
	}
	var list []nets.Matrix
	for _, p := range t.params {
		if u := uses[p.Name[len(Prefix):]]; len(u) == 1 && !u[other] {
			list = append(list, nets.Matrix{Name: p.Name, OutIn: u[outIn]})
		}
	}
	return list
}

// flat reports whether a value is a parameter of two axes.
func (t *Trainable) flat(s string) bool {
	w := t.tensors[s]
	return w != nil && len(w.dims) == 2
}
