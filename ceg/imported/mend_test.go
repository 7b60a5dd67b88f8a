package imported

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mendedNodes are networks of 3 channels of which onnx-gomlx would compute something else, or
// nothing, by name: from "x", and to "z". Weights of theirs are "scale".
func mendedNodes() map[string][]*node {
	number := func(name string, v int64) attr { return attr{name: name, kind: intAttr, i: v} }
	ints := func(name string, v ...int64) *node {
		c := do("Constant", name, nil, attr{name: "value", kind: tensorAttr, t: integers(v)})
		if len(v) == 1 {
			c.attrs[0].t.dims = nil
		}
		return c
	}
	pool := func(op string, kernel, stride, around int64, more ...attr) *node {
		return do(op, "z", []string{"x"}, append(more, number("ceil_mode", 1),
			list("kernel_shape", kernel, kernel), list("strides", stride, stride), list("pads", around, around, around, around))...)
	}
	return map[string][]*node{
		"maximum, rounded up":                  {pool("MaxPool", 3, 2, 0)},
		"maximum, rounded up, padded":          {pool("MaxPool", 3, 2, 1)},
		"maximum, of which nothing is rounded": {pool("MaxPool", 2, 2, 0)},
		"mean, rounded up":                     {pool("AveragePool", 3, 2, 0)},
		"mean, rounded up, padded":             {pool("AveragePool", 3, 2, 1)},
		"mean of padding, rounded up":          {pool("AveragePool", 3, 2, 1, number("count_include_pad", 1))},
		"mean of padding, a stride of 3":       {pool("AveragePool", 5, 3, 2, number("count_include_pad", 1))},
		"strides and dilations": {of("w", 3, 3, 3, 3),
			do("Conv", "z", []string{"x", "w"}, list("strides", 2, 2), list("dilations", 2, 2), list("pads", 2, 2, 2, 2))},
		"equation with spaces": {of("w", 3, 3), do("Einsum", "z", []string{"x", "w"}, attr{name: "equation", kind: stringAttr, s: "B C H W , C D -> B D H W"})},
		"every fourth row": {ints("from", 1), ints("to", 31), ints("by", 4),
			do("Range", "rows", []string{"from", "to", "by"}), do("Gather", "z", []string{"x", "rows"}, number("axis", 2))},
		"every seventh row, one too few for an eighth": {ints("from", 0), ints("to", 29), ints("by", 7),
			do("Range", "rows", []string{"from", "to", "by"}), do("Gather", "z", []string{"x", "rows"}, number("axis", 2))},
		"standardised weights": {of("w", 1, 3, 27), of("gain", 3), of("shift", 3), do("ReduceMean", "mean", []string{"w"}, list("axes", 0, 2), number("keepdims", 0)),
			do("Mul", "variance", []string{"mean", "mean"}),
			&node{op: "BatchNormalization", in: []string{"w", "gain", "shift", "mean", "variance"}, out: []string{"standard", "m", "v"}, attrs: []attr{number("training_mode", 1), {name: "epsilon", kind: floatAttr, f: 1e-6}}},
			ints("shape", 3, 3, 3, 3), do("Reshape", "kernel", []string{"standard", "shape"}), do("Conv", "z", []string{"x", "kernel"})},
	}
}

// scaled writes nodes behind images times "scale", a weight [3, 1, 1], and opens them.
func scaled(t *testing.T, scale []float32, nodes ...*node) string {
	t.Helper()
	g := net(17, []int64{-1, 3, 32, 32}, do("Abs", "images", []string{"pixels"}), do("Mul", "x", []string{"images", "scale"}))
	g.nodes = append(append(g.nodes, nodes...), do("GlobalAveragePool", "y", []string{"z"}))
	g.weights = []*tensor{{name: "scale", kind: float32Type, dims: []int64{3, 1, 1}}}
	folder := t.TempDir()
	if err := errors.Join(os.WriteFile(filepath.Join(folder, "net.onnx"), g.encode(), 0o666),
		os.WriteFile(filepath.Join(folder, "0"), floats(scale).raw, 0o666)); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "net.onnx")
}

// What is mended has ONNX Runtime's features, and gradients that fit them: where doubling the
// weights doubles the features, the gradient times the weights is what it is a gradient of.
func TestMended(t *testing.T) {
	scale := []float32{0.5, -1.5, 2}
	for name, nodes := range mendedNodes() {
		t.Run(name, func(t *testing.T) {
			path := scaled(t, scale, nodes...)
			features := func(t *testing.T, open opener) [2][]float32 {
				n, err := Open(path, "", "")
				if err != nil {
					t.Fatal(err)
				}
				return featuresOf(t, open, n, plain)
			}
			got := features(t, onGo(t))
			t.Run("as ONNX Runtime", func(t *testing.T) {
				for i, v := range features(t, onRuntime(t)) {
					want := make([]float64, len(v))
					for j, x := range v {
						want[j] = float64(x)
					}
					near(t, got[i], want)
				}
			})
			n, err := OpenTrainable(path, "", "", "", 32)
			if err != nil {
				t.Fatal(err)
			}
			s, sum, made := step(t, backend(t), n), 0., 0.
			for i, v := range s.features {
				sum += float64(v) * math.Cos(0.7*float64(i%9))
			}
			for i, g := range s.gradients["scale"] {
				made += float64(g * scale[i])
			}
			if !(math.Abs(sum-made) <= 1e-4*max(1, math.Abs(sum))) || sum == 0 {
				t.Errorf("the gradient times the weights is %v, and the features' sum %v", made, sum)
			}
		})
	}
}

// Where a window could begin in what is added at the end, rounding up is not the same.
func TestNotMended(t *testing.T) {
	path := scaled(t, []float32{1, 1, 1}, do("MaxPool", "z", []string{"x"}, attr{name: "ceil_mode", kind: intAttr, i: 1}, list("kernel_shape", 2, 2), list("strides", 2, 2), list("pads", 1, 1, 1, 1)))
	_, err := OpenTrainable(path, "", "", "", 32)
	if err == nil || !strings.Contains(err.Error(), "ceil_mode with a kernel of 2, a stride of 2 and 1 places around is not taken") {
		t.Errorf("error %v", err)
	}
}

// Weights that are standardised as they are used learn, and so do their scales.
func TestStandardisedLearn(t *testing.T) {
	g := net(17, []int64{-1, 3, 32, 32},
		do("ReduceMean", "mean", []string{"w"}, list("axes", 0, 2), attr{name: "keepdims", kind: intAttr}), do("Mul", "variance", []string{"mean", "mean"}),
		&node{op: "BatchNormalization", in: []string{"w", "gain", "shift", "mean", "variance"}, out: []string{"standard", "m", "v"}, attrs: []attr{{name: "training_mode", kind: intAttr, i: 1}}},
		do("Conv", "y", []string{"pixels", "standard"}))
	for name, dims := range map[string][]int64{"w": {1, 3, 27}, "gain": {3}, "shift": {3}} {
		g.weights = append(g.weights, &tensor{name: name, kind: float32Type, dims: dims})
	}
	g.standardise("y")
	if got := g.learning(); len(got) != 3 {
		t.Errorf("%d weights learn, want w, gain and shift", len(got))
	}
	for _, n := range g.nodes {
		if n.op == "BatchNormalization" || n.out[0] == "variance" {
			t.Errorf("%s of %s is still there", n.op, n.out[0])
		}
	}
}
