package imported

import (
	"fmt"
	"slices"
)

// Bounds of what a file may ask for.
const (
	mostImages = 4096
	mostSide   = 4096
	mostWindow = 255 // side of a pooling window
)

// check refuses nodes whose attributes no engine can compute with, and sizes that no image has.
func (n *Network) check() error {
	if d := n.input.dims; slices.Max(d) > 0 && (d[0] > mostImages || slices.Max(d[1:]) > mostSide) {
		return fmt.Errorf("its input %s is too large: want at most %d images of %d pixels a side", n.graph.describe(n.graph.inputs), mostImages, mostSide)
	}
	for _, x := range n.graph.nodes {
		if err := x.check(); err != nil {
			return fmt.Errorf("node %q (%s): %w", x.name, x.op, err)
		}
	}
	return nil
}

func (n *node) check() error {
	switch n.op {
	case "Conv", "MaxPool", "AveragePool":
		if group := n.int("group", 1); group < 1 {
			return fmt.Errorf("group is %d, want 1 or more", group)
		}
		for _, name := range []string{"dilations", "strides", "kernel_shape"} {
			if a := n.get(name); a != nil && slices.ContainsFunc(a.ints, func(v int64) bool { return v < 1 }) {
				return fmt.Errorf("%s are %v, want 1 or more", name, a.ints)
			}
		}
		if a := n.get("kernel_shape"); a != nil && n.op != "Conv" && len(a.ints) > 0 && slices.Max(a.ints) > mostWindow {
			return fmt.Errorf("kernel_shape is %v, want at most %d a side", a.ints, mostWindow)
		}
	case "LayerNormalization", "Softmax":
		if axis := n.int("axis", -1); axis < -8 || axis > 7 {
			return fmt.Errorf("axis %d is out of range", axis)
		}
	case "Split":
		if a := n.get("split"); a != nil && slices.ContainsFunc(a.ints, func(v int64) bool { return v < 0 }) {
			return fmt.Errorf("split is %v, want no negative sizes", a.ints)
		}
	}
	return nil
}
