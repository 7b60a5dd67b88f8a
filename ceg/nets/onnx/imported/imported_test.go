package imported

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets/onnx/onnxpb"
	"github.com/ledg-go/ledg/ceg/nets/preprocess"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/half"
)

// image is a picture of 32 x 32 pixels that testdata/make.py knows, too.
func image(k int) []byte {
	b := make([]byte, 32*32*3)
	for i := range b {
		b[i] = byte(i*i>>3 + 37*k*(i/96))
	}
	return b
}

// given is how testdata/make.py gives images.
var given = datasets.Reading{Mean: [3]float64{0.5, 0.5, 0.5}, Std: [3]float64{0.25, 0.25, 0.25}}

func backend(t *testing.T) engine.Backend {
	t.Helper()
	b, err := engine.Open("go")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// opener prepares a network for images of 32 pixels.
type opener func(n *Network, r datasets.Reading) (*Exec, error)

// engines runs a test with both: the Go backend, and ONNX Runtime if it is here.
func engines(t *testing.T, test func(t *testing.T, open opener)) {
	t.Run("go", func(t *testing.T) {
		on := backend(t)
		test(t, func(n *Network, r datasets.Reading) (*Exec, error) { return n.Exec(on, 32, r) })
	})
	t.Run("onnxruntime", func(t *testing.T) { test(t, onRuntime(t)) })
}

func onRuntime(t *testing.T) opener {
	t.Helper()
	rt, _, err := engine.OpenRuntime(enginetest.Runtime(t))
	if err != nil {
		t.Fatal(err)
	}
	return func(n *Network, r datasets.Reading) (*Exec, error) { return n.ExecRuntime(rt, 1, 32, r) }
}

// featuresOf returns the features of image(0) and image(1).
func featuresOf(t *testing.T, open opener, n *Network, r datasets.Reading) (features [2][]float32) {
	t.Helper()
	x, err := open(n, r)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for k := range features {
		v, err := x.Run(slices.Concat(slices.Repeat(image(1-k), x.Batch-1), image(k)))
		if err != nil {
			t.Fatal(err)
		}
		features[k] = v[len(v)-x.Features:]
	}
	return features
}

func near(t *testing.T, got []float32, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d features, want %d", len(got), len(want))
	}
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	for i, v := range want {
		if !(math.Abs(float64(got[i])-v) <= 1e-5*largest) {
			t.Fatalf("feature %d is %v, want %v (the largest is %v)", i, got[i], v, largest)
		}
	}
}

func open(t *testing.T, path, output string) *Network {
	t.Helper()
	n, err := Open(path, output, "")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Features are those of ONNX Runtime in Python.
func TestFeatures(t *testing.T) {
	var want map[string]map[string][]struct{ Values []float64 } // by network and output
	b, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(b, &want)
	}
	if err != nil {
		t.Fatal(err)
	}
	mean := func(v []float64) []float64 { // of tokens of 16 values
		m := make([]float64, 16)
		for i, x := range v {
			m[i%16] += x / float64(len(v)/16)
		}
		return m
	}
	engines(t, func(t *testing.T, on opener) {
		for _, c := range []struct {
			file, output, pool string
			pick               func(v []float64) []float64
		}{
			{"resnet", "", "", nil},
			{"vit", "pooled", "", nil},
			{"vit", "tokens", datasets.ClassToken, func(v []float64) []float64 { return v[:16] }},
			{"vit", "tokens", datasets.MeanToken, mean},
			{"vit", "tokens", datasets.PatchTokens, func(v []float64) []float64 { return mean(v[16:]) }},
			{"vit11", "pooled", "", nil},
			{"outside", "pooled", "", nil},
			{"fixed", "", "", nil},
		} {
			t.Run(c.file+" "+c.pool, func(t *testing.T) {
				n := open(t, "testdata/"+c.file+".onnx", c.output)
				r := given
				r.Pool = c.pool
				if strings.Contains(t.Name(), "/go/") && (c.file == "resnet" || c.file == "fixed") {
					if _, err := on(n, r); err == nil || !strings.Contains(err.Error(), "unimplemented ONNX op") {
						t.Errorf("onnx-gomlx has learnt an operation: %v", err)
					}
					return
				}
				got := featuresOf(t, on, n, r)
				for k, o := range want[strings.ReplaceAll(c.file, "outside", "vit")][n.Output] {
					v := o.Values
					if c.pick != nil {
						v = c.pick(v)
					}
					near(t, got[k], v)
				}
			})
		}
	})
}

// Swapped channels equal the swapped image.
func TestBGR(t *testing.T) {
	engines(t, func(t *testing.T, on opener) {
		n, r := open(t, "testdata/train/resnet.onnx", ""), given
		r.Mean[0], r.Std[1] = 0.3, 0.4
		want := featuresOf(t, on, n, r)[0]
		r.BGR, r.Mean, r.Std = true, [3]float64{r.Mean[2], r.Mean[1], r.Mean[0]}, [3]float64{r.Std[2], r.Std[1], r.Std[0]}
		x, err := on(n, r)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		b := make([]byte, x.Batch*3*32*32)
		for i, v := range image(0) {
			b[i-i%3+2-i%3] = v
		}
		got, err := x.Run(b)
		if err != nil || !slices.Equal(got[:x.Features], want) {
			t.Errorf("features %v (%v), want %v", got[:x.Features], err, want)
		}
	})
}

// net is a file with nodes between "pixels" and "y".
func net(opset int64, dims []int64, nodes ...*onnxpb.Node) *onnxpb.Model {
	return &onnxpb.Model{Version: 8, Opsets: []*onnxpb.Opset{{Version: opset}}, Graph: &onnxpb.Graph{Name: "n", Nodes: nodes,
		Inputs:  []*onnxpb.Value{onnxpb.NewValue("pixels", "", onnxpb.Float32, dims...)},
		Outputs: []*onnxpb.Value{{Name: "y", Type: &onnxpb.Type{Tensor: &onnxpb.TensorType{Element: onnxpb.Float32}}}}}}
}

func do(op, out string, in []string, attributes ...*onnxpb.Attribute) *onnxpb.Node {
	return &onnxpb.Node{Op: op, Name: op + " of " + out, In: in, Out: []string{out}, Attributes: attributes}
}

func constant(name string, x *onnxpb.Tensor) *onnxpb.Node {
	return do("Constant", name, nil, onnxpb.Constant(x))
}

var anySize = []int64{-1, 3, -1, -1}

// written writes a file.
func written(t *testing.T, m *onnxpb.Model) string {
	t.Helper()
	b, err := m.Encode()
	path := filepath.Join(t.TempDir(), "n.onnx")
	if err == nil {
		err = os.WriteFile(path, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A network of bytes gets the pixels as they are.
func TestBytes(t *testing.T) {
	m := net(17, []int64{-1, -1, -1, 3},
		do("Transpose", "turned", []string{"pixels"}, onnxpb.Ints("perm", 0, 3, 1, 2)),
		do("Cast", "numbers", []string{"turned"}, onnxpb.Int("to", onnxpb.Float32)),
		constant("most", onnxpb.Floats("", nil, 255)),
		do("Div", "scaled", []string{"numbers", "most"}), do("GlobalAveragePool", "y", []string{"scaled"}))
	m.Graph.Inputs[0].Type.Tensor.Element = onnxpb.Uint8
	path := written(t, m)
	raw, _ := preprocess.Of(preprocess.Raw)
	engines(t, func(t *testing.T, on opener) {
		n := open(t, path, "")
		if !n.Bytes() {
			t.Error("it is not of bytes")
		}
		for k, v := range featuresOf(t, on, n, raw.Reading) {
			want := make([]float64, 3)
			for i, b := range image(k) {
				want[i%3] += float64(b) / 255 / 32 / 32
			}
			near(t, v, want)
		}
	})
}

// A network in half precision takes and gives such numbers.
func TestRuntimeHalf(t *testing.T) {
	on := onRuntime(t)
	for _, kind := range []int32{onnxpb.Float16, onnxpb.Float32} {
		gain := onnxpb.Floats("", []int{3, 1, 1}, 1, -2, 0.5)
		if kind == onnxpb.Float16 {
			gain.Raw, gain.Type = nil, kind
			for _, v := range []float32{1, -2, 0.5} {
				gain.Raw = append(gain.Raw, byte(half.Bits(v)), byte(half.Bits(v)>>8))
			}
		}
		m := net(17, anySize, constant("gain", gain), do("Mul", "x", []string{"pixels", "gain"}), do("GlobalMaxPool", "y", []string{"x"}))
		m.Graph.Inputs[0].Type.Tensor.Element, m.Graph.Outputs[0].Type.Tensor.Element = kind, kind
		for _, v := range featuresOf(t, on, open(t, written(t, m), ""), given) {
			near(t, v, []float64{2, 4, 1}) // of pixels of 255, 0 and 255
		}
	}
}

// Calls at a time do not disturb each other.
func TestRuntimeConcurrent(t *testing.T) {
	x, err := onRuntime(t)(open(t, "testdata/vit.onnx", "pooled"), given)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var all sync.WaitGroup
	for k := range 4 {
		images := slices.Repeat(image(k), x.Batch)
		want, err := x.Run(images)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 50 {
				if got, err := x.Run(images); err != nil || !slices.Equal(got, want) {
					t.Errorf("got %v, %v, want %v", got, err, want)
					return
				}
			}
		})
	}
	all.Wait()
}

// What the output does not need goes, and what graphs in a node need stays.
func TestPruned(t *testing.T) {
	yes := &onnxpb.Tensor{Type: 9, Raw: []byte{1}}
	either := do("If", "y", []string{"yes"})
	for name, op := range map[string]string{"then_branch": "Relu", "else_branch": "Neg"} {
		g := &onnxpb.Graph{Name: name, Nodes: []*onnxpb.Node{do(op, "inner", []string{"outer"})}, Outputs: net(17, nil).Graph.Outputs}
		g.Outputs[0].Name = "inner"
		either.Attributes = append(either.Attributes, &onnxpb.Attribute{Name: name, Type: 5, Graph: g})
	}
	m := net(17, anySize, do("Neg", "outer", []string{"pixels"}), constant("yes", yes), either,
		do("GlobalAveragePool", "z", []string{"y"}), do("Wobble", "unused", []string{"z"}))
	m.Graph.Outputs[0].Name = "z"
	n := open(t, written(t, m), "")
	if len(n.file.Graph.Nodes) != 4 {
		t.Errorf("%d nodes, want 4", len(n.file.Graph.Nodes))
	}
	v := featuresOf(t, onRuntime(t), n, given)[0]
	if len(v) != 3 || slices.Max(v) <= 0 {
		t.Errorf("features %v", v)
	}
}

// What cannot be read is one line that names the file, and so is what an engine refuses.
func TestBad(t *testing.T) {
	vit, err := os.ReadFile("testdata/vit.onnx")
	if err != nil {
		t.Fatal(err)
	}
	outside := func(location string) *onnxpb.Model {
		m := net(17, anySize, do("Add", "y", []string{"pixels", "w"}))
		m.Graph.Weights = []*onnxpb.Tensor{{Name: "w", Type: onnxpb.Float32, Dims: []int64{3, 1, 1}, Location: 1, External: []*onnxpb.Pair{{Key: "location", Value: location}}}}
		return m
	}
	two := net(17, anySize, do("Add", "y", []string{"pixels", "ids"}))
	two.Graph.Inputs = append(two.Graph.Inputs, onnxpb.NewValue("ids", "", onnxpb.Int64, -1, 4))
	relu := do("Relu", "y", []string{"pixels"})
	for name, c := range map[string]struct {
		file   any
		output string
		want   string
	}{
		"text":        {[]byte("no network"), "", "is not an ONNX network that can be read"},
		"empty":       {[]byte{}, "", "is not an ONNX network that can be read: it has no graph"},
		"cut":         {vit[:len(vit)/2], "pooled", "is not an ONNX network that can be read"},
		"two outputs": {vit, "", "choose one by its name, such as ledg embed --output tokens, or ledg train --set network.output=tokens"},
		"no output":   {vit, "logits", `it has no output "logits": its outputs are tokens[`},
		"no pool":     {vit, "tokens", "choose what to take of its tokens, cls, mean, patches"},
		"vectors":     {net(17, []int64{-1, 16}, relu), "", "its input pixels[? 16] is not of images"},
		"grey":        {net(17, []int64{-1, 1, 32, 32}, relu), "", "is of images of 1 channels, want 3"},
		"oblong":      {net(17, []int64{-1, 3, 32, 64}, relu), "", "images that are not square"},
		"no images":   {net(17, []int64{0, 3, 32, 32}, relu), "", "is empty"},
		"many images": {net(17, []int64{1 << 31, 3, 32, 32}, relu), "", "is too large"},
		"large":       {net(17, []int64{-1, 3, 8192, 8192}, relu), "", "is too large"},
		"two inputs":  {two, "", "y needs 2 inputs, pixels[? 3 ? ?], ids[? 4]: want images alone"},
		"climbing":    {outside("../secret"), "", `weights "w" are in "../secret", outside the network's folder`},
		"absolute":    {outside("/etc/passwd"), "", `are in "/etc/passwd", outside the network's folder`},
		"link":        {outside("link"), "", "weights are in link beside it, which cannot be read"},
		"missing":     {outside("gone.bin"), "", "weights are in gone.bin beside it, which cannot be read"},
		"short":       {outside("short.bin"), "", ""},
		"operation":   {net(17, anySize, do("Wobble", "y", []string{"pixels"})), "", "Wobble"},
		"run":         {net(17, anySize, constant("to", onnxpb.Floats("", []int{7, 2}, make([]float32, 14)...)), do("MatMul", "y", []string{"pixels", "to"})), "", ""},
	} {
		engines(t, func(t *testing.T, on opener) {
			m, ok := c.file.(*onnxpb.Model)
			if !ok {
				m = &onnxpb.Model{}
			}
			path := written(t, m)
			dir := filepath.Dir(path)
			if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
				t.Skip(err)
			}
			if b, ok := c.file.([]byte); ok {
				err = os.WriteFile(path, b, 0o666)
			}
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, "short.bin"), []byte("12345"), 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			n, err := Open(path, c.output, "")
			if err == nil {
				_, err = on(n, given)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %v, want one line with %s and %s", name, err, path, c.want)
			}
		})
	}
	if _, err := Open("testdata/vit.onnx", "pooled", strings.Repeat("0", 64)); err == nil || !strings.Contains(err.Error(), "has changed: its sha256 was 000000000000") {
		t.Errorf("of another digest: %v", err)
	}
	if _, err := open(t, "testdata/fixed.onnx", "").Side(64); err == nil || !strings.Contains(err.Error(), "takes images of 32 pixels a side, and 64 were requested") {
		t.Errorf("of another size: %v", err)
	}
}

// FuzzOpen looks for bytes that the reader crashes on, in opening and in writing for an engine. Its
// seeds are exports of PyTorch. An error is one line that names the file.
func FuzzOpen(f *testing.F) {
	for _, pattern := range []string{"testdata/*.onnx", "testdata/train/*.onnx"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			f.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b, "")
			f.Add(b, "tokens")
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, output string) {
		path := filepath.Join(t.TempDir(), "n.onnx")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := Open(path, output, "")
		if err != nil {
			if !strings.Contains(err.Error(), "n.onnx") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		b, err = n.file.Encode()
		if err == nil {
			_, err = onnxpb.Parse(b)
		}
		if err != nil {
			t.Errorf("what an engine gets is not a network: %v", err)
		}
	})
}
