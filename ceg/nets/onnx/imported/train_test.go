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
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
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
	Features, Tested   sample
	Gradients, Running map[string]sample
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

// One step's features, gradients and running statistics are PyTorch's, of two batches that have
// their own statistics and go through the network together.
func TestStepIsPyTorchs(t *testing.T) {
	on, want := backend(t), pytorch(t)
	for _, name := range []string{"resnet", "mobilenet", "convnext", "vit", "resnet-dynamo", "mobilenet-dynamo", "convnext-dynamo", "vit-dynamo"} {
		t.Run(name, func(t *testing.T) {
			n, err := OpenTrainable("testdata/train/"+name+".onnx", "", "", "", 32)
			if err != nil {
				t.Fatal(err)
			}
			got, w := step(t, on, n), want[name]
			const tolerance = 1e-4
			w.Features.check(t, "features", got.features, tolerance)
			w.Tested.check(t, "features in evaluation", got.tested, tolerance)
			if len(w.Gradients) != len(got.gradients) || len(w.Running) != len(got.running) {
				t.Errorf("%d gradients and %d statistics, PyTorch has %d and %d", len(got.gradients), len(got.running), len(w.Gradients), len(w.Running))
			}
			for name, g := range w.Gradients {
				g.check(t, name, got.gradients[name], tolerance)
			}
			for name, g := range w.Running {
				g.check(t, name, got.running[name], tolerance)
			}
		})
	}
}

// stepped is what a step of make.py makes.
type stepped struct {
	features, tested   []float32
	gradients, running map[string][]float32
}

func step(t *testing.T, on engine.Backend, n *Trainable) stepped {
	t.Helper()
	var images []byte
	for k := range 6 {
		images = append(images, image(k)...)
	}
	return stepOn(t, on, n, images, 32)
}

// stepOn makes a step on six images of a side.
func stepOn(t *testing.T, on engine.Backend, n *Trainable, images []byte, size int) stepped {
	t.Helper()
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
	var names []string // of gradients, then of statistics
	trained := 0
	out, err := graph.MustNewExec(on.Compute, func(args []*graph.Node) []*graph.Node {
		byName := map[string]*graph.Node{}
		for i, p := range params {
			byName[p.Name] = args[i]
		}
		x := nets.Normalise(args[len(params)], plain.Mean, plain.Std)
		g := x.Graph()
		half := func(from, to int) *graph.Node { return graph.SliceAxis(x, 0, graph.AxisRange(from, to)) }
		f := n.Build(byName, []nets.Pass{{Images: half(0, 3), Group: 1, UpdateStats: true}, {Images: half(3, 6), Group: 2, UpdateStats: true}}, true)
		d := graph.Cos(graph.MulScalar(graph.Iota(g, shapes.Make(dtypes.Float32, 3*features), 0), 0.7))
		d = graph.Reshape(d, 3, features)
		grads, _ := f.Pull([]*graph.Node{d, d})
		tested := n.Build(byName, []nets.Pass{{Images: half(0, 3), NoGrad: true}}, false).Passes[0]
		nodes := []*graph.Node{graph.Concatenate(f.Passes, 0), tested}
		for _, p := range params {
			if grads[p.Name] != nil {
				names, nodes = append(names, p.Name), append(nodes, grads[p.Name])
			}
		}
		trained = len(names)
		for name, v := range f.Running {
			names, nodes = append(names, name), append(nodes, v)
		}
		return nodes
	}).Call(append(list, tensors.FromFlatDataAndDimensions(images, 6, size, size, 3))...)
	if err != nil {
		t.Fatalf("%v", firstLine(err))
	}
	flat := func(i int) []float32 { return tensors.MustCopyFlatData[float32](out[i]) }
	s := stepped{features: flat(0), tested: flat(1), gradients: map[string][]float32{}, running: map[string][]float32{}}
	for i, name := range names {
		if i < trained {
			s.gradients[name[len(Prefix):]] = flat(2 + i)
		} else {
			s.running[name[len(Prefix):]] = flat(2 + i)
		}
	}
	return s
}

// On the bounds of an activation gradients are PyTorch's, whatever computes them: values are exactly
// zero behind a weight that is, such as a residual branch's last scale where training begins.
func TestGradientsOnBounds(t *testing.T) {
	backends := map[string]engine.Backend{"go": backend(t)}
	t.Run("xla", func(t *testing.T) {
		b, err := engine.Open(enginetest.XLA(t))
		if err != nil {
			t.Fatal(err)
		}
		backends["xla"] = b
	})
	if b, ok := backends["xla"]; ok {
		defer b.Close()
	}
	for _, c := range []struct {
		name  string
		op    *node
		at    float32 // what the activation is computed of
		slope float64 // torch.autograd's
	}{
		{"ReLU", do("Relu", "z", []string{"sum"}), 0, 0},
		{"ReLU", do("Relu", "z", []string{"sum"}), 1, 1},
		{"ReLU6", do("Clip", "z", []string{"sum", "zero", "six"}), 0, 0},
		{"ReLU6", do("Clip", "z", []string{"sum", "zero", "six"}), 6, 0},
		{"ReLU6", do("Clip", "z", []string{"sum", "zero", "six"}), 2, 1},
		{"LeakyReLU", do("LeakyRelu", "z", []string{"sum"}, attr{name: "alpha", kind: floatAttr, f: 0.25}), 0, 0.25},
		{"PReLU", do("PRelu", "z", []string{"sum", "slope"}), 0, 0.25},
		{"ELU", do("Elu", "z", []string{"sum"}, attr{name: "alpha", kind: floatAttr, f: 0.75}), 0, 0.75},
	} {
		open := func(op *node) *Trainable {
			path := scaled(t, make([]float32, 3), single("at", c.at), single("zero", 0), single("six", 6), single("slope", 0.25),
				do("Add", "sum", []string{"x", "at"}), op)
			n, err := OpenTrainable(path, "", "", "", 32)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		bent, straight := open(c.op), open(do("Identity", "z", []string{"sum"}))
		const tolerance = 1e-3 // terms of the order of 1 leave some 0.01, so that two or three of 7 digits are lost
		for name, on := range backends {
			got, want := step(t, on, bent).gradients["scale"], step(t, on, straight).gradients["scale"]
			for i := range 3 {
				if w := c.slope * float64(want[i]); !(math.Abs(float64(got[i])-w) <= tolerance*math.Abs(float64(want[i]))) || want[i] == 0 {
					t.Errorf("%s at %v on %s: gradient %v, want %v of %v", c.name, c.at, name, got[i], c.slope, want[i])
				}
			}
		}
	}
}

// What was exported as it trains is a network like others: statistics are updated, and Dropout is
// left out and said.
func TestExportedInTraining(t *testing.T) {
	n, err := OpenTrainable("testdata/train/small.onnx", "", "", "", 32)
	if err != nil {
		t.Fatal(err)
	}
	if s := step(t, backend(t), n); len(s.running) != 2 || len(s.gradients) != 5 {
		t.Errorf("%d statistics and %d gradients, want 2 and 5", len(s.running), len(s.gradients))
	}
	if notes := n.Notes(); len(notes) != 1 || notes[0] != "small.onnx: its 1 layers of Dropout are left out in training" {
		t.Errorf("notes %q", notes)
	}
}

// Networks whose weights lie beside them, or are halves, have parameters as others have.
func TestParametersOfFiles(t *testing.T) {
	want := map[string][]float32{}
	for _, file := range []string{"vit", "outside", "half", "vit11"} {
		n, err := OpenTrainable("testdata/"+file+".onnx", "pooled", "", "", 32)
		if file == "vit11" {
			if err == nil || !strings.Contains(err.Error(), "export it with opset 13 or later") {
				t.Errorf("opset 11: error %v", err)
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
