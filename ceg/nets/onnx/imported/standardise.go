package imported

import "slices"

// standardised is the first number of nodes that [content.standardise] adds, between [rewritten]
// and [resizes].
const standardised = 2 * rewritten

// standardise rewrites, in training, each BatchNormalization that depends only on weights.
// PyTorch's older exporter writes weight standardisation in this form (Qiao et al., Micro-Batch
// Training with Batch-Channel Normalization and Weight Standardization, 2019; timm's StdConv2d and
// ScaledStdConv2d).
func (g *content) standardise(output string) {
	varies := map[string]bool{}
	for _, v := range g.inputs {
		varies[v.name] = true
	}
	m := &mender{content: g, added: standardised}
	old := g.nodes
	g.nodes = nil
	for _, n := range old {
		switch {
		case slices.ContainsFunc(n.needs(), func(s string) bool { return varies[s] }):
			for _, s := range n.out {
				varies[s] = s != ""
			}
		case n.op == "BatchNormalization" && n.int("training_mode", 0) == 1 && len(n.in) == 5:
			m.standardise(n)
		}
		g.nodes = append(g.nodes, n)
	}
	if m.added == standardised {
		return
	}
	// The nodes that computed running statistics are unused now.
	used, nodes := map[string]bool{output: true}, []*node{}
	for _, n := range slices.Backward(g.nodes) {
		if slices.ContainsFunc(n.out, func(s string) bool { return used[s] }) {
			nodes = append(nodes, n)
			for _, s := range n.needs() {
				used[s] = true
			}
		}
	}
	slices.Reverse(nodes)
	g.nodes = nodes
}

// standardise writes a BatchNormalization of a value [n, channels, ...] with the mean and variance
// of its channels, in operations that all versions of the format have.
func (m *mender) standardise(n *node) {
	x, epsilon := n.in[0], n.float("epsilon", 1e-5)
	mean := func(x string) string {
		axes := []int64{0, 2}
		if m.opset >= 18 {
			return m.op("ReduceMean", x, m.integers(axes))
		}
		mean := m.op("ReduceMean", x)
		m.nodes[len(m.nodes)-1].attrs = []attr{{name: "axes", kind: intsAttr, ints: axes}}
		return mean
	}
	column := func(x string) string { return m.op("Reshape", x, m.integers([]int64{-1, 1})) }
	lines := m.op("Reshape", x, m.integers([]int64{0, 0, -1}))
	off := m.op("Sub", lines, mean(lines))
	deviation := m.op("Sqrt", m.op("Add", mean(m.op("Mul", off, off)), m.number(epsilon)))
	y := m.op("Add", m.op("Mul", m.op("Div", off, deviation), column(n.in[1])), column(n.in[2]))
	n.become("Reshape", y, m.op("Shape", x))
	n.out = n.out[:1]
}
