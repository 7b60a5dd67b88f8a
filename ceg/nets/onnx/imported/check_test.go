package imported

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// computes is a network of one operation with a value, pixels or the constant low, and constant integers.
func computes(op, value string, v ...int64) (list []*node) {
	fixed := func(name string, v ...int64) *node {
		return do("Constant", name, nil, attr{name: "value", kind: tensorAttr, t: integers(v)})
	}
	return []*node{fixed("low", math.MinInt64, 1), fixed("numbers", v...), do(op, "z", []string{value, "numbers"}), do("Add", "y", []string{"pixels", "z"})}
}

// long is a network with a Range.
func long(v ...int64) (list []*node) {
	for i, x := range v {
		t := integers([]int64{x})
		t.dims = nil
		list = append(list, do("Constant", fmt.Sprint("s", i), nil, attr{name: "value", kind: tensorAttr, t: t}))
	}
	return append(list, do("Range", "z", []string{"s0", "s1", "s2"}), do("Add", "y", []string{"pixels", "z"}))
}

// What Go would compute although ONNX Runtime refuses it, by shapes and indices that only a graph knows, is refused there.
func TestCheckLater(t *testing.T) {
	on := backend(t)
	with := func(list ...*node) *content {
		return net(17, []int64{-1, 3, -1, -1}, append([]*node{do("GlobalAveragePool", "g", []string{"pixels"}), do("Flatten", "f", []string{"g"})}, list...)...)
	}
	const oob = ": an index is out of range"
	whole := func(name string, v int64) attr { return attr{name: name, kind: intAttr, i: v} }
	fixed := func(name string, v ...int64) *node {
		return do("Constant", name, nil, attr{name: "value", kind: tensorAttr, t: integers(v)})
	}
	size := do("Shape", "size", []string{"f"}) // 8 or 1 images, 3 features
	rows := []*node{fixed("row", 1, -1), do("Reshape", "rows", []string{"size", "row"})}
	for want, g := range map[string]*content{
		"(Gather)" + oob:                      with(size, do("Gather", "y", []string{"f", "size"}, whole("axis", 1))),
		"(GatherElements)" + oob:              with(append([]*node{size}, append(rows, do("GatherElements", "y", []string{"f", "rows"}, whole("axis", 1)))...)...),
		"(GatherND)" + oob:                    with(append([]*node{size}, append(rows, do("GatherND", "q", []string{"f", "rows"}), do("Add", "y", []string{"f", "q"}))...)...),
		"split is [1 1], and there are 3":     with(fixed("sizes", 1, 1), do("Split", "y", []string{"f", "sizes"}, whole("axis", 1))),
		"it is for 1 channels, and there are": net(17, []int64{-1, 3, -1, -1}, of("s", 1), do("BatchNormalization", "y", []string{"pixels", "s", "s", "s", "s"})),
		"its shape one is of shape (Int64)":   with(size, do("ReduceMax", "one", []string{"size"}, whole("keepdims", 0)), do("Expand", "y", []string{"f", "one"})),
		"it is of opset 99 and version":       net(99, []int64{-1, 3, -1, -1}, one("Relu")),
		"":                                    with(size, fixed("two", 2), do("Div", "small", []string{"size", "two"}), fixed("last", 1), do("Gather", "ix", []string{"small", "last"}), do("Gather", "y", []string{"f", "ix"}, whole("axis", 1))),
	} {
		path := filepath.Join(t.TempDir(), "n.onnx")
		if err := os.WriteFile(path, g.encode(), 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := Open(path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		x, err := n.Exec(on, 32, plain)
		switch {
		case want == "" && err != nil, want != "" && (err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")):
			t.Errorf("got %v, want %q", err, want)
		case err == nil:
			x.Close()
		}
		if want != "(Gather)"+oob {
			continue
		}
		g.nodes[0].in[0], g.nodes[len(g.nodes)-1].out[0] = "x", "out"
		g.nodes = append(g.nodes, do("ReduceMean", "m", []string{"out"}, whole("keepdims", 0)), do("Add", "z", []string{"x", "m"}))
		trained, err := OpenTrainable(weighed(t, []float32{1, 2, 3}, nil, g.nodes...), "", "", "", 32)
		if err != nil {
			t.Fatal(err)
		}
		if err := trained.Try(on); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("in training: got %v, want %q", err, want)
		}
	}
}

// What no engine can compute is refused when a file is opened.
func TestCheck(t *testing.T) {
	open := []int64{-1, 3, -1, -1}
	whole := func(name string, v int64) attr { return attr{name: name, kind: intAttr, i: v} }
	var a message
	a.text(1, "value")
	for range 2 {
		var w message
		tensor := integers([]int64{1})
		tensor.head(&w)
		tensor.body(&w)
		a.bytes(5, w)
	}
	if _, err := parseAttr(a, 0); err == nil || !strings.Contains(err.Error(), "holds its tensor twice") {
		t.Errorf("an attribute with two tensors: %v", err)
	}
	text := func(name, v string) attr { return attr{name: name, kind: stringAttr, s: v} }
	conv := func(attrs ...attr) *content {
		return net(17, open, of("k", 4, 3, 3, 3), of("b", 1), do("Conv", "y", []string{"pixels", "k", "b"}, attrs...))
	}
	fixed := func(name string, v ...int64) *node {
		return do("Constant", name, nil, attr{name: "value", kind: tensorAttr, t: integers(v)})
	}
	slice := func(axes, steps []int64) *content {
		return net(17, open, fixed("from", 0, 0), fixed("axes", axes...), fixed("steps", steps...), do("Slice", "y", []string{"pixels", "from", "from", "axes", "steps"}))
	}
	for want, g := range map[string]*content{
		"pixels[0 3 32 32] is empty":              net(17, []int64{0, 3, 32, 32}, one("Relu")),
		"pixels[? 3 0 0] is empty":                net(17, []int64{-1, 3, 0, 0}, one("Relu")),
		"it is of opset -1, want 1 or more":       net(-1, open, one("Relu")),
		"(Relu): it has 2 inputs, which opset":    net(17, open, do("Relu", "y", []string{"pixels", "pixels"})),
		"it has an attribute \"split\", which":    net(17, open, do("Split", "y", []string{"pixels"}, list("split", 1, 2))),
		"its attribute \"axis\" is of type 3":     net(17, open, one("Softmax", text("axis", "1"))),
		"(Concat): it has no attribute \"axis\"":  net(17, open, do("Concat", "y", []string{"pixels", "pixels"})),
		"(Mish): opset 17 has no such operation":  net(17, open, one("Mish")),
		"kernel_shape is [5 5], and the kernel":   conv(list("kernel_shape", 5, 5)),
		"its bias is of shape [1], want [4]":      conv(),
		"(BatchNormalization): s is of shape [3]": net(17, open, of("s", 3), of("m", 1), do("BatchNormalization", "y", []string{"pixels", "s", "s", "s", "m"})),
		"it has 3 outputs in evaluation, want 1":  net(17, open, of("s", 3), &node{op: "BatchNormalization", in: []string{"pixels", "s", "s", "s", "s"}, out: []string{"y", "m", "v"}}),
		"(Clip): a bound m is of shape [2]":       net(17, open, of("m", 2), do("Clip", "y", []string{"pixels", "m"})),
		"perm [0 1 -1 2] is no permutation":       net(17, open, one("Transpose", list("perm", 0, 1, -1, 2))),
		"(Slice): axes [1 1] are there twice":     slice([]int64{1, 1}, []int64{1, 1}),
		"(Slice): from [0 0] to [0 0] along [1]":  slice([]int64{1}, []int64{1, 1}),
		"(Slice): its step is 0":                  slice([]int64{1, 2}, []int64{1, 0}),
		"(Trilu): its diagonal k is of type 1":    net(17, open, single("k", 1), do("Trilu", "y", []string{"pixels", "k"})),
		"(Reshape): a shape [0 -1] with":          net(17, open, fixed("to", 0, -1), do("Reshape", "y", []string{"pixels", "to"}, whole("allowzero", 1))),
		"(Expand): its shape k is of shape []":    net(17, open, single("k", 1), do("Expand", "y", []string{"pixels", "k"})),
		"(Add): its inputs are of types 1 and 7":  net(17, open, fixed("k", 1), do("Add", "y", []string{"pixels", "k"})),
		"(Where): pixels is of type 1, which":     net(17, open, do("Where", "y", []string{"pixels", "pixels", "pixels"})),
		"(Erf): i is of type 7, which it does":    net(17, open, do("Cast", "i", []string{"pixels"}, whole("to", 7)), do("Erf", "y", []string{"i"})),
		"(Expand): k is of type 6, want 7":        net(17, open, do("Constant", "k", nil, attr{name: "value", kind: tensorAttr, t: &tensor{dims: []int64{1}, kind: int32Type, raw: make([]byte, 4)}}), do("Expand", "y", []string{"pixels", "k"})),
		"(Slice): k is of shape [], want a list":  net(17, open, do("Constant", "k", nil, attr{name: "value", kind: tensorAttr, t: &tensor{kind: int64Type, raw: make([]byte, 8)}}), do("Slice", "y", []string{"pixels", "k", "k"})),
		"(Range): k is of shape [1], want a num":  net(17, open, fixed("k", 1), do("Range", "r", []string{"k", "k", "k"}), do("Add", "y", []string{"pixels", "r"})),
		"(Pad): its value v is of shape [2]":      net(17, open, fixed("k", 0, 0, 0, 0, 0, 0, 0, 1), of("v", 2), do("Pad", "y", []string{"pixels", "k", "v"})),
		"(Mod): floats need fmod":                 net(17, open, do("Mod", "y", []string{"pixels", "pixels"})),
		"(ConstantOfShape): its value is of":      net(17, open, fixed("k", 1), do("ConstantOfShape", "c", []string{"k"}, attr{name: "value", kind: tensorAttr, t: floats([]float32{1, 2})}), do("Add", "y", []string{"pixels", "c"})),
		"(Gelu): approximate is \"what\", want":   net(20, open, one("Gelu", text("approximate", "what"))),
		"is too large: want at most 4096 images":  net(17, []int64{65536, 3, 32, 32}, one("Relu")),
		"of 4096 pixels a side":                   net(17, []int64{-1, 3, 8192, 8192}, one("Relu")),
		"(Conv): group is 0":                      net(17, open, one("Conv", whole("group", 0))),
		"(Conv): dilations are [0 1]":             net(17, open, one("Conv", list("dilations", 0, 1))),
		"(MaxPool): kernel_shape is [1001 1001]":  net(17, open, one("MaxPool", list("kernel_shape", 1001, 1001))),
		"(LayerNormalization): axis -1000000000":  net(17, open, one("LayerNormalization", whole("axis", -1e9))),
		"(Split): split is [4 -1]":                net(11, open, one("Split", list("split", 4, -1))),
		"4096 pixels a side, and 33554432":        net(17, []int64{4096, 3, 1024, 1024}, one("Relu")),
		"(Split): split is [7 -4]":                net(17, open, computes("Split", "pixels", 7, -4)...),
		"(ReduceMean): axes [1 99]":               net(17, open, one("ReduceMean", list("axes", 1, 99))),
		"(AveragePool): pads are [-1 0 0 0]":      net(17, open, one("AveragePool", list("pads", -1, 0, 0, 0))),
		"(Div): it divides integers by 0":         net(17, open, computes("Div", "pixels", 3, 0)...),
		"(Mod): it divides the smallest integer":  net(17, open, computes("Mod", "low", -1)...),
		"(Gather): index 2 is out of range of 2":  net(17, open, computes("Gather", "low", 0, 2)...),
		"(Gather): index -3 is out of":            net(17, open, computes("Gather", "low", -3)...),
		"(ScatterND): index 5 is out of range":    net(17, open, computes("ScatterND", "low", 5)...),
		"(Expand): a value of shape [1000000 10":  net(17, open, computes("Expand", "pixels", 1e6, 1e6)...),
		"(Tile): a shape [2 -2] is":               net(17, open, computes("Tile", "pixels", 2, -2)...),
		"(Reshape): a shape [-7] is":              net(17, open, computes("Reshape", "pixels", -7)...),
		"(Pad): pads are [0 0 1000000]":           net(17, open, computes("Pad", "pixels", 0, 0, 1e6)...),
		"(Range): from 5 to 9000000000":           net(17, open, long(5, 9e9, 1)...),
		"(Range): its step is 0":                  net(17, open, long(5, 6, 0)...),
		"(Einsum): 1 inputs with 11 labels":       net(17, open, one("Einsum", attr{name: "equation", kind: stringAttr, s: "abcdefghijk->a"})),
	} {
		path := filepath.Join(t.TempDir(), "n.onnx")
		if err := os.WriteFile(path, g.encode(), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, "", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	var deep message
	for range 100 {
		var branch message
		branch.text(1, "then_branch")
		branch.bytes(6, deep)
		var inner message
		inner.bytes(5, branch)
		deep = nil
		deep.bytes(1, inner)
	}
	if err := new(content).parse(deep, 0); err == nil || !strings.Contains(err.Error(), "more than 16 deep") {
		t.Errorf("graphs in graphs: %v", err)
	}
	for text, want := range map[string]string{"version https://git-lfs.github.com/spec/v1\n": "is a Git LFS pointer", "<!DOCTYPE html>": "is an HTML page"} {
		path := filepath.Join(t.TempDir(), "n.onnx")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path, "", ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
