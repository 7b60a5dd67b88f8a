package imported

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/gomlx/compute/dtypes"
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
	switch {
	case slices.Max(d) > 0 && (d[0] > mostImages || slices.Max(d[1:]) > mostSide) || int64(n.Batch)*int64(n.Size)*int64(n.Size) > mostPixels:
		return fmt.Errorf("its input %s is too large: want at most %d images of %d pixels a side, and %d pixels in all", n.graph.describe(n.graph.inputs), mostImages, mostSide, mostPixels)
	case slices.Contains(d, 0):
		return fmt.Errorf("its input %s is empty", n.graph.describe(n.graph.inputs))
	case n.graph.opset < 1:
		return fmt.Errorf("it is of opset %d, want 1 or more", n.graph.opset)
	}
	c := constants{}
	for _, t := range n.graph.weights {
		c[t.name] = t
	}
	if err := c.check(n.graph.nodes); err != nil {
		return err
	}
	if err := checkSignatures(n.graph.nodes, n.graph.opset); err != nil {
		return err
	}
	if err := n.checkTypes(); err != nil {
		return err
	}
	for _, x := range n.graph.nodes {
		l := later{node: *x, dims: c.dims(x, 0)}
		l.in, l.attrs = slices.Clone(x.in), slices.Clone(x.attrs) // which may be mended
		switch {
		case takesIndices[x.op] && len(x.in) > 1:
			if l.indices = c[x.in[1]]; l.indices != nil && l.dims != nil {
				continue // it is checked
			}
		case x.op == "Split":
			l.sizes = c.splits(x)
		case x.op == "BatchNormalization":
			l.sizes = c.dims(x, 1)
		case (x.op == "Expand" || x.op == "Tile" || x.op == "Reshape") && len(x.in) > 1 && c[x.in[1]] == nil:
			l.shape = x.in[1]
		}
		if takesIndices[x.op] || len(l.sizes) > 0 || l.shape != "" {
			n.later = append(n.later, l)
		}
	}
	return nil
}

// takesIndices are the operations whose second input has indices into the first.
var takesIndices = map[string]bool{"Gather": true, "GatherElements": true, "ScatterElements": true, "GatherND": true, "ScatterND": true}

// later is a node that is checked in a graph, where the shapes of all values are known. GoMLX
// replaces indices that are out of range.
type later struct {
	node
	dims    []int64 // shape of its first input if that is constant
	indices *tensor // its indices if they are constant
	shape   string  // the input that is a computed shape
	sizes   []int64 // part sizes of Split, or the number of channels of BatchNormalization
}

// lates returns the nodes to check in a graph, and the names of the values that their checks need.
// It omits nodes whose values no longer exist.
func (n *Network) lates() (list []later, names []string) {
	there := map[string]bool{n.input.name: true}
	for _, t := range n.graph.weights {
		there[t.name] = true
	}
	for _, x := range n.graph.nodes {
		for _, s := range x.out {
			there[s] = true
		}
	}
	for _, l := range n.later {
		var of []string
		switch {
		case l.shape != "":
			of = append(of, l.shape)
		case l.dims == nil:
			of = append(of, l.in[0])
		}
		if takesIndices[l.op] && l.indices == nil {
			of = append(of, l.in[1])
		}
		if !slices.ContainsFunc(of, func(s string) bool { return !there[s] }) {
			list, names = append(list, l), append(names, of...)
		}
	}
	return list, names
}

// checkLater checks nodes by the values that [Network.lates] names, and panics on an error. It
// returns the nodes with computed indices, and for each a flag that is 1 if an index is out of range.
func checkLater(list []later, values []*graph.Node) (computed []later, flags []*graph.Node) {
	for _, l := range list {
		if l.shape != "" {
			if values[0].Rank() != 1 {
				panic(l.error(fmt.Errorf("its shape %s is of shape %v, want a list", l.shape, values[0].Shape())))
			}
			values = values[1:]
			continue
		}
		dims := l.dims
		if dims == nil {
			for _, d := range values[0].Shape().Dimensions {
				dims = append(dims, int64(d))
			}
			values = values[1:]
		}
		var err error
		switch {
		case l.op == "BatchNormalization":
			if len(dims) > 1 && l.sizes[0] != dims[1] {
				err = fmt.Errorf("it is for %d channels, and there are %d", l.sizes[0], dims[1])
			}
		case l.op == "Split":
			err = l.checkSplit(dims)
		case l.indices != nil:
			err = l.checkIndices(dims, l.indices.dims, l.indices.integers())
		default:
			x := values[0]
			values = values[1:]
			if bounds := l.bounds(dims, int64s(x.Shape().Dimensions)); bounds != nil && x.Shape().Size() > 0 {
				computed, flags = append(computed, l), append(flags, outside(x, bounds))
			}
		}
		if err != nil {
			panic(l.error(err))
		}
	}
	return computed, flags
}

func int64s(dims []int) (list []int64) {
	for _, d := range dims {
		list = append(list, int64(d))
	}
	return list
}

// outside returns 1 if an index is out of range, and 0 otherwise. The last axis of x has one index
// for each bound; a single bound is for all.
func outside(x *graph.Node, bounds []int64) *graph.Node {
	x = graph.ConvertDType(x, dtypes.Int64)
	most := graph.Const(x.Graph(), bounds)
	if len(bounds) == 1 {
		most = graph.Reshape(most)
	} else {
		most = graph.ExpandLeftToRank(most, x.Rank())
	}
	wrong := graph.LogicalOr(graph.LessThan(x, graph.Neg(most)), graph.GreaterOrEqual(x, most))
	return graph.ReduceAllMax(graph.ConvertDType(wrong, dtypes.Int32))
}

// errOutside returns an error if a flag of [checkLater] is not 0.
func errOutside(computed []later, flags []int32) error {
	for i, v := range flags {
		if v != 0 {
			return computed[i].error(errors.New("an index is out of range"))
		}
	}
	return nil
}

// error adds the node's name to an error.
func (n *node) error(err error) error { return fmt.Errorf("node %q (%s): %w", n.name, n.op, err) }

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
			return x.error(err)
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
	case "Conv", "ConvTranspose":
		if err := n.checkWindow(); err != nil {
			return err
		}
		return n.checkKernel(c.dims(n, 1), c.dims(n, 2))
	case "MaxPool", "AveragePool", "LpPool":
		return n.checkWindow()
	case "BatchNormalization":
		for i := 2; i < len(n.in); i++ {
			if first, d := c.dims(n, 1), c.dims(n, i); first != nil && d != nil && !slices.Equal(first, d) {
				return fmt.Errorf("%s is of shape %v, and %s of %v", n.in[1], first, n.in[i], d)
			}
		}
	case "Clip":
		for i := 1; i < len(n.in); i++ {
			if t := c[n.in[i]]; t != nil && t.count() != 1 {
				return fmt.Errorf("a bound %s is of shape %v, want one number", n.in[i], t.dims)
			}
		}
	case "Transpose":
		if a := n.get("perm"); a != nil {
			for i, v := range slices.Sorted(slices.Values(a.ints)) {
				if int(v) != i {
					return fmt.Errorf("perm %v is no permutation", a.ints)
				}
			}
		}
	case "Slice":
		for i := 1; i < len(n.in); i++ {
			if t := c[n.in[i]]; t != nil && len(t.dims) != 1 {
				return fmt.Errorf("%s is of shape %v, want a list", n.in[i], t.dims)
			}
		}
		return c.checkSlice(n)
	case "Trilu":
		if t := c[n.in[len(n.in)-1]]; len(n.in) > 1 && t != nil && t.kind != int64Type {
			return fmt.Errorf("its diagonal %s is of type %d, want %d", n.in[1], t.kind, int64Type)
		}
	case "Div", "Mod":
		divisor := c.integers(n, 1)
		if slices.Contains(divisor, 0) {
			return fmt.Errorf("it divides integers by 0")
		}
		if v := c.integers(n, 0); slices.Contains(divisor, -1) && (slices.Contains(v, math.MinInt64) || slices.Contains(v, math.MinInt32)) {
			return fmt.Errorf("it divides the smallest integer by -1")
		}
	case "Split":
		if sizes := c.splits(n); slices.ContainsFunc(sizes, func(v int64) bool { return v < 0 }) {
			return fmt.Errorf("split is %v, want no negative sizes", sizes)
		}
	case "Gather", "GatherElements", "ScatterElements", "GatherND", "ScatterND":
		if d := c.dims(n, 0); d != nil {
			return n.checkIndices(d, c.dims(n, 1), c.integers(n, 1))
		}
	case "Range":
		for _, name := range n.in {
			if t := c[name]; t != nil && len(t.dims) != 0 {
				return fmt.Errorf("%s is of shape %v, want a number", name, t.dims)
			}
		}
		from, to, step := c.integers(n, 0), c.integers(n, 1), c.integers(n, 2)
		if len(step) == 1 && step[0] == 0 {
			return fmt.Errorf("its step is 0")
		}
		if len(from) == 1 && len(to) == 1 && len(step) == 1 && (float64(to[0])-float64(from[0]))/float64(step[0]) > largest {
			return fmt.Errorf("from %d to %d by %d is too long", from[0], to[0], step[0])
		}
	case "ConstantOfShape":
		if a := n.get("value"); a != nil && a.t != nil && a.t.count() != 1 {
			return fmt.Errorf("its value is of shape %v, want one number", a.t.dims)
		}
		return c.fits(n, 0, 0)
	case "Gelu":
		if s := n.text("approximate", "none"); s != "none" && s != "tanh" {
			return fmt.Errorf("approximate is %.40q, want none or tanh", s)
		}
	case "Expand", "Tile":
		return c.fits(n, 1, 0)
	case "Reshape":
		if v := c.integers(n, 1); n.int("allowzero", 0) == 1 && slices.Contains(v, 0) && slices.Contains(v, -1) {
			return fmt.Errorf("a shape %v with allowzero is not supported", v)
		}
		return c.fits(n, 1, -1)
	case "Resize", "Upsample":
		return fits(c.integers(n, 3), 0)
	case "Pad":
		if len(n.in) > 2 && c[n.in[2]] != nil && c[n.in[2]].count() != 1 {
			return fmt.Errorf("its value %s is of shape %v, want a number", n.in[2], c[n.in[2]].dims)
		}
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
			return fmt.Errorf("%d inputs with %d labels are not supported, want at most %d and %d", len(n.in), len(labels), mostRank, mostLabels)
		}
	}
	return nil
}

// splits returns the part sizes of a Split, nil if they are not constant.
func (c constants) splits(n *node) []int64 {
	if a := n.get("split"); a != nil {
		return a.ints
	}
	return c.integers(n, 1)
}

// checkSplit checks the part sizes against the shape of the input.
func (l *later) checkSplit(d []int64) error {
	axis, sum := l.int("axis", 0), int64(0)
	if axis < 0 {
		axis += int64(len(d))
	}
	for _, v := range l.sizes {
		sum += v
	}
	if axis >= 0 && axis < int64(len(d)) && sum != d[axis] {
		return fmt.Errorf("split is %v, and there are %d", l.sizes, d[axis])
	}
	return nil
}

// checkSlice checks the constants of a Slice.
func (c constants) checkSlice(n *node) error {
	from, to, axes, steps := c.integers(n, 1), c.integers(n, 2), c.integers(n, 3), c.integers(n, 4)
	for _, v := range [][]int64{to, axes, steps} {
		if from != nil && v != nil && len(v) != len(from) {
			return fmt.Errorf("from %v to %v along %v by %v are not as many", from, to, axes, steps)
		}
	}
	if axes = slices.Sorted(slices.Values(axes)); len(slices.Compact(slices.Clone(axes))) < len(axes) {
		return fmt.Errorf("axes %v are there twice", axes)
	}
	if slices.Contains(steps, 0) {
		return fmt.Errorf("its step is 0")
	}
	return nil
}

// checkKernel checks the shapes of a convolution's kernel and bias.
func (n *node) checkKernel(kernel, bias []int64) error {
	if len(kernel) < 3 {
		return nil
	}
	if a := n.get("kernel_shape"); a != nil && !slices.Equal(a.ints, kernel[2:]) {
		return fmt.Errorf("kernel_shape is %v, and the kernel's shape %v", a.ints, kernel)
	}
	out := kernel[0]
	if n.op == "ConvTranspose" {
		out = kernel[1] * n.int("group", 1)
	}
	if bias != nil && (len(bias) != 1 || bias[0] != out) {
		return fmt.Errorf("its bias is of shape %v, want [%d]", bias, out)
	}
	return nil
}

// bounds returns the sizes of the axes that indices of a shape index, nil if they are not known. d is
// the shape of the indexed value.
func (n *node) bounds(d, of []int64) []int64 {
	if strings.HasSuffix(n.op, "ND") {
		batch := n.int("batch_dims", 0)
		if len(of) == 0 || batch < 0 || batch+of[len(of)-1] > int64(len(d)) {
			return nil
		}
		return d[batch : batch+of[len(of)-1]]
	}
	axis := n.int("axis", 0)
	if axis < 0 {
		axis += int64(len(d))
	}
	if axis < 0 || axis >= int64(len(d)) {
		return nil
	}
	return d[axis : axis+1]
}

// checkIndices checks indices of a shape for a value of another shape.
func (n *node) checkIndices(d, of, indices []int64) error {
	if bounds := n.bounds(d, of); len(bounds) > 0 {
		return within(indices, bounds)
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

// fits checks a shape that is an input.
func (c constants) fits(n *node, input int, least int64) error {
	if input < len(n.in) && c[n.in[input]] != nil && len(c[n.in[input]].dims) != 1 {
		return fmt.Errorf("its shape %s is of shape %v, want a list", n.in[input], c[n.in[input]].dims)
	}
	return fits(c.integers(n, input), least)
}

// fits checks the sizes of a tensor: each is at least least, and their product is not too large.
func fits(sizes []int64, least int64) error {
	count := 1.0
	for _, v := range sizes {
		if v < least {
			return fmt.Errorf("a shape %v is not supported", sizes)
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
