package imported

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg/nets"
)

// LoRA are low-rank adapters (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models",
// 2021; microsoft/LoRA, loralib/layers.py): a layer's matrix W [out, in] is frozen, and W +
// Alpha/Rank * B A is used. A [Rank, in] is initialised from U(+-1/sqrt(in)), PyTorch's
// Kaiming-uniform, and B [out, Rank] with 0, so the initial features are unchanged.
type LoRA struct {
	Rank int
	// Alpha is the scale times Rank; 0 means Rank.
	Alpha float64
}

func (l LoRA) scale() float64 {
	if l.Alpha == 0 {
		return 1
	}
	return l.Alpha / float64(l.Rank)
}

// matrix is a parameter of linear layers, [in, out], or [out, in] as in PyTorch.
type matrix struct {
	name    string
	outIn   bool
	in, out int
}

// linears returns the two-dimensional parameters that only MatMul or Gemm use, directly or
// through a Transpose, consistently as [in, out] or [out, in].
func (t *Trainable) linears() (list []matrix) {
	flat := func(s string) bool { return t.weights[s] != nil && len(t.weights[s].Dims) == 2 }
	turned := map[string]string{} // parameters by the name of their transpose
	type use struct{ inOut, outIn, other bool }
	uses := map[string]use{}
	for _, n := range t.file.Graph.Nodes {
		if perm := n.Get("perm").Ints; n.Op == "Transpose" && flat(n.In[0]) && (perm == nil || slices.Equal(perm, []int64{1, 0})) {
			turned[n.Out[0]] = n.In[0]
			continue
		}
		for i, s := range n.In {
			product := n.Op == "MatMul" || n.Op == "Gemm" && i == 1
			swapped := n.Op == "MatMul" && i == 0 || n.Op == "Gemm" && n.Get("transB").Int != 0
			if of, ok := turned[s]; ok {
				s, swapped = of, !swapped
			}
			if flat(s) {
				u := uses[s]
				uses[s] = use{u.inOut || product && !swapped, u.outIn || product && swapped, u.other || !product}
			}
		}
	}
	for _, p := range t.params {
		if u := uses[p.Name[len(Prefix):]]; !u.other && u.inOut != u.outIn {
			m := matrix{p.Name, u.outIn, p.Shape[0], p.Shape[1]}
			if m.outIn {
				m.in, m.out = m.out, m.in
			}
			list = append(list, m)
		}
	}
	return list
}

// Adapt returns a backbone with adapters on all matrices of linear layers whose sides both exceed
// the rank. (The reference adapts only queries and values, which files do not identify.)
// Everything else is frozen.
func (l LoRA) Adapt(b nets.Backbone) (nets.Backbone, error) {
	t, ok := b.Graph.(*Trainable)
	if !ok {
		return b, fmt.Errorf("network %s is not from a file: adapters go on the linear layers of those alone", b.Name)
	}
	a, without, learnt := *t, 0, 0
	a.lora, a.params = l, nil
	linears := t.linears()
	for _, p := range t.params {
		without += p.Size()
		p.Fixed = true
		a.params = append(a.params, p)
		i := slices.IndexFunc(linears, func(m matrix) bool { return m.name == p.Name && min(m.in, m.out) > l.Rank })
		if i < 0 {
			continue
		}
		m := linears[i]
		down := nets.Param{Name: m.down(), Shape: []int{l.Rank, m.in}, Kind: nets.LinearWeight, FanIn: m.in, Added: true}
		up := nets.Param{Name: m.up(), Shape: []int{m.out, l.Rank}, Kind: nets.Normal, Added: true}
		a.adapted, a.params, learnt = append(a.adapted, m), append(a.params, down, up), learnt+down.Size()+up.Size()
	}
	if len(a.adapted) == 0 {
		return b, fmt.Errorf("network %s has no linear layers, products with a weight of two axes, of more than %d inputs and outputs", b.Name, l.Rank)
	}
	b.Graph, b.Still = &a, true
	b.Adapters = fmt.Sprintf("adapters of rank %d on %d linear layers learn, %d numbers in the place of %d", l.Rank, len(a.adapted), learnt, without)
	return b, nil
}

func (m matrix) down() string { return m.name + ".lora_A" }
func (m matrix) up() string   { return m.name + ".lora_B" }

// merge returns parameters with the adapters' products added to the adapted matrices.
func (t *Trainable) merge(params map[string]*graph.Node) map[string]*graph.Node {
	merged := maps.Clone(params)
	for _, m := range t.adapted {
		x, y, axis := params[m.up()], params[m.down()], 0 // [out, rank], [rank, in]
		if !m.outIn {
			x, y, axis = y, x, 1
		}
		product := graph.DotGeneral(x, []int{1 - axis}, nil, y, []int{axis}, nil)
		merged[m.name] = graph.Add(params[m.name], graph.MulScalar(product, t.lora.scale()))
	}
	return merged
}

// Merged returns a backbone without adapters, its parameters and their values, with the
// adapters' products added to the adapted matrices. Other parameters, and a backbone without
// adapters, are unchanged.
func Merged(b nets.Backbone, params []nets.Param, values [][]float32) (nets.Backbone, []nets.Param, [][]float32) {
	t, ok := b.Graph.(*Trainable)
	if !ok || t.adapted == nil {
		return b, params, values
	}
	at := map[string]int{}
	for i, p := range params {
		at[p.Name] = i
	}
	values = slices.Clone(values)
	for _, m := range t.adapted {
		i := at[m.name]
		values[i] = t.lora.add(m, values[i], values[at[m.down()]], values[at[m.up()]])
	}
	bare := *t
	bare.adapted, bare.params = nil, nil
	var left []nets.Param
	var of [][]float32
	for i, p := range params {
		if !p.Added {
			left, of = append(left, p), append(of, values[i])
		}
	}
	for _, p := range t.params {
		if p.Fixed = false; !p.Added {
			bare.params = append(bare.params, p)
		}
	}
	b.Graph, b.Adapters = &bare, ""
	return b, left, of
}

// add returns W + scale * B A, in the layout of W.
func (l LoRA) add(m matrix, w, down, up []float32) []float32 {
	sum := slices.Clone(w)
	for o := range m.out {
		for i := range m.in {
			v := 0.0
			for r := range l.Rank {
				v += float64(up[o*l.Rank+r]) * float64(down[r*m.in+i])
			}
			k := i*m.out + o
			if m.outIn {
				k = o*m.in + i
			}
			sum[k] += float32(l.scale() * v)
		}
	}
	return sum
}
