package imported

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/datasets"
)

// image is a picture of 32 x 32 pixels that testdata/make.py knows, too.
func image(k int) []byte {
	b := make([]byte, 32*32*3)
	for i := range b {
		b[i] = byte(i*i>>3 + 37*k*(i/96))
	}
	return b
}

// golden are ONNX Runtime's outputs, by network and output.
func golden(t *testing.T) (m map[string]map[string][]struct {
	Shape  []int
	Values []float64
}) {
	t.Helper()
	b, err := os.ReadFile("testdata/golden.json")
	if err == nil {
		err = json.Unmarshal(b, &m)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// plain is how testdata/make.py gives images.
var plain = datasets.Reading{Mean: [3]float64{0.5, 0.5, 0.5}, Std: [3]float64{0.25, 0.25, 0.25}}

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

// onGo is for the Go backend.
func onGo(t *testing.T) opener {
	on := backend(t)
	return func(n *Network, r datasets.Reading) (*Exec, error) { return n.Exec(on, 32, r) }
}

// featuresOf returns the features of image(0) and image(1).
func featuresOf(t *testing.T, open opener, n *Network, r datasets.Reading) [2][]float32 {
	t.Helper()
	x, err := open(n, r)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	var features [2][]float32
	if x.Batch == 1 {
		for k := range features {
			if features[k], err = x.Run(image(k)); err != nil {
				t.Fatal(err)
			}
		}
		return features
	}
	var all []byte
	for k := range x.Batch {
		all = append(all, image(k%2)...)
	}
	v, err := x.Run(all)
	if err != nil {
		t.Fatal(err)
	}
	for k := range features {
		features[k] = v[(k+2)*x.Features : (k+3)*x.Features] // not the first of the batch
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

// Features are ONNX Runtime's.
func TestFeatures(t *testing.T) { testFeatures(t, onGo(t), "") }

// testFeatures compares with ONNX Runtime's, but for those of one file.
func testFeatures(t *testing.T, open opener, except string) {
	want := golden(t)
	for _, c := range []struct {
		file, output, pool string
		pick               func(v []float64) []float64
	}{
		{"resnet", "", "", nil},
		{"vit", "pooled", "", nil},
		{"vit", "tokens", datasets.ClassToken, func(v []float64) []float64 { return v[:16] }},
		{"vit", "tokens", datasets.MeanToken, func(v []float64) []float64 { return mean(v) }},
		{"vit", "tokens", datasets.PatchTokens, func(v []float64) []float64 { return mean(v[16:]) }},
		{"vit11", "pooled", "", nil},
		{"half", "pooled", "", nil},
		{"outside", "pooled", "", nil},
		{"fixed", "", "", nil},
		{"steps", "", "", nil},
	} {
		if c.file == except {
			continue
		}
		t.Run(c.file+" "+c.pool, func(t *testing.T) {
			n, err := Open("testdata/"+c.file+".onnx", c.output, "")
			if err != nil {
				t.Fatal(err)
			}
			r := plain
			r.Pool = c.pool
			got := featuresOf(t, open, n, r)
			as := strings.ReplaceAll(c.file, "outside", "vit")
			for k, o := range want[as][n.Output] {
				v := o.Values
				if c.pick != nil {
					v = c.pick(v)
				}
				if c.file == "steps" {
					var few []float32
					for i := 0; i < len(got[k]); i += 61 {
						few = append(few, got[k][i])
					}
					got[k] = few
				}
				near(t, got[k], v)
			}
		})
	}
}

// mean is that of tokens of 16 values.
func mean(v []float64) []float64 {
	m := make([]float64, 16)
	for i, x := range v {
		m[i%16] += x / float64(len(v)/16)
	}
	return m
}

// Swapped channels equal the swapped image.
func TestBGR(t *testing.T) { testBGR(t, onGo(t)) }

func testBGR(t *testing.T, open opener) {
	n, err := Open("testdata/resnet.onnx", "", "")
	if err != nil {
		t.Fatal(err)
	}
	r := plain
	r.Mean[0], r.Std[1] = 0.3, 0.4
	want := featuresOf(t, open, n, r)[0]
	r.BGR, r.Mean, r.Std = true, [3]float64{r.Mean[2], r.Mean[1], r.Mean[0]}, [3]float64{r.Std[2], r.Std[1], r.Std[0]}
	x, err := open(n, r)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	b := make([]byte, x.Batch*3*32*32)
	for i, v := range image(0) {
		b[i-i%3+2-i%3] = v
	}
	got, err := x.Run(b)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range want {
		if got[i] != v {
			t.Fatalf("feature %d is %v, want %v", i, got[i], v)
		}
	}
}

// net is a file with nodes between "pixels" and "y".
func net(opset int, dims []int64, nodes ...*node) *content {
	return &content{opset: opset, nodes: nodes,
		inputs:  []value{{name: "pixels", kind: float32Type, dims: dims, shape: true}},
		outputs: []value{{name: "y", kind: float32Type}}}
}

func one(op string, attrs ...attr) *node {
	return &node{op: op, in: []string{"pixels"}, out: []string{"y"}, attrs: attrs}
}

// What cannot be done is one line that names it.
func TestBad(t *testing.T) {
	on := backend(t)
	vit, err := os.ReadFile("testdata/vit.onnx")
	if err != nil {
		t.Fatal(err)
	}
	open := []int64{-1, 3, -1, -1}
	outside := func(location, offset string) []byte {
		c := net(17, open, one("Relu"))
		c.nodes = append(c.nodes, &node{op: "Add", in: []string{"y", "w"}, out: []string{"z"}})
		c.outputs[0].name = "z"
		c.weights = []*tensor{{name: "w", kind: float32Type, dims: []int64{3}}}
		b := c.encode()
		if offset != "0" {
			return []byte(strings.ReplaceAll(string(b), "location\x12\x010", "offset\x12\x010"))
		}
		// the location, and with it the lengths of the messages around it
		w := c.weights[0]
		w.outside, w.location = true, location
		var t, e, body message
		w.head(&t)
		e.text(1, "location")
		e.text(2, location)
		t.bytes(13, e)
		t.number(14, 1)
		c.weights = nil
		m, err := parse(c.encode())
		if err != nil {
			panic(err)
		}
		for _, n := range m.nodes {
			body.bytes(1, n.encode())
		}
		body.bytes(5, t)
		body.bytes(11, m.inputs[0].encode())
		body.bytes(12, m.outputs[0].encode())
		var all, ops message
		ops.number(2, 17)
		all.bytes(8, ops)
		all.bytes(7, body)
		return all
	}
	circle := net(17, open, &node{op: "Add", name: "turn", in: []string{"pixels", "b"}, out: []string{"a"}}, &node{op: "Relu", in: []string{"a"}, out: []string{"b"}}, &node{op: "Relu", in: []string{"b"}, out: []string{"y"}})
	other := one("Relu")
	other.domain = "com.example"
	bomb := net(17, open, &node{op: "Constant", name: "c", out: []string{"r"}, attrs: []attr{{name: "value", kind: tensorAttr, t: integers([]int64{1, 1, 20000, 20000})}}},
		&node{op: "Tile", in: []string{"pixels", "r"}, out: []string{"y"}})
	two := net(17, open, &node{op: "Add", in: []string{"pixels", "ids"}, out: []string{"y"}})
	two.inputs = append(two.inputs, value{name: "ids", kind: int64Type, dims: []int64{-1, 4}, shape: true})
	for name, c := range map[string]struct {
		file   []byte
		output string
		want   string
	}{
		"text":        {[]byte("no network"), "", "is not an ONNX network that can be read"},
		"empty":       {nil, "", "is not an ONNX network that can be read: it has no graph"},
		"cut":         {vit[:len(vit)/2], "pooled", "is not an ONNX network that can be read: it is damaged"},
		"two outputs": {vit, "", "choose one by its name, such as ledg embed --output tokens, or ledg train --set network.output=tokens"},
		"no output":   {vit, "logits", `it has no output "logits": its outputs are tokens[`},
		"no pool":     {vit, "tokens", "choose what to take of its tokens, cls, mean, patches"},
		"vectors":     {net(17, []int64{-1, 16}, one("Relu")).encode(), "", "its input pixels[? 16] is not of images"},
		"grey":        {net(17, []int64{-1, 1, 32, 32}, one("Relu")).encode(), "", "is of images of 1 channels, want 3"},
		"oblong":      {net(17, []int64{-1, 3, 32, 64}, one("Relu")).encode(), "", "images that are not square"},
		"two inputs":  {two.encode(), "", "y needs 2 inputs, pixels[? 3 ? ?], ids[? 4]: want images alone"},
		"circle":      {circle.encode(), "", `node "turn" needs "b", which no node before it makes`},
		"climbing":    {outside("../secret", "0"), "", `weights "w" are in "../secret", outside the network's folder`},
		"absolute":    {outside("/etc/passwd", "0"), "", `are in "/etc/passwd", outside the network's folder`},
		"link":        {outside("link", "0"), "", "weights are in link beside it, which cannot be read"},
		"missing":     {outside("gone.bin", "0"), "", "weights are in gone.bin beside it, which cannot be read"},
		"short":       {outside("short.bin", "0"), "", "short.bin has 5 bytes, and weights up to 12 are needed"},
		"operation":   {net(17, open, &node{op: "Relu", in: []string{"pixels"}, out: []string{"x"}}, &node{op: "Bernoulli", name: "coin", in: []string{"x"}, out: []string{"y"}}).encode(), "", `operation Bernoulli of node "coin" is not available here (its inputs: x (Float32)[8, 3, 32, 32])`},
		"domain":      {net(17, open, other).encode(), "", "operation com.example.Relu of node"},
		"cubic":       {net(17, open, one("Resize", attr{name: "mode", kind: stringAttr, s: "cubic"})).encode(), "", "it has no constant scales"},
		"softmax":     {net(11, open, one("Softmax", attr{name: "axis", kind: intAttr, i: 1})).encode(), "", "a Softmax of opset 11 along axis 1"},
		"bomb":        {bomb.encode(), "", "on the way to output y is too large"},
		"functions":   {append(net(17, open, one("Relu")).encode(), 0xca, 0x01, 0x00), "", "it defines functions"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
				t.Skip(err)
			}
			path := filepath.Join(dir, "n.onnx")
			for f, b := range map[string][]byte{path: c.file, filepath.Join(dir, "short.bin"): []byte("12345")} {
				if err := os.WriteFile(f, b, 0o666); err != nil {
					t.Fatal(err)
				}
			}
			n, err := Open(path, c.output, "")
			if err == nil {
				_, err = n.Exec(on, 32, plain)
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %s and %s", err, path, c.want)
			}
		})
	}
	if _, err := Open("testdata/vit.onnx", "pooled", strings.Repeat("0", 64)); err == nil || !strings.Contains(err.Error(), "has changed: its sha256 was 000000000000") {
		t.Errorf("of another digest: %v", err)
	}
	n, err := Open("testdata/fixed.onnx", "", "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Side(64); err == nil || !strings.Contains(err.Error(), "takes images of 32 pixels a side, and 64 were requested") {
		t.Errorf("of another size: %v", err)
	}
}

// No damaged file makes the program end.
func TestDamaged(t *testing.T) {
	for file, times := range map[string]int{"steps": 300, "cubic": 60} {
		t.Run(file, func(t *testing.T) { damaged(t, "testdata/"+file+".onnx", times) })
	}
}

func damaged(t *testing.T, file string, times int) {
	on := backend(t)
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	path := filepath.Join(t.TempDir(), "n.onnx")
	opened := 0
	for range times {
		damaged := append([]byte(nil), b...)
		for range 1 + r.IntN(3) {
			damaged[r.IntN(len(b))] = byte(r.Uint32())
		}
		if err := os.WriteFile(path, damaged, 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := Open(path, "", "")
		if err != nil {
			continue
		}
		if x, err := n.Exec(on, 32, plain); err == nil {
			opened++
			x.Close()
		}
	}
	if opened == 0 {
		t.Error("every file was refused")
	}
}
