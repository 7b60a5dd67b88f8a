package imported

import (
	"slices"

	"github.com/ledg-go/ledg/ceg/nets"
)

// ONNX implements nets.Graph: the file's own nodes, in evaluation mode. All names have the Prefix.
func (t *Trainable) ONNX(input string) (nets.ONNX, error) {
	w := &rewriter{}
	out := nets.ONNX{Opset: t.opset}
	x := input
	if t.last {
		x = w.transpose(x, 0, 2, 3, 1)
	}
	renamed := func(names []string) []string {
		names = slices.Clone(names)
		for i, s := range names {
			if s == t.input {
				names[i] = x
			} else if s != "" {
				names[i] = Prefix + s
			}
		}
		return names
	}
	for _, of := range t.file.Graph.Nodes {
		n := *of
		n.In, n.Out, n.Name = renamed(n.In), renamed(n.Out), Prefix+n.Name
		if !own(n.Domain) && !slices.Contains(out.Domains, n.Domain) {
			out.Domains = append(out.Domains, n.Domain)
		}
		w.nodes = append(w.nodes, &n)
	}
	out.Output = t.pooled(w, renamed([]string{t.Output})[0])
	out.Nodes = w.nodes
	for _, c := range t.file.Graph.Weights {
		if t.weights[c.Name] == nil {
			c := *c
			c.Name = Prefix + c.Name
			out.Constants = append(out.Constants, &c)
		}
	}
	return out, nil
}

// pooled adds nodes that pool the network's output to features.
func (t *Trainable) pooled(w *rewriter, x string) string {
	of := t.taking
	switch {
	case of.axes == nil:
		return x
	case of.axes[0] == 1 && len(of.axes) == 2:
		x = w.transpose(x, 0, 3, 1, 2)
	case of.axes[0] == 1:
		if of.to-of.from < t.tokens {
			x = w.slice(x, []int64{int64(of.from)}, []int64{int64(of.to)}, []int64{1}, []int64{1})
		}
		x = w.transpose(x, 0, 2, 1)
	}
	return w.op("GlobalAveragePool", []string{x})
}
