package imported

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/datasets/seed"
)

// of is a Constant of normal values.
func of(name string, dims ...int64) *node {
	r, n := seed.New(1, name), int64(1)
	for _, d := range dims {
		n *= d
	}
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	t := floats(v)
	t.dims = dims
	return &node{op: "Constant", out: []string{name}, attrs: []attr{{name: "value", kind: tensorAttr, t: t}}}
}

// single is a Constant of one number.
func single(name string, v float32) *node {
	t := floats([]float32{v})
	t.dims = nil
	return &node{op: "Constant", out: []string{name}, attrs: []attr{{name: "value", kind: tensorAttr, t: t}}}
}

func do(op, out string, in []string, attrs ...attr) *node {
	return &node{op: op, in: in, out: []string{out}, attrs: attrs}
}

func list(name string, v ...int64) attr { return attr{name: name, kind: intsAttr, ints: v} }

// layerNodes are a network of all that becomes layers.
func layerNodes() []*node {
	return []*node{
		of("w1", 6, 3, 3, 3), of("b1", 6), do("Conv", "c1", []string{"pixels", "w1", "b1"}, list("strides", 2, 2), list("pads", 0, 0, 1, 1)),
		single("zero", 0), single("six", 6), do("Clip", "r1", []string{"c1", "zero", "six"}),
		of("w2", 6, 1, 5, 5), of("b2", 6), do("Conv", "c2", []string{"r1", "w2", "b2"}, list("pads", 2, 2, 2, 2), attr{name: "group", kind: intAttr, i: 6}),
		do("Relu", "r2", []string{"c2"}),
		do("Add", "sum", []string{"r2", "r1"}),
		do("MaxPool", "pool", []string{"sum"}, list("kernel_shape", 3, 3), list("strides", 2, 2), list("pads", 1, 1, 1, 1)),
		of("w3", 5, 6, 1, 1), do("Conv", "c3", []string{"pool", "w3"}),
		do("ReduceMean", "mean", []string{"c3"}, list("axes", -1, -2), attr{name: "keepdims", kind: intAttr, i: 1}),
		do("Flatten", "y", []string{"mean"}),
	}
}

// moreNodes are a network of the other uses of operations that become layers: of every place's
// channels, with activations in one operation and in pieces.
func moreNodes() []*node {
	group := func(n int64) attr { return attr{name: "group", kind: intAttr, i: n} }
	return []*node{
		of("w1", 8, 3, 3, 3), do("Conv", "c1", []string{"pixels", "w1"}, list("strides", 2, 2), list("pads", 1, 1, 1, 1)),
		single("three", 3), single("zero", 0), single("six", 6), // HardSwish
		do("Add", "h1", []string{"c1", "three"}), do("Clip", "h2", []string{"h1", "zero", "six"}), do("Mul", "h3", []string{"c1", "h2"}), do("Div", "h4", []string{"h3", "six"}),
		of("w2", 8, 4, 3, 3), of("b2", 8), do("Conv", "c2", []string{"h4", "w2", "b2"}, list("pads", 1, 1, 1, 1), group(2)),
		do("Sigmoid", "s1", []string{"c2"}), do("Mul", "s2", []string{"s1", "c2"}), // SiLU
		do("ReduceMean", "m", []string{"s2"}, list("axes", 2, 3), attr{name: "keepdims", kind: intAttr, i: 1}),
		of("w3", 8, 8, 1, 1), of("b3", 8), do("Conv", "c3", []string{"m", "w3", "b3"}), do("HardSigmoid", "gate", []string{"c3"}, attr{name: "alpha", kind: floatAttr, f: 0.3}),
		do("Mul", "gated", []string{"s2", "gate"}),
		do("Transpose", "t1", []string{"gated"}, list("perm", 0, 2, 3, 1)),
		of("w4", 8), of("b4", 8), do("LayerNormalization", "n1", []string{"t1", "w4", "b4"}, attr{name: "epsilon", kind: floatAttr, f: 1e-3}),
		of("w5", 8, 12), of("b5", 12), do("MatMul", "l1", []string{"n1", "w5"}), do("Add", "l2", []string{"b5", "l1"}),
		single("two", math.Sqrt2), single("one", 1), single("half", 0.5), // GELU
		do("Div", "g1", []string{"l2", "two"}), do("Erf", "g2", []string{"g1"}), do("Add", "g3", []string{"g2", "one"}), do("Mul", "g4", []string{"l2", "g3"}), do("Mul", "g5", []string{"g4", "half"}),
		of("w6", 12, 8), do("MatMul", "l3", []string{"g5", "w6"}), of("scale", 8), do("Mul", "l4", []string{"l3", "scale"}),
		do("Transpose", "t2", []string{"l4"}, list("perm", 0, 3, 1, 2)),
		do("Add", "sum", []string{"t2", "gated"}),
		do("AveragePool", "a1", []string{"sum"}, list("kernel_shape", 2, 2), list("strides", 2, 2)),
		do("HardSwish", "a2", []string{"a1"}), do("Concat", "a3", []string{"a2", "a1"}, attr{name: "axis", kind: intAttr, i: 1}),
		of("shift", 16, 1, 1), do("Sub", "a4", []string{"a3", "shift"}),
		do("GlobalAveragePool", "p", []string{"a4"}), do("Flatten", "f", []string{"p"}),
		of("w8", 5, 16), of("b8", 5), do("Gemm", "linear", []string{"f", "w8", "b8"}, attr{name: "transB", kind: intAttr, i: 1}),
		of("w9", 5), do("LayerNormalization", "normed", []string{"linear", "w9"}), do("Relu", "y", []string{"normed"}),
	}
}

// tanhNodes are GELU by tanh in pieces, as PyTorch's older exporter and as Hugging Face write it, and powers that are
// none of it.
// Before it, zeros are put around maps by an operation of its own, as TensorFlow's ways of padding are written.
func tanhNodes() []*node {
	whole := func(name string, v ...int64) *node {
		return &node{op: "Constant", out: []string{name}, attrs: []attr{{name: "value", kind: tensorAttr, t: integers(v)}}}
	}
	kind := func(k int64) attr { return attr{name: "to", kind: intAttr, i: k} }
	return []*node{
		single("nothing", 0), whole("backwards", -1), whole("to", -math.MaxInt64), whole("axis", 0), whole("four", 4),
		do("Shape", "shape", []string{"pixels"}), do("Slice", "last", []string{"shape", "backwards", "four", "axis"}), do("Cast", "width", []string{"last"}, kind(float32Type)), // 32
		single("more", 33), do("Sub", "rest", []string{"more", "width"}), do("Clip", "all", []string{"rest", "nothing", ""}), single("halves", 2), do("Div", "in halves", []string{"all", "halves"}), do("Floor", "before", []string{"in halves"}),
		do("Sub", "after", []string{"all", "before"}), do("Concat", "ends", []string{"before", "after", "before", "after"}, attr{name: "axis", kind: intAttr}),
		do("Cast", "numbers", []string{"ends"}, kind(int64Type)), do("ConstantOfShape", "others", []string{"four"}, attr{name: "value", kind: tensorAttr, t: integers([]int64{0})}),
		do("Concat", "eight", []string{"numbers", "others"}, attr{name: "axis", kind: intAttr}), whole("pairs", -1, 2), do("Reshape", "rows", []string{"eight", "pairs"}),
		do("Slice", "turned", []string{"rows", "backwards", "to", "axis", "backwards"}), do("Transpose", "columns", []string{"turned"}, list("perm", 1, 0)), do("Reshape", "pads", []string{"columns", "backwards"}),
		do("Pad", "around", []string{"pixels", "pads", "nothing"}),
		of("w1", 8, 3, 3, 3), do("Conv", "x", []string{"around", "w1"}, list("strides", 2, 2)),
		single("half", 0.5), single("one", 1), single("two", 2), single("three", 3), single("kappa", 0.044715), single("beta", 0.7978845608),
		do("Mul", "a1", []string{"x", "x"}), do("Mul", "a2", []string{"x", "a1"}), do("Mul", "a3", []string{"kappa", "a2"}), do("Add", "a4", []string{"x", "a3"}),
		do("Mul", "a5", []string{"beta", "a4"}), do("Tanh", "a6", []string{"a5"}), do("Add", "a7", []string{"one", "a6"}), do("Mul", "a8", []string{"x", "a7"}), do("Mul", "a9", []string{"half", "a8"}),
		of("w2", 8, 8, 1, 1), of("b2", 8), do("Conv", "v", []string{"a9", "w2", "b2"}),
		do("Mul", "b1", []string{"v", "half"}), do("Pow", "b3", []string{"v", "three"}), do("Mul", "b4", []string{"b3", "kappa"}), do("Add", "b5", []string{"v", "b4"}),
		do("Mul", "b6", []string{"b5", "beta"}), do("Tanh", "b7", []string{"b6"}), do("Add", "b8", []string{"b7", "one"}), do("Mul", "b9", []string{"b1", "b8"}),
		do("Div", "c1", []string{"b9", "three"}), do("Add", "c2", []string{"c1", "half"}), do("Tanh", "c3", []string{"c2"}), // of a number more
		do("Pow", "c4", []string{"c3", "two"}), do("Add", "c5", []string{"c4", "c3"}), do("Relu", "c6", []string{"c5"}), do("Add", "c7", []string{"c4", "half"}), do("Mul", "c8", []string{"c6", "c7"}),
		do("GlobalAveragePool", "y", []string{"c8"}),
	}
}

// responseNodes are two blocks with global response normalisation, of [n, c, h, w] and of [n, h, w, c].
func responseNodes() []*node {
	return []*node{
		of("w1", 8, 3, 4, 4), of("b1", 8), do("Conv", "x", []string{"pixels", "w1", "b1"}, list("strides", 4, 4)), single("eps", 1e-2),
		do("ReduceL2", "norms", []string{"x"}, list("axes", 2, 3)), do("ReduceMean", "mean", []string{"norms"}, list("axes", 1)), do("Add", "more", []string{"mean", "eps"}),
		do("Div", "responses", []string{"norms", "more"}), do("Mul", "a1", []string{"x", "responses"}), of("gamma", 8, 1, 1), of("beta", 1, 8, 1, 1),
		do("Mul", "a2", []string{"gamma", "a1"}), do("Add", "a3", []string{"beta", "a2"}), do("Add", "a4", []string{"x", "a3"}), do("Relu", "a5", []string{"a4"}),
		do("Transpose", "t", []string{"a5"}, list("perm", 0, 2, 3, 1)),
		do("ReduceL2", "norms 2", []string{"t"}, list("axes", 1, 2)), do("ReduceMean", "mean 2", []string{"norms 2"}, list("axes", -1)), do("Add", "more 2", []string{"eps", "mean 2"}),
		do("Div", "responses 2", []string{"norms 2", "more 2"}), do("Mul", "c1", []string{"t", "responses 2"}), of("scale", 8), do("Mul", "c2", []string{"c1", "scale"}), do("Add", "c3", []string{"c2", "t"}),
		do("Transpose", "back", []string{"c3"}, list("perm", 0, 3, 1, 2)), do("GlobalAveragePool", "y", []string{"back"}),
	}
}

// rotaryNodes are attention whose queries and keys are rotated but for those of the first places, where the two channels
// of a pair are in two halves, or are neighbours.
func rotaryNodes(front int64, halves bool) []*node {
	whole := func(name string, v ...int64) *node {
		return &node{op: "Constant", out: []string{name}, attrs: []attr{{name: "value", kind: tensorAttr, t: integers(v)}}}
	}
	axis := func(i int64) attr { return attr{name: "axis", kind: intAttr, i: i} }
	nodes := []*node{
		of("w1", 12, 3, 8, 8), of("b1", 12), do("Conv", "patches", []string{"pixels", "w1", "b1"}, list("strides", 8, 8)),
		whole("columns", 0, 12, 16), do("Reshape", "flat", []string{"patches", "columns"}), do("Transpose", "x", []string{"flat"}, list("perm", 0, 2, 1)),
		of("w2", 12), of("b2", 12), do("LayerNormalization", "normed", []string{"x", "w2", "b2"}), of("w3", 12, 36), do("MatMul", "all", []string{"normed", "w3"}),
		whole("divided", 0, 16, 3, 2, 6), do("Reshape", "parts", []string{"all", "divided"}), do("Transpose", "heads", []string{"parts"}, list("perm", 2, 0, 3, 1, 4)),
		whole("0", 0), whole("1", 1), whole("2", 2), whole("3", 3), whole("6", 6), whole("front", front), whole("end", math.MaxInt64),
		of("both", 16-front, 12), do("Split", "cos", []string{"both"}, axis(1)), single("minus", -1), single("root", 0.5),
	}
	nodes[len(nodes)-3].out = []string{"cos", "sin"}
	for i, name := range []string{"q", "k", "v"} {
		nodes = append(nodes, do("Slice", name+" one", []string{"heads", []string{"0", "1", "2"}[i], []string{"1", "2", "3"}[i], "0"}), do("Squeeze", name, []string{name + " one", "0"}))
		if name == "v" {
			continue
		}
		do := func(op, out string, in string, attrs ...attr) {
			var names []string
			for s := range strings.SplitSeq(in, ",") {
				if strings.HasPrefix(s, "=") {
					names = append(names, s[1:])
				} else {
					names = append(names, name+s)
				}
			}
			nodes = append(nodes, do(op, name+out, names, attrs...))
		}
		do("Slice", " first", ",=0,=front,=2")
		do("Slice", " rest", ",=front,=end,=2")
		if halves {
			do("Split", " left", " rest", axis(3))
			nodes[len(nodes)-1].out = []string{name + " left", name + " right"}
			do("Neg", " minus", " right")
			do("Concat", " turned", " minus, left", axis(-1))
		} else {
			do("Slice", " even", " rest,=0,=6,=3,=2")
			do("Slice", " odd", " rest,=1,=6,=3,=2")
			do("Neg", " minus", " odd")
			nodes = append(nodes, whole(name+" last", -1))
			do("Unsqueeze", " a", " minus, last")
			do("Unsqueeze", " b", " even, last")
			do("Concat", " pairs", " a, b", axis(-1))
			nodes = append(nodes, whole(name+" shape", 0, 2, 16-front, 6))
			do("Reshape", " turned", " pairs, shape")
		}
		do("Mul", " cos", " rest,=cos")
		do("Mul", " sin", "=sin, turned")
		do("Add", " sum", " cos, sin")
		if front > 0 {
			do("Concat", " done", " first, sum", axis(2))
		} else {
			do("Identity", " done", " sum")
		}
		do("Mul", " scaled", " done,=root")
	}
	return append(nodes, do("Transpose", "turned", []string{"k scaled"}, list("perm", 0, 1, 3, 2)), do("MatMul", "scores", []string{"q scaled", "turned"}),
		do("Softmax", "weights", []string{"scores"}, axis(-1)), do("MatMul", "attended", []string{"weights", "v"}),
		do("Transpose", "together", []string{"attended"}, list("perm", 0, 2, 1, 3)), whole("channels", 0, 16, 12), do("Reshape", "wide", []string{"together", "channels"}),
		do("Add", "sum", []string{"x", "wide"}), do("ReduceMean", "y", []string{"sum"}, list("axes", 1), attr{name: "keepdims", kind: intAttr}))
}

// tokenNodes are a block of a transformer with 16 tokens of patches and one of the class, as different
// exporters write it.
func tokenNodes() []*node {
	whole := func(name string, v ...int64) *node {
		return &node{op: "Constant", out: []string{name}, attrs: []attr{{name: "value", kind: tensorAttr, t: integers(v)}}}
	}
	axis := func(i int64) attr { return attr{name: "axis", kind: intAttr, i: i} }
	head := func(name, weight string) []*node { // [n, 2, 17, 6] of [n, 17, 12]
		return []*node{of(weight, 12, 12), do("MatMul", name+" all", []string{"normed", weight}), do("Reshape", name+" heads", []string{name + " all", "divided"}),
			do("Transpose", name, []string{name + " heads"}, list("perm", 0, 2, 1, 3))}
	}
	nodes := []*node{
		of("w1", 12, 3, 8, 8), of("b1", 12), do("Conv", "patches", []string{"pixels", "w1", "b1"}, list("strides", 8, 8)),
		do("Shape", "shape", []string{"patches"}), whole("0", 0), whole("2", 2), whole("-1", -1), do("Slice", "n and c", []string{"shape", "0", "2", "0"}),
		do("Concat", "joint", []string{"n and c", "-1"}, axis(0)), do("Reshape", "columns", []string{"patches", "joint"}), do("Transpose", "tokens", []string{"columns"}, list("perm", 0, 2, 1)),
		do("Gather", "n", []string{"shape", "0"}), whole("ones", 1, 1), do("Concat", "of n", []string{"n", "ones"}, axis(0)), of("class", 1, 1, 12), do("Expand", "classes", []string{"class", "of n"}),
		do("Concat", "all", []string{"classes", "tokens"}, axis(1)), of("places", 1, 17, 12), do("Add", "x", []string{"all", "places"}),
		single("two", 2), single("eps", 1e-3), // LayerNorm, before opset 17
		do("ReduceMean", "mean", []string{"x"}, list("axes", -1)), do("Sub", "deviation", []string{"x", "mean"}), do("Pow", "square", []string{"deviation", "two"}),
		do("ReduceMean", "variance", []string{"square"}, list("axes", -1)), do("Add", "more", []string{"eps", "variance"}), do("Sqrt", "root", []string{"more"}),
		do("Div", "plain", []string{"deviation", "root"}), of("w2", 12), do("Mul", "scaled", []string{"plain", "w2"}), of("b2", 12), do("Add", "normed", []string{"scaled", "b2"}),
		whole("divided", 0, 17, 2, 6),
	}
	nodes = slices.Concat(nodes, head("q", "wq"), head("k", "wk"), head("v", "wv"))
	return append(nodes,
		do("Transpose", "turned", []string{"k"}, list("perm", 0, 1, 3, 2)), do("MatMul", "products", []string{"q", "turned"}),
		single("half", 0.5), do("Mul", "scores", []string{"products", "half"}),
		whole("mask shape", 17, 17), do("ConstantOfShape", "mask", []string{"mask shape"}), do("Add", "masked", []string{"scores", "mask"}),
		do("Softmax", "weights", []string{"masked"}, axis(-1)), do("IsNaN", "bad", []string{"weights"}), single("none", 0), do("Where", "good", []string{"bad", "none", "weights"}),
		do("MatMul", "attended", []string{"good", "v"}), do("Transpose", "side", []string{"attended"}, list("perm", 0, 2, 1, 3)), whole("joined", 0, 17, 12), do("Reshape", "heads", []string{"side", "joined"}),
		of("wo", 12, 12), do("MatMul", "out", []string{"heads", "wo"}), do("Add", "sum", []string{"x", "out"}),
		do("Gelu", "y", []string{"sum"}, attr{name: "approximate", kind: stringAttr, s: "tanh"}),
	)
}

// windowNodes are a block of a transformer with shifted windows of 2 by 2 of 4 by 4 places, and what makes
// one place of four afterwards, twice.
func windowNodes() []*node {
	whole := func(name string, v ...int64) *node {
		return &node{op: "Constant", out: []string{name}, attrs: []attr{{name: "value", kind: tensorAttr, t: integers(v)}}}
	}
	axis := func(i int64) attr { return attr{name: "axis", kind: intAttr, i: i} }
	// shift puts the first places of an axis, up to one, after the others.
	shift := func(x, y string, at int64, to string) []*node {
		a := whole(y+" axis", at)
		return []*node{a, do("Slice", y+" front", []string{x, "0", to, a.out[0]}), do("Slice", y+" back", []string{x, to, "9", a.out[0]}), do("Concat", y, []string{y + " back", y + " front"}, axis(at))}
	}
	nodes := []*node{
		of("w1", 8, 3, 8, 8), do("Conv", "patches", []string{"pixels", "w1"}, list("strides", 8, 8)), do("Transpose", "places", []string{"patches"}, list("perm", 0, 2, 3, 1)),
		of("s1", 8), of("z1", 8), do("LayerNormalization", "normed", []string{"places", "s1", "z1"}),
		whole("0", 0), whole("1", 1), whole("3", 3), whole("9", 9),
	}
	nodes = slices.Concat(nodes, shift("normed", "down", 1, "1"), shift("down", "right", 2, "1"), []*node{
		whole("none", 0, 0, 0, 0, 0, 0, 0, 0), do("Pad", "padded", []string{"right", "none"}),
		whole("divided", -1, 2, 2, 2, 2, 8), do("Reshape", "six", []string{"padded", "divided"}), do("Transpose", "turned", []string{"six"}, list("perm", 0, 1, 3, 2, 4, 5)),
		whole("rows", -1, 4, 8), do("Reshape", "windows", []string{"turned", "rows"}),
		of("w2", 8, 24), do("MatMul", "qkv", []string{"windows", "w2"}), whole("by heads", -1, 4, 3, 2, 4), do("Reshape", "five", []string{"qkv", "by heads"}),
		do("Transpose", "apart", []string{"five"}, list("perm", 2, 0, 3, 1, 4)), whole("each", 1, 1, 1),
		{op: "Split", in: []string{"apart", "each"}, out: []string{"q1", "k1", "v1"}, attrs: []attr{axis(0)}},
		do("Squeeze", "q", []string{"q1", "0"}), do("Squeeze", "k", []string{"k1", "0"}), do("Squeeze", "v", []string{"v1", "0"}),
		do("Transpose", "kt", []string{"k"}, list("perm", 0, 1, 3, 2)), do("MatMul", "products", []string{"q", "kt"}),
		of("table", 16, 2), whole("square", 4, 4, 2), do("Reshape", "bias4", []string{"table", "square"}), do("Transpose", "bias", []string{"bias4"}, list("perm", 2, 0, 1)), do("Add", "biased", []string{"products", "bias"}),
		whole("fifth", -1, 4, 2, 4, 4), do("Reshape", "wide", []string{"biased", "fifth"}), of("mask", 4, 1, 4, 4), do("Add", "masked", []string{"wide", "mask"}),
		whole("fourth", -1, 2, 4, 4), do("Reshape", "narrow", []string{"masked", "fourth"}), do("Softmax", "weights", []string{"narrow"}, axis(-1)), do("MatMul", "attended", []string{"weights", "v"}),
		do("Transpose", "side", []string{"attended"}, list("perm", 0, 2, 1, 3)), do("Reshape", "heads", []string{"side", "rows"}), of("w3", 8, 8), do("MatMul", "out", []string{"heads", "w3"}),
		do("Reshape", "six again", []string{"out", "divided"}), do("Transpose", "straight", []string{"six again"}, list("perm", 0, 1, 3, 2, 4, 5)),
		whole("map", -1, 4, 4, 8), do("Reshape", "whole", []string{"straight", "map"}),
	}, shift("whole", "up", 1, "3"), shift("up", "left", 2, "3"))
	return append(nodes,
		do("Add", "sum", []string{"places", "left"}),
		whole("pairs", -1, 2, 2, 2, 2, 8), do("Reshape", "fours", []string{"sum", "pairs"}), do("Transpose", "deep", []string{"fours"}, list("perm", 0, 1, 3, 4, 2, 5)),
		whole("joined", -1, 2, 2, 32), do("Reshape", "long", []string{"deep", "joined"}), of("s2", 32), do("LayerNormalization", "again", []string{"long", "s2"}),
		of("w4", 32, 6), do("MatMul", "few", []string{"again", "w4"}),
		whole("axes", 1, 2), whole("from", 1, 0), whole("to", 9, 9), whole("steps", 2, 2), do("Slice", "some", []string{"few", "from", "to", "axes", "steps"}),
		whole("from 2", 0, 1), do("Slice", "others", []string{"few", "from 2", "to", "axes", "steps"}), do("Concat", "all", []string{"some", "others"}, axis(3)),
		do("ReduceMean", "y", []string{"all"}, list("axes", 1, 2), attr{name: "keepdims", kind: intAttr, i: 0}),
	)
}

func written(t *testing.T, nodes []*node) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "n.onnx")
	if err := os.WriteFile(path, net(17, []int64{-1, 3, -1, -1}, nodes...).encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
