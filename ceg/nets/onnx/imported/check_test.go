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
	for want, g := range map[string]*content{
		"is too large: want at most 4096 images": net(17, []int64{65536, 3, 32, 32}, one("Relu")),
		"of 4096 pixels a side":                  net(17, []int64{-1, 3, 8192, 8192}, one("Relu")),
		"(Conv): group is 0":                     net(17, open, one("Conv", whole("group", 0))),
		"(Conv): dilations are [0 1]":            net(17, open, one("Conv", list("dilations", 0, 1))),
		"(MaxPool): kernel_shape is [1001 1001]": net(17, open, one("MaxPool", list("kernel_shape", 1001, 1001))),
		"(LayerNormalization): axis -1000000000": net(17, open, one("LayerNormalization", whole("axis", -1e9))),
		"(Split): split is [4 -1]":               net(11, open, one("Split", list("split", 4, -1))),
		"4096 pixels a side, and 33554432":       net(17, []int64{4096, 3, 1024, 1024}, one("Relu")),
		"(Split): split is [7 -4]":               net(17, open, computes("Split", "pixels", 7, -4)...),
		"(ReduceMean): axes [1 99]":              net(17, open, one("ReduceMean", list("axes", 1, 99))),
		"(AveragePool): pads are [-1 0 0 0]":     net(17, open, one("AveragePool", list("pads", -1, 0, 0, 0))),
		"(Div): it divides integers by 0":        net(17, open, computes("Div", "pixels", 3, 0)...),
		"(Mod): it divides the smallest integer": net(17, open, computes("Mod", "low", -1)...),
		"(Gather): index 2 is out of range of 2": net(17, open, computes("Gather", "low", 0, 2)...),
		"(Gather): index -3 is out of":           net(17, open, computes("Gather", "low", -3)...),
		"(ScatterND): index 5 is out of range":   net(17, open, computes("ScatterND", "low", 5)...),
		"(Expand): a value of shape [1000000 10": net(17, open, computes("Expand", "pixels", 1e6, 1e6)...),
		"(Tile): a shape [2 -2] is":              net(17, open, computes("Tile", "pixels", 2, -2)...),
		"(Reshape): a shape [-7] is":             net(17, open, computes("Reshape", "pixels", -7)...),
		"(Pad): pads are [0 0 1000000]":          net(17, open, computes("Pad", "pixels", 0, 0, 1e6)...),
		"(Range): from 5 to 9000000000":          net(17, open, long(5, 9e9, 1)...),
		"(Range): its step is 0":                 net(17, open, long(5, 6, 0)...),
		"(Einsum): 1 inputs with 11 labels":      net(17, open, one("Einsum", attr{name: "equation", kind: stringAttr, s: "abcdefghijk->a"})),
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
