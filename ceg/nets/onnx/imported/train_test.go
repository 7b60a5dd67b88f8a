package imported

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine"
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
	on, want := backend(t), pytorch(t)
	for _, name := range []string{"resnet", "mobilenet", "convnext", "vit"} {
		t.Run(name, func(t *testing.T) {
			n, err := OpenTrainable("testdata/train/"+name+".onnx", "", "", "", 32)
			if err != nil {
				t.Fatal(err)
			}
			got, w := step(t, on, n), want[name]
			const tolerance = 1e-4
			w.Features.check(t, "features", got.features, tolerance)
			if len(w.Gradients) != len(got.gradients) {
				t.Errorf("%d gradients, PyTorch has %d", len(got.gradients), len(w.Gradients))
			}
			for name, g := range w.Gradients {
				g.check(t, name, got.gradients[name], tolerance)
			}
		})
	}
}

// stepped is what a step of make.py makes.
type stepped struct {
	features  []float32
	gradients map[string][]float32
}

func step(t *testing.T, on engine.Backend, n *Trainable) stepped {
	t.Helper()
	const size = 32
	var images []byte
	for k := range 6 {
		images = append(images, image(k)...)
	}
	values, err := n.Values()
	if err != nil {
		t.Fatal(err)
	}
	params, features, err := n.Params(size)
	if err != nil {
		t.Fatal(err)
	}
	var list []any
	for _, p := range params {
		list = append(list, tensors.FromFlatDataAndDimensions(values[p.Name], p.Shape...))
	}
	var names []string // of gradients
	out, err := graph.MustNewExec(on.Compute, func(args []*graph.Node) []*graph.Node {
		byName := map[string]*graph.Node{}
		for i, p := range params {
			byName[p.Name] = args[i]
		}
		x := nets.Normalise(args[len(params)], given.Mean, given.Std)
		g := x.Graph()
		half := func(from, to int) *graph.Node { return graph.SliceAxis(x, 0, graph.AxisRange(from, to)) }
		f := n.Build(byName, []nets.Pass{{Images: half(0, 3), Group: 1}, {Images: half(3, 6), Group: 2, ImageGrad: true}}, true)
		d := graph.Cos(graph.MulScalar(graph.Iota(g, shapes.Make(dtypes.Float32, 3*features), 0), 0.7))
		d = graph.Reshape(d, 3, features)
		grads, of := f.Pull([]*graph.Node{d, d})
		nodes := []*graph.Node{graph.Concatenate(f.Passes, 0), graph.ReduceAllSum(graph.Abs(of[1]))}
		for _, p := range params {
			if grads[p.Name] != nil {
				names, nodes = append(names, p.Name), append(nodes, grads[p.Name])
			}
		}
		return nodes
	}).Call(append(list, tensors.FromFlatDataAndDimensions(images, 6, size, size, 3))...)
	if err != nil {
		t.Fatalf("%v", firstLine(err))
	}
	if v := tensors.ToScalar[float32](out[1]); !(v > 0) {
		t.Errorf("images have gradients of %v in all", v)
	}
	s := stepped{tensors.MustCopyFlatData[float32](out[0]), map[string][]float32{}}
	for i, name := range names {
		s.gradients[name[len(Prefix):]] = tensors.MustCopyFlatData[float32](out[2+i])
	}
	return s
}

// What was exported as it trains is a network like others: Dropout is left out and said.
func TestExportedInTraining(t *testing.T) {
	n, err := OpenTrainable("testdata/train/small.onnx", "", "", "", 32)
	if err != nil {
		t.Fatal(err)
	}
	if s := step(t, backend(t), n); len(s.gradients) != 5 {
		t.Errorf("%d gradients, want 5", len(s.gradients))
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
