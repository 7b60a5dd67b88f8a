package imported

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

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
