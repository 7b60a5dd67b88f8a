package imported

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/direct"
	"github.com/ledg-go/ledg/ceg/seed"
	"github.com/ledg-go/ledg/datasets"
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

func written(t *testing.T, nodes []*node) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "n.onnx")
	if err := os.WriteFile(path, net(17, []int64{-1, 3, -1, -1}, nodes...).encode(), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// What layers compute without a graph are the graph's features.
func TestLayers(t *testing.T) {
	if !direct.Vectors {
		t.Skip("without a graph nothing is computed here")
	}
	for _, path := range []string{"testdata/train/resnet.onnx", written(t, layerNodes())} {
		t.Run(filepath.Base(path), func(t *testing.T) {
			n, err := Open(path, "", "")
			if err != nil {
				t.Fatal(err)
			}
			b, values, ok := n.Layers(32, plain)
			if !ok {
				t.Fatal("it is no network of layers")
			}
			d, err := direct.New(b, values, 32)
			if err != nil {
				t.Fatal(err)
			}
			_, features, err := nets.Params(b, 32)
			if err != nil {
				t.Fatal(err)
			}
			want := featuresOf(t, onGo(t), n, plain)
			for k := range want {
				got := make([]float32, features)
				d.Worker().Features(got, image(k))
				wide := make([]float64, len(want[k]))
				for i, v := range want[k] {
					wide[i] = float64(v)
				}
				near(t, got, wide)
			}
		})
	}
}

// Others, and what says something else than a layer, are left to graphs.
func TestNoLayers(t *testing.T) {
	for _, path := range []string{"testdata/resnet.onnx", "testdata/vit.onnx", "testdata/train/vit.onnx", "testdata/train/mobilenet.onnx"} {
		n, err := Open(path, map[string]string{"testdata/vit.onnx": "pooled"}[path], "")
		if err != nil {
			t.Fatal(err)
		}
		if _, _, ok := n.Layers(32, plain); ok {
			t.Errorf("%s is layers", path)
		}
	}
	for name, change := range map[string]func([]*node) []*node{
		"unlike":  func(n []*node) []*node { n[2].attrs = []attr{list("strides", 2, 1)}; return n },
		"dilated": func(n []*node) []*node { n[2].attrs = []attr{list("dilations", 2, 2)}; return n },
		"padded":  func(n []*node) []*node { n[2].attrs = []attr{list("pads", 1, 0, 0, 1)}; return n },
		"groups":  func(n []*node) []*node { n[8].attrs[1].i = 3; return n },
		"weights": func(n []*node) []*node { n[0] = of("w1", 6, 4, 3, 3); return n },
		"bias":    func(n []*node) []*node { n[1] = of("b1", 5); return n },
		"limit":   func(n []*node) []*node { n[4] = single("six", 5); return n },
		"ceiling": func(n []*node) []*node {
			n[11].attrs = append(n[11].attrs, attr{name: "ceil_mode", kind: intAttr, i: 1})
			return n
		},
		"axes":      func(n []*node) []*node { n[14].attrs = []attr{list("axes", 1, 2)}; return n },
		"flatten":   func(n []*node) []*node { n[15].attrs = []attr{{name: "axis", kind: intAttr, i: 2}}; return n },
		"afterward": func(n []*node) []*node { n[15].op = "Relu"; return n },
		"constant":  func(n []*node) []*node { n[10].in[1] = "zero"; return n },
		"too small": func(n []*node) []*node { n[0] = of("w1", 6, 3, 40, 40); n[2].attrs = nil; return n },
	} {
		n, err := Open(written(t, change(layerNodes())), "", "")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, _, ok := n.Layers(32, plain); ok {
			t.Errorf("%s: it is layers", name)
		}
	}
	n, err := Open(written(t, layerNodes()), "", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]datasets.Reading{"order": {Mean: plain.Mean, Std: plain.Std, BGR: true}, "tokens": {Mean: plain.Mean, Std: plain.Std, Pool: datasets.MeanToken}} {
		if _, _, ok := n.Layers(32, r); ok {
			t.Errorf("%s: it is layers", name)
		}
	}
}
