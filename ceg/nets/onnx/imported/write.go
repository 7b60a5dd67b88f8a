package imported

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/datasets"
)

// ONNX implements nets.Graph: the file's own nodes, without the changes for onnx-gomlx. All
// names have the Prefix, and float16 values are float32.
func (t *Trainable) ONNX(input string) (nets.ONNX, error) {
	n := t.evaluated()
	g := n.graph
	g.wide()
	w := &writer{mender: &mender{content: g, added: rewritten}, of: t}
	x := input
	old := g.nodes
	g.nodes = nil
	if n.last {
		x = w.turned(x, 0, 2, 3, 1)
	}
	name := func(s string) string {
		switch s {
		case "":
			return ""
		case n.input.name:
			return x
		}
		return Prefix + s
	}
	out := nets.ONNX{Opset: g.opset}
	for _, m := range old {
		for _, list := range [][]string{m.in, m.out} {
			for i, s := range list {
				list[i] = name(s)
			}
		}
		m.name = Prefix + m.name
		if m.domain != "" && m.domain != "ai.onnx" && !slices.Contains(out.Domains, m.domain) {
			out.Domains = append(out.Domains, m.domain)
		}
	}
	g.nodes = append(g.nodes, old...)
	var err error
	if out.Output, err = w.pool(name(t.Output)); err != nil {
		return out, fmt.Errorf("%s: %w", t.Path, err)
	}
	used := g.used()
	for _, m := range g.nodes {
		if m.op == "Constant" && !used[m.out[0]] {
			continue // such as Dropout's rate
		}
		out.Nodes = append(out.Nodes, m.encode())
	}
	for _, c := range g.weights {
		if t.tensors[c.name] != nil {
			continue
		}
		raw, err := t.bytes(c)
		if err != nil {
			return out, err
		}
		c := *c
		c.name, c.raw, c.outside = Prefix+c.name, raw, false
		var m message
		c.head(&m)
		c.body(&m)
		out.Constants = append(out.Constants, m)
	}
	return out, nil
}

// wide converts half-precision values of a network, and casts to them, to float32.
func (g *content) wide() {
	for _, w := range g.tensors() {
		w.widen()
	}
	for _, n := range g.nodes {
		if a := n.get("to"); n.op == "Cast" && a != nil && (a.i == float16Type || a.i == bfloat16Type) {
			a.i = float32Type
		}
	}
}

// writer adds nodes that pool the network's output to features, like [pool].
type writer struct {
	*mender
	of *Trainable
}

// turned adds a Transpose.
func (w *writer) turned(x string, perm ...int64) string {
	out := w.op("Transpose", x)
	w.nodes[len(w.nodes)-1].attrs = permuted(perm...)
	return out
}

func (w *writer) pool(x string) (string, error) {
	d := w.of.shape
	if len(d) == 4 {
		if d[2] == d[3] && (d[1] != d[2] || d[2] == 1) {
			return w.op("GlobalAveragePool", x), nil
		}
		return w.op("GlobalAveragePool", w.turned(x, 0, 3, 1, 2)), nil
	}
	if len(d) == 2 {
		return x, nil
	}
	if w.of.Pool != datasets.MeanToken && w.opset < 10 {
		return "", fmt.Errorf("tokens of a network of opset %d are not written: export it with opset 13 or later", w.opset)
	}
	patches := int64(1) // patches of a square, which come last
	for ; (patches+1)*(patches+1) <= int64(d[1]); patches++ {
	}
	first := int64(d[1]) - patches*patches
	switch w.of.Pool {
	case datasets.ClassToken:
		x = w.op("Slice", x, w.integers([]int64{0}), w.integers([]int64{1}), w.integers([]int64{1}))
	case datasets.PatchTokens:
		x = w.op("Slice", x, w.integers([]int64{first}), w.integers([]int64{int64(d[1])}), w.integers([]int64{1}))
	}
	return w.op("GlobalAveragePool", w.turned(x, 0, 2, 1)), nil
}
