package imported

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
)

// rewriter copies a network's nodes and rewrites those that GoMLX (v0.28.16) cannot differentiate:
// its gradients of convolutions are wrong for kernels with an even side, those of a depthwise one
// take two convolutions per channel, and Identity has none. At a bound of Relu or Clip its gradient
// depends on the backend; PyTorch's is 0.
type rewriter struct {
	nodes  []*onnxpb.Node
	kernel map[string]*onnxpb.Tensor // weights by name
	same   map[string]string         // outputs of removed nodes, and what they equal
	added  int
}

// op adds a node and returns its output.
func (w *rewriter) op(op string, in []string, attributes ...*onnxpb.Attribute) string {
	w.added++
	out := fmt.Sprintf("ledg %s %d", op, w.added)
	w.nodes = append(w.nodes, &onnxpb.Node{Op: op, Name: out, In: in, Out: []string{out}, Attributes: attributes})
	return out
}

func (w *rewriter) constant(t *onnxpb.Tensor) string {
	return w.op("Constant", nil, onnxpb.Constant(t))
}

func (w *rewriter) reshape(x string, dims ...int64) string {
	return w.op("Reshape", []string{x, w.constant(onnxpb.Integers(dims...))})
}

func (w *rewriter) transpose(x string, axes ...int64) string {
	return w.op("Transpose", []string{x}, onnxpb.Ints("perm", axes...))
}

// slice adds a Slice from (inclusive) to (exclusive).
func (w *rewriter) slice(x string, from, to, axes, steps []int64) string {
	in := []string{x}
	for _, v := range [][]int64{from, to, axes, steps} {
		in = append(in, w.constant(onnxpb.Integers(v...)))
	}
	return w.op("Slice", in)
}

// node adds a node of the file.
func (w *rewriter) node(from *onnxpb.Node) error {
	n := *from
	n.In, n.Out, n.Attributes = slices.Clone(n.In), slices.Clone(n.Out), slices.Clone(n.Attributes)
	for i, s := range n.In {
		if to, ok := w.same[s]; ok {
			n.In[i] = to
		}
	}
	become := func(op string, in ...string) { n.Op, n.In, n.Attributes = op, in, nil }
	switch n.Op {
	case "Identity":
		w.same[n.Out[0]] = n.In[0]
		return nil
	case "Conv":
		y, err := w.conv(&n)
		if err != nil {
			return fmt.Errorf("node %q (Conv): %w", n.Name, err)
		}
		if y != "" && len(n.In) > 2 {
			become("Add", y, w.reshape(n.In[2], 1, -1, 1, 1))
		} else if y != "" {
			w.same[n.Out[0]] = y
			return nil
		}
	case "Relu":
		become("Max", w.constant(onnxpb.Floats("", nil, 0)), n.In[0])
	case "Clip":
		if len(n.In) == 3 && n.In[1] != "" && n.In[2] != "" {
			become("Min", w.op("Max", []string{n.In[1], n.In[0]}), n.In[2])
		}
	case "GlobalAveragePool": // whose gradient GoMLX computes as a window's
		become("ReduceMean", n.In[0])
		n.Attributes = append(n.Attributes, onnxpb.Ints("axes", 2, 3))
	}
	plain(&n)
	w.nodes = append(w.nodes, &n)
	return nil
}

// plain drops attributes without effect that onnx-gomlx (v0.5.2) refuses, and adds a default of
// which it has another.
func plain(n *onnxpb.Node) {
	switch n.Op {
	case "BatchNormalization":
		n.Attributes = slices.DeleteFunc(n.Attributes, func(a *onnxpb.Attribute) bool { return a.Name != "epsilon" })
	case "MaxPool", "AveragePool":
		n.Attributes = slices.DeleteFunc(n.Attributes, func(a *onnxpb.Attribute) bool {
			return a.Name == "dilations" && !slices.ContainsFunc(a.Ints, func(d int64) bool { return d != 1 })
		})
		if len(n.Get("strides").Ints) == 0 {
			n.Attributes = append(n.Attributes, onnxpb.Ints("strides", slices.Repeat([]int64{1}, len(n.Get("kernel_shape").Ints))...))
		}
	}
}

// intsOr returns an attribute of some integers; each is a value where it is missing.
func intsOr(n *onnxpb.Node, name string, count int, or int64) []int64 {
	if v := n.Get(name).Ints; len(v) == count {
		return v
	}
	return slices.Repeat([]int64{or}, count)
}

// conv adds a convolution in another form and returns its output, "" where it stays.
func (w *rewriter) conv(n *onnxpb.Node) (string, error) {
	k := w.kernel[n.In[1]]
	if k == nil || len(k.Dims) != 4 {
		return "", fmt.Errorf("a kernel %q that is computed, or of other than two sides, is not trained", n.In[1])
	}
	c, kh, kw := k.Dims[0], k.Dims[2], k.Dims[3]
	strides, dilations, pads := intsOr(n, "strides", 2, 1), intsOr(n, "dilations", 2, 1), intsOr(n, "pads", 4, 0)
	switch group := max(n.Get("group").Int, 1); {
	case group > 1 && group == c && k.Dims[1] == 1:
		return w.depthwise(n.In[0], n.In[1], c, kh, kw, strides, dilations, pads), nil
	case kh%2 == 1 && kw%2 == 1:
		return "", nil
	case group == 1 && kh == kw && slices.Equal(strides, []int64{kh, kh}) && !slices.ContainsFunc(pads, func(p int64) bool { return p != 0 }):
		return w.patches(n.In[0], n.In[1], c, kh), nil
	}
	return "", fmt.Errorf("a kernel of %d x %d pixels is not trained: of even sides only adjacent windows are", kh, kw)
}

// patches adds a convolution with adjacent windows, of k x k pixels, as a matrix product.
func (w *rewriter) patches(x, kernel string, out, k int64) string {
	x = w.transpose(w.reshape(x, 0, 0, 0, -1, k), 0, 1, 3, 4, 2)       // n c w/k k h
	x = w.transpose(w.reshape(x, 0, 0, 0, 0, -1, k), 0, 4, 2, 1, 5, 3) // n h/k w/k c k k
	y := w.op("MatMul", []string{w.reshape(x, 0, 0, 0, -1), w.transpose(w.reshape(kernel, out, -1), 1, 0)})
	return w.transpose(y, 0, 3, 1, 2)
}

// depthwise adds a depthwise convolution as a sum of products over the kernel's positions.
func (w *rewriter) depthwise(x, kernel string, c, kh, kw int64, strides, dilations, p []int64) (sum string) {
	if slices.ContainsFunc(p, func(v int64) bool { return v != 0 }) {
		x = w.op("Pad", []string{x, w.constant(onnxpb.Integers(0, 0, p[0], p[1], 0, 0, p[2], p[3])), w.constant(onnxpb.Floats("", nil, 0))})
	}
	kernel = w.reshape(kernel, c, -1)
	end := func(beyond int64) int64 { // of the places that a tap sees, from the end of an axis
		if beyond == 0 {
			return 1 << 31
		}
		return -beyond
	}
	for i := range kh * kw {
		y, x1 := i/kw, i%kw
		tap := w.slice(x, []int64{y * dilations[0], x1 * dilations[1]}, []int64{end((kh - 1 - y) * dilations[0]), end((kw - 1 - x1) * dilations[1])}, []int64{2, 3}, strides)
		tap = w.op("Mul", []string{tap, w.reshape(w.slice(kernel, []int64{i}, []int64{i + 1}, []int64{1}, []int64{1}), 1, c, 1, 1)})
		if sum != "" {
			tap = w.op("Add", []string{sum, tap})
		}
		sum = tap
	}
	return sum
}
