package imported

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/nets"
)

// sample are some values of a tensor and the norm of all.
type sample struct {
	Norm   float64
	At     []int
	Values []float64
}

// noise is what a gradient may be off that is 0 but for rounding, as one of a shift in front of
// BatchNormalization is; the features' adjoints are of the order of 1.
const noise = 1e-5

// check compares with PyTorch's float32. Both add in orders of their own, which errors grow
// through: the tolerance is of the largest of a tensor's values, or of their norm.
func (s sample) check(t *testing.T, name string, got []float32, tolerance float64) {
	t.Helper()
	sum, largest := 0.0, 0.0
	for _, v := range got {
		sum += float64(v) * float64(v)
		largest = max(largest, math.Abs(float64(v)))
	}
	if norm := math.Sqrt(sum); !(math.Abs(norm-s.Norm) <= tolerance*s.Norm+noise) {
		t.Errorf("%s has norm %v, PyTorch's has %v", name, norm, s.Norm)
	}
	for i, at := range s.At {
		if d := math.Abs(float64(got[at]) - s.Values[i]); !(d <= tolerance*max(largest, s.Norm/10)+noise) {
			t.Errorf("%s: value %d is %v, PyTorch's is %v", name, at, got[at], s.Values[i])
		}
	}
}

// pytorch are PyTorch's of testdata/train, by network.
func pytorch(t *testing.T) (m map[string]struct {
	Features  sample
	Gradients map[string]sample
}) {
	t.Helper()
	b, err := os.ReadFile("testdata/train/golden.json")
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// One step's features and gradients are PyTorch's, of two batches that go through the network
// together.
func TestStepIsPyTorchs(t *testing.T) {
	want := pytorch(t)
	for _, name := range []string{"resnet", "mobilenet", "convnext", "vit"} {
		t.Run(name, func(t *testing.T) {
			n, err := OpenTrainable("testdata/train/"+name+".onnx", "", "", "", 32)
			if err != nil {
				t.Fatal(err)
			}
			features, gradients := step(t, n)
			w := want[name]
			const tolerance = 1e-4
			w.Features.check(t, "features", features, tolerance)
			if len(w.Gradients) != len(gradients) {
				t.Errorf("%d gradients, PyTorch has %d", len(gradients), len(w.Gradients))
			}
			for name, g := range w.Gradients {
				g.check(t, name, gradients[name], tolerance)
			}
		})
	}
}

// step returns the features and gradients of a step of make.py, without the names' prefix.
func step(t *testing.T, n *Trainable) (features []float32, gradients map[string][]float32) {
	t.Helper()
	byName, err := n.Values()
	if err != nil {
		t.Fatal(err)
	}
	var values [][]float32
	for _, p := range n.params {
		values = append(values, byName[p.Name])
	}
	features, gradients = run(t, n, n.params, values, 6, func(x *graph.Node) []nets.Pass {
		half := func(from, to int) *graph.Node { return graph.SliceAxis(x, 0, graph.AxisRange(from, to)) }
		return []nets.Pass{{Images: half(0, 3), Group: 1}, {Images: half(3, 6), Group: 2, ImageGrad: true}}
	})
	if !slices.ContainsFunc(gradients["images"], func(v float32) bool { return v != 0 }) {
		t.Error("images have no gradients")
	}
	delete(gradients, "images")
	for _, name := range slices.Collect(maps.Keys(gradients)) {
		gradients[name[len(Prefix):]] = gradients[name]
		delete(gradients, name)
	}
	return features, gradients
}

// run computes passes of pictures: their features f, and the gradients of sum_i cos(0.7 i) f_i of
// each pass.
func run(t *testing.T, g nets.Graph, params []nets.Param, values [][]float32, images int, passes func(x *graph.Node) []nets.Pass) (features []float32, gradients map[string][]float32) {
	t.Helper()
	var args []any
	for i, p := range params {
		args = append(args, tensors.FromFlatDataAndDimensions(values[i], p.Shape...))
	}
	var pixels []byte
	for k := range images {
		pixels = append(pixels, image(k)...)
	}
	var names []string // of gradients
	out, err := graph.MustNewExec(backend(t).Compute, func(args []*graph.Node) []*graph.Node {
		byName := map[string]*graph.Node{}
		for i, p := range params {
			byName[p.Name] = args[i]
		}
		list := passes(nets.Normalise(args[len(params)], given.Mean, given.Std))
		f := g.Build(byName, list, true)
		var adjoints []*graph.Node
		for _, y := range f.Passes {
			at := graph.Iota(y.Graph(), shapes.Make(dtypes.Float32, y.Shape().Size()), 0)
			adjoints = append(adjoints, graph.Reshape(graph.Cos(graph.MulScalar(at, 0.7)), y.Shape().Dimensions...))
		}
		grads, of := f.Pull(adjoints)
		nodes := []*graph.Node{graph.Concatenate(f.Passes, 0)}
		for i, p := range list {
			if p.ImageGrad {
				names, nodes = append(names, "images"), append(nodes, of[i])
			}
		}
		for _, p := range params {
			if grads[p.Name] != nil {
				names, nodes = append(names, p.Name), append(nodes, grads[p.Name])
			}
		}
		return nodes
	}).Call(append(args, tensors.FromFlatDataAndDimensions(pixels, images, 32, 32, 3))...)
	if err != nil {
		t.Fatal(firstLine(err))
	}
	gradients = map[string][]float32{}
	for i, name := range names {
		gradients[name] = tensors.MustCopyFlatData[float32](out[1+i])
	}
	return tensors.MustCopyFlatData[float32](out[0]), gradients
}

// What was exported as it trains is a network like others: Dropout is left out and said.
func TestExportedInTraining(t *testing.T) {
	n, err := OpenTrainable("testdata/train/small.onnx", "", "", "", 32)
	if err != nil {
		t.Fatal(err)
	}
	if _, gradients := step(t, n); len(gradients) != 5 {
		t.Errorf("%d gradients, want 5", len(gradients))
	}
	if notes := n.Notes(); len(notes) != 2 || notes[0] != "small.onnx: its 1 layers of Dropout are left out in training" ||
		!strings.HasSuffix(notes[1], "layers of BatchNormalization keep the file's means and variances in training") {
		t.Errorf("notes %q", notes)
	}
}

// A network whose weights lie beside it has parameters as others have; halves and old opsets are
// refused.
func TestParametersOfFiles(t *testing.T) {
	want := map[string][]float32{}
	for _, file := range []string{"vit", "outside", "half", "vit11"} {
		n, err := OpenTrainable("testdata/"+file+".onnx", "pooled", "", "", 32)
		if want := map[string]string{"vit11": "export it with opset 13 or later", "half": errNoWeights.Error()}[file]; want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v", file, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		v, err := n.Values()
		if err != nil {
			t.Fatal(err)
		}
		if file == "vit" {
			want = v
		}
		if len(v) != len(want) || len(v) < 15 {
			t.Errorf("%s has %d parameters, vit %d", file, len(v), len(want))
		}
		for name := range want {
			for i, x := range want[name] {
				if math.Abs(float64(x-v[name][i])) > 1e-3*math.Abs(float64(x)) {
					t.Fatalf("%s: %s is %v at %d, want %v", file, name, v[name][i], i, x)
				}
			}
		}
		if files := len(n.Files()); files != 1 && file != "outside" || file == "outside" && files != 2 {
			t.Errorf("%s is in %v", file, n.Files())
		}
	}
}

// A network with values of the fifth power of the batch is refused, and one of the trained ones is not.
func TestTry(t *testing.T) {
	for file, want := range map[string]string{"grows.onnx": "grow faster than the number of images", "train/small.onnx": "", "train/vit.onnx": ""} {
		n, err := OpenTrainable("testdata/"+file, "", "", "", 32)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Try(backend(t)); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v", file, err)
		}
	}
}
