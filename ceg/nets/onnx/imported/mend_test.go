package imported

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// mendedNodes are networks of 3 channels, by name, that onnx-gomlx would compute differently or
// not at all: from "x", and to "z". Weights of theirs are "scale".
func mendedNodes() map[string][]*node {
	number := func(name string, v int64) attr { return attr{name: name, kind: intAttr, i: v} }
	vector := func(name string, v ...int64) *node {
		return do("Constant", name, nil, attr{name: "value", kind: tensorAttr, t: integers(v)})
	}
	ints := func(name string, v ...int64) *node {
		c := vector(name, v...)
		if len(v) == 1 {
			c.attrs[0].t.dims = nil
		}
		return c
	}
	by := func(height, width float32) *node {
		return do("Constant", "by", nil, attr{name: "value", kind: tensorAttr, t: floats([]float32{1, 1, height, width})})
	}
	resize := func(mode, place string) *node {
		text := func(name, s string) attr { return attr{name: name, kind: stringAttr, s: s} }
		return do("Resize", "z", []string{"x", "", "by"}, text("mode", mode), text("coordinate_transformation_mode", place), text("nearest_mode", "floor"))
	}
	pool := func(op string, kernel, stride, around int64, more ...attr) *node {
		return do(op, "z", []string{"x"}, append(more, number("ceil_mode", 1),
			list("kernel_shape", kernel, kernel), list("strides", stride, stride), list("pads", around, around, around, around))...)
	}
	return map[string][]*node{
		"maximum, rounded up":                  {pool("MaxPool", 3, 2, 0)},
		"maximum, rounded up, padded":          {pool("MaxPool", 3, 2, 1)},
		"maximum, of which nothing is rounded": {pool("MaxPool", 2, 2, 0)},
		"maximum of many":                      {pool("MaxPool", 9, 2, 3)},
		"mean of many":                         {pool("AveragePool", 9, 3, 4)},
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
		"pieces of a sequence": {vector("one two", 1, 2), vector("shape", 2), do("Reshape", "sizes", []string{"one two", "shape"}), do("SplitToSequence", "pieces", []string{"x", "sizes"}, number("axis", 1)),
			ints("last", -1), do("SequenceAt", "two", []string{"pieces", "last"}), ints("first", 0), do("SequenceAt", "one", []string{"pieces", "first"}), do("Concat", "z", []string{"two", "one"}, number("axis", 1))},
		"pieces of equal sizes": {ints("by", 2), do("SplitToSequence", "pieces", []string{"x", "by"}, number("axis", 1)),
			ints("second", 1), do("SequenceAt", "one", []string{"pieces", "second"}), ints("first", 0), do("SequenceAt", "two", []string{"pieces", "first"}), do("Concat", "z", []string{"one", "two"}, number("axis", 1))},
		"rows by a number like another": {ints("from", 0), ints("to", 30), single("by", 7), do("CastLike", "step", []string{"by", "to"}),
			do("Range", "rows", []string{"from", "to", "step"}), do("Gather", "z", []string{"x", "rows"}, number("axis", 2))},
		"a power of each column": {of("w", 1, 1, 1, 32), of("e", 1, 1, 1, 32), do("Abs", "some", []string{"w"}), do("Pow", "powers", []string{"some", "e"}), do("Mul", "z", []string{"x", "powers"})},
		"linear Resize":          {by(0.4, 1.7), resize("linear", "half_pixel")},
		"linear Resize, corners": {by(1.5, 0.5), resize("linear", "align_corners")},
		"nearest Resize":         {by(2, 0.3), resize("nearest", "asymmetric")},
		"a channel in another's place": {do("Transpose", "channels", []string{"x"}, permuted(1, 0, 2, 3)...), vector("last", 2), do("Gather", "rows", []string{"channels", "last"}, number("axis", 0)),
			ints("first", 0), vector("place", 1, 1), do("Reshape", "at", []string{"first", "place"}), do("ScatterND", "set", []string{"channels", "at", "rows"}), do("Transpose", "z", []string{"set"}, permuted(1, 0, 2, 3)...)},
	}
}

// weight is one of a file.
type weight struct {
	name string
	dims []int64
	v    []float32
}

// scaled writes nodes behind images times "scale", a weight [3, 1, 1], with more weights.
func scaled(t *testing.T, scale []float32, nodes ...*node) string {
	return weighed(t, scale, nil, nodes...)
}

func weighed(t *testing.T, scale []float32, more []weight, nodes ...*node) string {
	t.Helper()
	g := net(17, []int64{-1, 3, 32, 32}, do("Abs", "images", []string{"pixels"}), do("Mul", "x", []string{"images", "scale"}))
	g.nodes = append(append(g.nodes, nodes...), do("GlobalAveragePool", "y", []string{"z"}))
	folder := t.TempDir()
	for i, w := range append([]weight{{"scale", []int64{3, 1, 1}, scale}}, more...) {
		g.weights = append(g.weights, &tensor{name: w.name, kind: float32Type, dims: w.dims})
		if err := os.WriteFile(filepath.Join(folder, strconv.Itoa(i)), floats(w.v).raw, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, "net.onnx"), g.encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(folder, "net.onnx")
}

// Windows as large as they may be take no longer than their sides are long: each of these sees the whole image.
func TestLargeWindows(t *testing.T) {
	on := backend(t)
	images, most := make([]byte, 8*32*32*3), [8][3]float32{}
	sum := most
	for n := range most {
		most[n] = [3]float32{-2, -2, -2}
	}
	for i := range images {
		images[i] = byte(i * i % 251)
		n, c := i/(32*32*3), i%3
		v := (float32(images[i])/255 - 0.5) / 0.25 // as plain says
		most[n][c], sum[n][c] = max(most[n][c], v), sum[n][c]+v/(32*32)
	}
	for op, want := range map[string][8][3]float32{"MaxPool": most, "AveragePool": sum} {
		path := filepath.Join(t.TempDir(), "n.onnx")
		g := net(17, []int64{-1, 3, -1, -1}, do(op, "p", []string{"pixels"}, list("kernel_shape", 255, 255), list("pads", 127, 127, 127, 127)), do("GlobalAveragePool", "y", []string{"p"}))
		if err := os.WriteFile(path, g.encode(), 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := Open(path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		x, err := n.Exec(on, 32, plain)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		got, err := x.Run(images)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 20*time.Second { // by taps, minutes
			t.Errorf("%s takes %v", op, took)
		}
		for i, v := range got {
			if w := want[i/3][i%3]; math.Abs(float64(v-w)) > 1e-5 {
				t.Errorf("%s: feature %d is %v, want %v", op, i, v, w)
			}
		}
	}
}

// A step with a large window takes seconds, not minutes, and its features are the ones in use.
func TestStepOfLargeWindows(t *testing.T) {
	for _, op := range []string{"MaxPool", "AveragePool"} {
		path := scaled(t, []float32{0.5, 1.5, 2}, do(op, "z", []string{"x"}, list("kernel_shape", 127, 127), list("strides", 2, 1), list("pads", 63, 63, 63, 63)))
		n, err := Open(path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		want := featuresOf(t, onGo(t), n, plain)[0]
		trainable, err := OpenTrainable(path, "", "", "", 32)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s := step(t, backend(t), trainable)
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("a step with %s takes %v", op, took)
		}
		for i, v := range s.features[:len(want)] {
			if math.Abs(float64(v-want[i])) > 1e-5 {
				t.Fatalf("%s: feature %d is %v in training, and %v in use", op, i, v, want[i])
			}
		}
	}
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

// If a window can begin in the padding at the end, rounding up differs.
func TestNotMended(t *testing.T) {
	path := scaled(t, []float32{1, 1, 1}, do("MaxPool", "z", []string{"x"}, attr{name: "ceil_mode", kind: intAttr, i: 1}, list("kernel_shape", 2, 2), list("strides", 2, 2), list("pads", 1, 1, 1, 1)))
	_, err := OpenTrainable(path, "", "", "", 32)
	if err == nil || !strings.Contains(err.Error(), "ceil_mode with a kernel of 2, a stride of 2 and 1 places around is not supported") {
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

// BatchNormalization of rows, several to an image, has the step of that of maps.
func TestNormOfRows(t *testing.T) {
	weights := []weight{{"gain", []int64{3}, []float32{0.5, 1.5, 2}}, {"shift", []int64{3}, []float32{0.1, 0.2, -0.3}},
		{"mean", []int64{3}, []float32{0, 0, 0}}, {"variance", []int64{3}, []float32{1, 1, 1}}}
	shape := func(name string, v ...int64) *node {
		return do("Constant", name, nil, attr{name: "value", kind: tensorAttr, t: integers(v)})
	}
	made := func(nodes ...*node) stepped {
		n, err := OpenTrainable(weighed(t, []float32{0.5, -1.5, 2}, weights, nodes...), "", "", "", 32)
		if err != nil {
			t.Fatal(err)
		}
		return step(t, backend(t), n)
	}
	norm := func(out, in string) *node {
		return do("BatchNormalization", out, []string{in, "gain", "shift", "mean", "variance"})
	}
	end := do("Mul", "z", []string{"n", "x"})
	want := made(norm("n", "x"), end)
	got := made(do("Transpose", "last", []string{"x"}, permuted(0, 2, 3, 1)...), shape("flat", -1, 3), do("Reshape", "rows", []string{"last", "flat"}), norm("normal", "rows"),
		shape("whole", -1, 32, 32, 3), do("Reshape", "back", []string{"normal", "whole"}), do("Transpose", "n", []string{"back"}, permuted(0, 3, 1, 2)...), end)
	if len(want.gradients) != 3 || len(want.running) != 2 {
		t.Fatalf("%d gradients and %d statistics, want 3 and 2", len(want.gradients), len(want.running))
	}
	for what, pair := range map[string][2]map[string][]float32{"features": {{"": got.features}, {"": want.features}},
		"in evaluation": {{"": got.tested}, {"": want.tested}}, "gradients": {got.gradients, want.gradients}, "statistics": {got.running, want.running}} {
		if d, whose := furthest(pair[0], pair[1], 1e-3); d > 1e-3 { // of "scale", in proportion to which nothing but x changes
			t.Errorf("%s differ by %v (%s)", what, d, whose)
		}
	}
}

// A single number learns if it has the name of a module's parameter, and so do weights of gates.
func TestSingleNumbersLearn(t *testing.T) {
	const slope = 0.25
	weights := []weight{{"act.weight", []int64{1}, []float32{slope}}, {"gate", []int64{3, 1, 1}, []float32{1, -1, 0.5}},
		{"onnx::Mul_7", []int64{1}, []float32{2}}, {"blocks.0.lifted_tensor_0", []int64{1}, []float32{3}}}
	n, err := OpenTrainable(weighed(t, []float32{0.5, -1.5, 2}, weights, do("PRelu", "bent", []string{"x", "act.weight"}), do("Sigmoid", "open", []string{"gate"}),
		do("Mul", "gated", []string{"bent", "open"}), do("Mul", "twice", []string{"gated", "onnx::Mul_7"}), do("Mul", "z", []string{"twice", "blocks.0.lifted_tensor_0"})), "", "", "", 32)
	if err != nil {
		t.Fatal(err)
	}
	s, want := step(t, backend(t), n), 0.
	for _, name := range []string{"scale", "act.weight", "gate"} {
		if g := s.gradients[name]; len(g) == 0 || slices.Contains(g, 0) {
			t.Errorf("%s has the gradient %v", name, g)
		}
	}
	if len(s.gradients) != 3 {
		t.Errorf("%d weights learn, want 3", len(s.gradients))
	}
	for i, v := range s.features { // of the channel that is below 0, in proportion to the slope
		if i%3 == 1 {
			want += float64(v) * math.Cos(0.7*float64(i%9)) / slope
		}
	}
	if got := float64(s.gradients["act.weight"][0]); !(math.Abs(got-want) <= 1e-4*math.Abs(want)) {
		t.Errorf("the slope's gradient is %v, want %v", got, want)
	}
}
