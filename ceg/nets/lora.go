package nets

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gomlx/gomlx/core/graph"
)

// Adaptable is a graph with linear layers to which low-rank adapters can be added.
type Adaptable interface {
	Graph
	// Linears lists the matrices that only linear layers use.
	Linears() []Matrix
}

// Matrix is a parameter of linear layers, [in, out], or [out, in] as in PyTorch.
type Matrix struct {
	Name  string
	OutIn bool
}

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

// adapted is a graph with adapters, which alone learn.
type adapted struct {
	Graph
	lora    LoRA
	on      []Matrix
	params  []Param
	dim     int
	learnt  int // numbers of adapters
	without int // numbers that learn without them
}

// The names of the adapters of a matrix are its own and these.
const (
	downName = ".lora_A"
	upName   = ".lora_B"
)

// Adapt returns a backbone for images of the given size with adapters on all matrices of linear
// layers whose sides both exceed the rank. (The reference adapts only queries and values, which
// files do not identify.) Everything else is frozen, and BatchNorm uses fixed running
// statistics.
func (l LoRA) Adapt(b Backbone, size int) (Backbone, error) {
	if l.Rank == 0 {
		return b, nil
	}
	g, ok := b.Graph.(Adaptable)
	if !ok {
		return b, fmt.Errorf("network %s is not from a file: adapters go on the linear layers of those alone", b.Name)
	}
	params, dim, err := g.Params(size)
	if err != nil {
		return b, err
	}
	a := &adapted{Graph: g, lora: l, dim: dim}
	linears := map[string]Matrix{}
	for _, m := range g.Linears() {
		linears[m.Name] = m
	}
	for _, p := range params {
		if p.Trained() {
			a.without += p.Size()
		}
		p.Fixed = true
		a.params = append(a.params, p)
		m, ok := linears[p.Name]
		if !ok || min(p.Shape[0], p.Shape[1]) <= l.Rank {
			continue
		}
		in, out := m.sides(p.Shape)
		down := Param{Name: p.Name + downName, Shape: []int{l.Rank, in}, Kind: LinearWeight, FanIn: in, Added: true}
		up := Param{Name: p.Name + upName, Shape: []int{out, l.Rank}, Kind: Normal, Added: true}
		a.on, a.params, a.learnt = append(a.on, m), append(a.params, down, up), a.learnt+down.Size()+up.Size()
	}
	if len(a.on) == 0 {
		return b, fmt.Errorf("network %s has no linear layers, products with a weight of two axes, of more than %d inputs and outputs", b.Name, l.Rank)
	}
	b.Graph, b.Still = a, true
	return b, nil
}

// sides are the dimensions of a matrix with a shape.
func (m Matrix) sides(shape []int) (in, out int) {
	if m.OutIn {
		return shape[1], shape[0]
	}
	return shape[0], shape[1]
}

// Adapters describes a backbone's adapters in a few words; empty without.
func (b Backbone) Adapters() string {
	a, ok := b.Graph.(*adapted)
	if !ok {
		return ""
	}
	return fmt.Sprintf("adapters of rank %d on %d linear layers learn, %d numbers in the place of %d", a.lora.Rank, len(a.on), a.learnt, a.without)
}

// Params implements Graph.
func (a *adapted) Params(size int) ([]Param, int, error) {
	_, _, err := a.Graph.Params(size)
	return a.params, a.dim, err
}

// Build implements Graph. The gradients of A and B follow from the gradient of the summed weight
// through the product.
func (a *adapted) Build(params map[string]*graph.Node, passes []Pass, train bool) Features {
	scale := a.lora.scale()
	merged := maps.Clone(params)
	for _, m := range a.on {
		x, y, axis := params[m.Name+upName], params[m.Name+downName], 0 // [out, rank], [rank, in]
		if !m.OutIn {
			x, y, axis = y, x, 1
		}
		merged[m.Name] = graph.Add(params[m.Name], graph.MulScalar(graph.DotGeneral(x, []int{1 - axis}, nil, y, []int{axis}, nil), scale))
	}
	f := a.Graph.Build(merged, passes, train)
	pull := f.Pull
	f.Pull = func(adjoints []*graph.Node) (map[string]*graph.Node, []*graph.Node) {
		of, images := pull(adjoints)
		grads := map[string]*graph.Node{}
		for _, m := range a.on {
			d, in, out := graph.MulScalar(of[m.Name], scale), 0, 1
			if m.OutIn {
				in, out = 1, 0
			}
			grads[m.Name+downName] = graph.DotGeneral(params[m.Name+upName], []int{0}, nil, d, []int{out}, nil)
			grads[m.Name+upName] = graph.DotGeneral(d, []int{in}, nil, params[m.Name+downName], []int{1}, nil)
		}
		return grads, images
	}
	return f
}

// Merged returns a backbone without adapters, its parameters and their values, with the
// adapters' products added to the adapted matrices. Other parameters, and a backbone without
// adapters, are unchanged.
func Merged(b Backbone, params []Param, values [][]float32) (Backbone, []Param, [][]float32) {
	a, ok := b.Graph.(*adapted)
	if !ok {
		return b, params, values
	}
	at := map[string]int{}
	for i, p := range params {
		at[p.Name] = i
	}
	values = slices.Clone(values)
	for _, m := range a.on {
		i := at[m.Name]
		values[i] = a.lora.add(m, params[i].Shape, values[i], values[at[m.Name+downName]], values[at[m.Name+upName]])
	}
	b.Graph = a.Graph
	var left []Param
	var of [][]float32
	for i, p := range params {
		if !p.Added {
			left, of = append(left, p), append(of, values[i])
		}
	}
	return b, left, of
}

// add returns W + scale * B A, in the layout of W.
func (l LoRA) add(m Matrix, shape []int, w, down, up []float32) []float32 {
	in, out := m.sides(shape)
	sum := slices.Clone(w)
	for o := range out {
		for i := range in {
			v := 0.0
			for r := range l.Rank {
				v += float64(up[o*l.Rank+r]) * float64(down[r*in+i])
			}
			k := i*out + o
			if m.OutIn {
				k = o*in + i
			}
			sum[k] += float32(l.scale() * v)
		}
	}
	return sum
}
