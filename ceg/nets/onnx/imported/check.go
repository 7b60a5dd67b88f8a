package imported

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/gomlx/gomlx/core/graph"
)

// Limits for the content of a file.
const (
	mostImages = 4096
	mostSide   = 4096
	mostPixels = 1 << 25 // pixels of a batch
	mostWindow = 255     // side of a pooling window
	mostRank   = 8
	mostLabels = 10 // labels in an equation of Einsum
)

// check refuses files that no engine can compute, as far as their constants show: those that crash
// an engine, and those that Go computes where ONNX Runtime reports an error. Sizes that depend on
// the images are limited by the computing process.
func (n *Network) check() error {
	d := n.input.dims
	if slices.Max(d) > 0 && (d[0] > mostImages || slices.Max(d[1:]) > mostSide) || int64(n.Batch)*int64(n.Size)*int64(n.Size) > mostPixels {
		return fmt.Errorf("its input %s is too large: want at most %d images of %d pixels a side, and %d pixels in all", n.graph.describe(n.graph.inputs), mostImages, mostSide, mostPixels)
	}
	c := constants{}
	for _, t := range n.graph.weights {
		c[t.name] = t
	}
	if err := c.check(n.graph.nodes); err != nil {
		return err
	}
	for _, x := range n.graph.nodes {
		if takesIndices[x.op] && len(x.in) > 1 && c.integers(x, 1) != nil && c.dims(x, 0) == nil {
			n.indexed = append(n.indexed, indexed{x, c[x.in[1]]})
		}
	}
	return nil
}

// takesIndices are the operations whose second input has indices into the first.
var takesIndices = map[string]bool{"Gather": true, "GatherElements": true, "ScatterElements": true, "GatherND": true, "ScatterND": true}

// indexed is a node that takes constant indices of a value whose shape a graph knows. GoMLX
// replaces indices that are out of range.
type indexed struct {
	node    *node
	indices *tensor
}

// values names the tensors that are read at constant indices.
func (n *Network) values() (names []string) {
	for _, x := range n.indexed {
		names = append(names, x.node.in[0])
	}
	return names
}

// checkIndices panics about indices that are out of range of values, those of [Network.values].
func (n *Network) checkIndices(values []*graph.Node) {
	for i, x := range n.indexed {
		var dims []int64
		for _, d := range values[i].Shape().Dimensions {
			dims = append(dims, int64(d))
		}
		if err := x.node.checkIndices(dims, x.indices.dims, x.indices.integers()); err != nil {
			panic(fmt.Errorf("node %q (%s): %w", x.node.name, x.node.op, err))
		}
	}
}

// constants are the tensors of a graph that do not depend on images, by name.
type constants map[string]*tensor

// check checks nodes and the graphs inside of them.
func (c constants) check(nodes []*node) error {
	for _, x := range nodes {
		if a := x.get("value"); a != nil && x.op == "Constant" && a.t != nil && len(x.out) > 0 {
			c[x.out[0]] = a.t
		}
		if x.op == "Identity" && len(x.in) > 0 && len(x.out) > 0 && c[x.in[0]] != nil {
			c[x.out[0]] = c[x.in[0]]
		}
		if err := c.node(x); err != nil {
			return fmt.Errorf("node %q (%s): %w", x.name, x.op, err)
		}
		for _, a := range x.attrs {
			for _, g := range a.graphs {
				if err := c.check(g.nodes); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// integers returns an input's constant integers, or nil.
func (c constants) integers(n *node, input int) []int64 {
	if input >= len(n.in) {
		return nil
	}
	return c[n.in[input]].integers()
}

// dims returns the shape of a constant input, or nil.
func (c constants) dims(n *node, input int) []int64 {
	if input < len(n.in) && c[n.in[input]] != nil {
		return c[n.in[input]].dims
	}
	return nil
}

func (c constants) node(n *node) error {
	for _, a := range n.attrs {
		if a.name == "axis" && (a.i < -mostRank || a.i >= mostRank) {
			return fmt.Errorf("axis %d is out of range", a.i)
		}
		if a.name == "axes" && slices.ContainsFunc(a.ints, func(v int64) bool { return v < -mostRank || v >= mostRank }) {
			return fmt.Errorf("axes %v are out of range", a.ints)
		}
	}
	switch n.op {
	case "Conv", "ConvTranspose", "MaxPool", "AveragePool", "LpPool":
		return n.checkWindow()
	case "Div", "Mod":
		divisor := c.integers(n, 1)
		if slices.Contains(divisor, 0) {
			return fmt.Errorf("it divides integers by 0")
		}
		if v := c.integers(n, 0); slices.Contains(divisor, -1) && (slices.Contains(v, math.MinInt64) || slices.Contains(v, math.MinInt32)) {
			return fmt.Errorf("it divides the smallest integer by -1")
		}
	case "Split":
		sizes := c.integers(n, 1)
		if a := n.get("split"); a != nil {
			sizes = a.ints
		}
		if slices.ContainsFunc(sizes, func(v int64) bool { return v < 0 }) {
			return fmt.Errorf("split is %v, want no negative sizes", sizes)
		}
	case "Gather", "GatherElements", "ScatterElements", "GatherND", "ScatterND":
		if d := c.dims(n, 0); d != nil {
			return n.checkIndices(d, c.dims(n, 1), c.integers(n, 1))
		}
	case "Range":
		from, to, step := c.integers(n, 0), c.integers(n, 1), c.integers(n, 2)
		if len(step) == 1 && step[0] == 0 {
			return fmt.Errorf("its step is 0")
		}
		if len(from) == 1 && len(to) == 1 && len(step) == 1 && (float64(to[0])-float64(from[0]))/float64(step[0]) > largest {
			return fmt.Errorf("from %d to %d by %d is too long", from[0], to[0], step[0])
		}
	case "ConstantOfShape":
		return fits(c.integers(n, 0), 0)
	case "Expand", "Tile":
		return fits(c.integers(n, 1), 0)
	case "Reshape":
		return fits(c.integers(n, 1), -1)
	case "Resize", "Upsample":
		return fits(c.integers(n, 3), 0)
	case "Pad":
		pads := c.integers(n, 1)
		if a := n.get("pads"); a != nil {
			pads = a.ints
		}
		if slices.ContainsFunc(pads, func(v int64) bool { return v > 8*mostSide || v < -8*mostSide }) {
			return fmt.Errorf("pads are %v, want at most %d", pads, 8*mostSide)
		}
	case "Einsum":
		labels := map[rune]bool{}
		for _, r := range n.text("equation", "") {
			if unicode.IsLetter(r) {
				labels[r] = true
			}
		}
		if len(labels) > mostLabels || len(n.in) > mostRank {
			return fmt.Errorf("%d inputs with %d labels are not taken, want at most %d and %d", len(n.in), len(labels), mostRank, mostLabels)
		}
	}
	return nil
}

// checkIndices checks the indices of a node against the shape of the indexed value.
func (n *node) checkIndices(d, of, indices []int64) error {
	if strings.HasSuffix(n.op, "ND") {
		if len(of) > 0 && n.int("batch_dims", 0) == 0 && of[len(of)-1] <= int64(len(d)) {
			return within(indices, d[:of[len(of)-1]])
		}
		return nil
	}
	axis := n.int("axis", 0)
	if axis < 0 {
		axis += int64(len(d))
	}
	if axis >= 0 && axis < int64(len(d)) {
		return within(indices, d[axis:axis+1])
	}
	return nil
}

// checkWindow checks convolutions and pooling.
func (n *node) checkWindow() error {
	if group := n.int("group", 1); group < 1 {
		return fmt.Errorf("group is %d, want 1 or more", group)
	}
	for _, name := range []string{"dilations", "strides", "kernel_shape"} {
		if a := n.get(name); a != nil && slices.ContainsFunc(a.ints, func(v int64) bool { return v < 1 || v > math.MaxInt32 }) {
			return fmt.Errorf("%s are %v, want 1 or more", name, a.ints)
		}
	}
	if a := n.get("kernel_shape"); a != nil && len(a.ints) > 0 && slices.Max(a.ints) > mostWindow {
		return fmt.Errorf("kernel_shape is %v, want at most %d a side", a.ints, mostWindow)
	}
	if a := n.get("pads"); a != nil && slices.ContainsFunc(a.ints, func(v int64) bool { return v < 0 || v > mostSide }) {
		return fmt.Errorf("pads are %v, want 0 to %d", a.ints, mostSide)
	}
	return nil
}

// within checks index rows against the sizes of the axes. Negative indices count from the end.
func within(indices, sizes []int64) error {
	for i, v := range indices {
		if d := sizes[i%len(sizes)]; v < -d || v >= d {
			return fmt.Errorf("index %d is out of range of %d", v, d)
		}
	}
	return nil
}

// fits checks the sizes of a tensor: each is at least least, and their product is not too large.
func fits(sizes []int64, least int64) error {
	count := 1.0
	for _, v := range sizes {
		if v < least {
			return fmt.Errorf("a shape %v is not taken", sizes)
		}
		count *= max(float64(v), 1)
	}
	if count > largest {
		return fmt.Errorf("a value of shape %v is too large", sizes)
	}
	return nil
}

// integers returns a tensor's integers, nil if it has another type or is stored outside of the
// file.
func (t *tensor) integers() []int64 {
	if t == nil || t.kind != int32Type || t.outside {
		return t.int64s()
	}
	list := slices.Clone(t.ints)
	for raw := t.raw; len(raw) >= 4; raw = raw[4:] {
		list = append(list, int64(int32(binary.LittleEndian.Uint32(raw))))
	}
	return list
}
