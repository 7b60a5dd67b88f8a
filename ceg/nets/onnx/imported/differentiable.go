package imported

import (
	"slices"

	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
)

// GoMLX (v0.28.16) has no gradient of Identity, which occurs in files, in mended graphs and in
// onnx-gomlx.
func init() {
	if graph.VJPRegistration[graph.NodeTypeIdentity] == nil {
		graph.VJPRegistration[graph.NodeTypeIdentity] = func(_ *graph.Node, v []*graph.Node, _ shapes.Shape) []*graph.Node { return v }
	}
}

// differentiable rewrites nodes whose gradients GoMLX (v0.28.16) computes wrongly or slowly. Its
// gradients of convolutions are wrong for kernels with an even side. For a depthwise convolution
// it computes two convolutions per channel. At a bound of Relu or Clip, GoMLX's gradient depends
// on the backend, while PyTorch's gradient of ReLU, ReLU6 and Hardtanh is 0. Half of the values
// lie there behind a residual branch that starts as zeros. Between equal values, the gradient goes
// to the first one for a maximum and to the second one for a minimum.
type differentiable struct {
	*mender
	// dims are the shapes of the inputs and outputs of rewritten nodes.
	dims map[string][]int
	// train makes BatchNormalization normalise with the statistics of groups of images.
	train bool
	norms []norm
}

// The inputs of the network in training: the weights [groups, images] of the images in their
// group's mean, and [images, groups], which is 1 where an image is in a group.
const (
	sharesInput  = "ledg shares"
	membersInput = "ledg members"
)

// rewritten is the first number of added nodes, above those that mend adds.
const rewritten = 1 << 20

func (d *differentiable) rewrite(g *content) error {
	d.mender = &mender{content: g, added: rewritten}
	old := g.nodes
	g.nodes = nil
	for _, n := range old {
		switch n.op {
		case "Conv":
			d.conv(n)
		case "BatchNormalization":
			if d.train {
				d.batchNorm(n)
			}
		case "Relu":
			n.become("Max", d.number(0), n.in[0])
		case "Clip":
			d.clip(n)
		case "MaxPool", "AveragePool":
			d.pool(n)
		case "GlobalAveragePool": // GoMLX would compute its gradient as a window's
			if rank := len(d.dims[n.in[0]]); rank > 2 {
				n.become("ReduceMean", n.in[0])
				n.attrs = []attr{axes(2, rank)}
			}
		}
		g.nodes = append(g.nodes, n)
	}
	if len(d.norms) > 0 {
		for _, s := range []string{sharesInput, membersInput} {
			g.inputs = append(g.inputs, value{name: s, kind: float32Type, dims: []int64{-1, -1}, shape: true})
		}
	}
	return nil
}

// pool rewrites a pooling with a large window of a x b pixels as one of a x 1 after one of 1 x b:
// the gradient takes a step for each pixel of a window. An average is over a window's
// pixels inside the image. They form a rectangle, so it is the average of its rows' averages.
func (d *differentiable) pool(n *node) {
	k := n.ints("kernel_shape", 2, 1)
	if len(n.in) != 1 || len(n.out) != 1 || len(k) != 2 || min(k[0], k[1]) < 2 || k[0]*k[1] <= mostTaps {
		return
	}
	strides, pads := n.ints("strides", 2, 1), n.ints("pads", 4, 0)
	along := func(axis int) []attr {
		list := func(name string, values ...int64) attr { return attr{name: name, kind: intsAttr, ints: values} }
		one, by, around := []int64{1, 1}, []int64{1, 1}, make([]int64, 4)
		one[axis], by[axis], around[axis], around[2+axis] = k[axis], strides[axis], pads[axis], pads[2+axis]
		return []attr{list("kernel_shape", one...), list("strides", by...), list("pads", around...)}
	}
	n.in[0] = d.apply(n.op, along(1), n.in[0])
	n.attrs = along(0)
}

// clip rewrites a Clip. Its bounds are inputs since opset 11, and attributes before.
func (d *differentiable) clip(n *node) {
	x, bounds := n.in[0], [2]string{}
	copy(bounds[:], n.in[1:])
	for i, name := range []string{"min", "max"} {
		if a := n.get(name); a != nil {
			bounds[i] = d.number(a.f)
		}
	}
	switch lo, hi := bounds[0], bounds[1]; {
	case lo != "" && hi != "":
		n.become("Min", d.op("Max", lo, x), hi)
	case lo != "":
		n.become("Max", lo, x)
	case hi != "":
		n.become("Min", x, hi)
	}
}

// axes lists the axes from one to another.
func axes(from, to int) attr {
	a := attr{name: "axes", kind: intsAttr}
	for i := from; i < to; i++ {
		a.ints = append(a.ints, int64(i))
	}
	return a
}

// apply adds an operation with attributes.
func (d *differentiable) apply(op string, attrs []attr, in ...string) string {
	out := d.op(op, in...)
	d.nodes[len(d.nodes)-1].attrs = attrs
	return out
}

func (d *differentiable) reshape(x string, dims ...int64) string {
	return d.op("Reshape", x, d.integers(dims))
}

func permuted(perm ...int64) []attr { return []attr{{name: "perm", kind: intsAttr, ints: perm}} }

// pad adds zeros around the last two axes: top, left, bottom, right.
func (d *differentiable) pad(x string, p []int64) string {
	if !slices.ContainsFunc(p, func(v int64) bool { return v != 0 }) {
		return x
	}
	return d.op("Pad", x, d.integers([]int64{0, 0, p[0], p[1], 0, 0, p[2], p[3]}), d.number(0))
}

// slice takes elements of axes; the ends are exclusive.
func (d *differentiable) slice(x string, axes, from, to, step []int64) string {
	in := []string{x, d.integers(from), d.integers(to), d.integers(axes)}
	if slices.ContainsFunc(step, func(s int64) bool { return s != 1 }) {
		in = append(in, d.integers(step))
	}
	return d.op("Slice", in...)
}

// ints returns an attribute of two or four integers; a missing one is filled with a value.
func (n *node) ints(name string, count int, or int64) []int64 {
	if a := n.get(name); a != nil && len(a.ints) == count {
		return slices.Clone(a.ints)
	}
	return slices.Repeat([]int64{or}, count)
}

func (d *differentiable) conv(n *node) {
	x, w := d.dims[n.in[0]], d.dims[n.in[1]]
	if auto := n.text("auto_pad", "NOTSET"); len(x) != 4 || auto != "NOTSET" && auto != "VALID" {
		return // mend handles it
	}
	strides, dilations, pads := n.ints("strides", 2, 1), n.ints("dilations", 2, 1), n.ints("pads", 4, 0)
	if n.text("auto_pad", "") == "VALID" {
		pads = make([]int64, 4)
	}
	group := int(n.int("group", 1))
	var y string
	switch kh, kw := w[2], w[3]; {
	case group > 1 && group == x[1] && group == w[0]:
		y = d.depthwise(n, strides, dilations, pads)
	case kh%2 == 1 && kw%2 == 1:
		return
	case group == 1 && kh == kw && slices.Equal(strides, []int64{int64(kh), int64(kh)}) && slices.Equal(dilations, []int64{1, 1}) &&
		slices.Equal(pads, make([]int64, 4)) && x[2]%kh == 0 && x[3]%kw == 0:
		y = d.patches(n)
	default: // kernels with an even side get a row and a column of zeros
		more := [2]int64{int64(1 - kh%2), int64(1 - kw%2)}
		n.in[1] = d.pad(n.in[1], []int64{0, 0, more[0], more[1]})
		pads[2], pads[3] = pads[2]+more[0]*dilations[0], pads[3]+more[1]*dilations[1]
		n.drop("pads")
		n.drop("auto_pad")
		n.drop("kernel_shape")
		n.attrs = append(n.attrs, attr{name: "pads", kind: intsAttr, ints: pads})
		return
	}
	if len(n.in) > 2 {
		n.become("Add", y, d.reshape(n.in[2], 1, -1, 1, 1))
	} else {
		n.become("Identity", y)
	}
}

// patches rewrites a convolution with adjacent windows, of k x k pixels and c channels, as a
// matrix product.
func (d *differentiable) patches(n *node) string {
	k, out := int64(d.dims[n.in[1]][2]), int64(d.dims[n.in[1]][0])
	x := d.reshape(n.in[0], 0, 0, 0, -1, k)                 // n c h w/k k
	x = d.apply("Transpose", permuted(0, 1, 3, 4, 2), x)    // n c w/k k h
	x = d.reshape(x, 0, 0, 0, 0, -1, k)                     // n c w/k k h/k k
	x = d.apply("Transpose", permuted(0, 4, 2, 1, 5, 3), x) // n h/k w/k c k k
	x = d.reshape(x, 0, 0, 0, -1)
	w := d.apply("Transpose", permuted(1, 0), d.reshape(n.in[1], out, -1))
	return d.apply("Transpose", permuted(0, 3, 1, 2), d.op("MatMul", x, w))
}

// depthwise rewrites a depthwise convolution as a sum of products over the kernel's positions.
func (d *differentiable) depthwise(n *node, strides, dilations, pads []int64) string {
	w, y := d.dims[n.in[1]], d.dims[n.out[0]]
	c, kw := int64(w[0]), int64(w[3])
	x, k := d.pad(n.in[0], pads), d.reshape(n.in[1], c, -1)
	var sum string
	for i := range int64(w[2]) * kw {
		from := []int64{i / kw * dilations[0], i % kw * dilations[1]}
		to := []int64{from[0] + int64(y[2]-1)*strides[0] + 1, from[1] + int64(y[3]-1)*strides[1] + 1}
		tap := d.slice(x, []int64{2, 3}, from, to, strides)
		weight := d.reshape(d.slice(k, []int64{1}, []int64{i}, []int64{i + 1}, []int64{1}), 1, c, 1, 1)
		if tap = d.op("Mul", tap, weight); sum != "" {
			tap = d.op("Add", sum, tap)
		}
		sum = tap
	}
	return sum
}

// batchNorm rewrites a BatchNormalization. An input [images * n, channels, ...] has n tokens or
// windows per image, which count like pixels.
func (d *differentiable) batchNorm(n *node) {
	dims := d.dims[n.in[0]]
	several := dims[0] / few
	if several < 2 || dims[0]%few != 0 {
		d.normalise(n, dims)
		return
	}
	places, shape := 1, []int64{-1}
	for i, side := range dims[1:] {
		if shape = append(shape, int64(side)); i > 0 {
			places *= side
		}
	}
	x := d.reshape(n.in[0], -1, int64(several), shape[1], int64(places))
	inner := *n
	inner.in, inner.out = slices.Clone(n.in), []string{n.out[0] + " of images"}
	inner.in[0] = d.apply("Transpose", permuted(0, 2, 1, 3), x)
	d.normalise(&inner, []int{few, dims[1], several, places})
	d.nodes = append(d.nodes, &inner)
	out := n.out[0]
	n.become("Reshape", d.apply("Transpose", permuted(0, 2, 1, 3), inner.out[0]), d.integers(shape))
	n.out = []string{out}
}

// normalise rewrites it with the statistics [groups, channels] of groups of images. dims is the
// shape of its input, [images, channels, ...].
func (d *differentiable) normalise(n *node, dims []int) {
	rank, places := len(dims), 1
	for _, side := range dims[2:] {
		places *= side
	}
	apart := attr{name: "keepdims", kind: intAttr}
	mean := func(x string) string { // over all positions of a group's images
		if rank > 2 {
			x = d.apply("ReduceMean", []attr{axes(2, rank), apart}, x)
		}
		weighted := d.op("Mul", d.apply("Unsqueeze", []attr{axes(2, 3)}, sharesInput), d.apply("Unsqueeze", []attr{axes(0, 1)}, x))
		return d.apply("ReduceSum", []attr{axes(1, 2), apart}, weighted)
	}
	spread := func(v string) string { // to all positions of the images
		weighted := d.op("Mul", d.apply("Unsqueeze", []attr{axes(2, 3)}, membersInput), d.apply("Unsqueeze", []attr{axes(0, 1)}, v))
		v = d.apply("ReduceSum", []attr{axes(1, 2), apart}, weighted)
		if rank > 2 {
			v = d.apply("Unsqueeze", []attr{axes(2, rank)}, v)
		}
		return v
	}
	mu := mean(n.in[0])
	off := d.op("Sub", n.in[0], spread(mu))
	variance := mean(d.op("Mul", off, off))
	scale := d.op("Div", n.in[1], d.op("Sqrt", d.op("Add", variance, d.number(n.float("epsilon", 1e-5)))))
	d.norms = append(d.norms, norm{mean: n.in[3], variance: n.in[4], groupMean: mu, groupVariance: variance, places: places,
		momentum: 1 - float64(n.float("momentum", 0.9))})
	shift := n.in[2]
	if rank > 2 {
		shift = d.apply("Unsqueeze", []attr{axes(1, rank-1)}, shift)
	}
	out := n.out[0]
	n.become("Add", d.op("Mul", off, spread(scale)), shift)
	n.out = []string{out}
}
