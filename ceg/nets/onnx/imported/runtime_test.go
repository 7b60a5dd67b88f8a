package imported

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/datasets/arrays/half"
)

// onRuntime is for ONNX Runtime.
func onRuntime(t *testing.T) opener {
	t.Helper()
	rt, _, err := engine.OpenRuntime(enginetest.Runtime(t))
	if err != nil {
		t.Fatal(err)
	}
	return func(n *Network, r datasets.Reading) (*Exec, error) { return n.ExecRuntime(rt, 1, 32, r) }
}

// Features are those of ONNX Runtime in Python, to which the Go backend is held, too.
func TestRuntimeFeatures(t *testing.T) { testFeatures(t, onRuntime(t), "half") }

// A network in half precision takes and gives such numbers.
func TestRuntimeHalf(t *testing.T) {
	open := onRuntime(t)
	for _, kind := range []int{float16Type, float32Type} {
		gain := floats([]float32{1, -2, 0.5})
		if gain.kind, gain.dims = kind, []int64{3, 1, 1}; kind == float16Type {
			gain.raw = nil
			for _, v := range []float32{1, -2, 0.5} {
				gain.raw = binary.LittleEndian.AppendUint16(gain.raw, half.Bits(v))
			}
		}
		c := net(17, []int64{-1, 3, -1, -1}, &node{op: "Constant", out: []string{"gain"}, attrs: []attr{{name: "value", kind: tensorAttr, t: gain}}},
			&node{op: "Mul", in: []string{"pixels", "gain"}, out: []string{"x"}}, &node{op: "GlobalMaxPool", in: []string{"x"}, out: []string{"y"}})
		c.inputs[0].kind, c.outputs[0].kind = kind, kind
		path := filepath.Join(t.TempDir(), "n.onnx")
		if err := os.WriteFile(path, c.encode(), 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := Open(path, "", "")
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range featuresOf(t, open, n, plain) {
			near(t, v, []float64{2, 4, 1}) // of pixels of 255, 0 and 255
		}
	}
}

func TestRuntimeBGR(t *testing.T) { testBGR(t, onRuntime(t)) }

// Calls at a time do not disturb each other.
func TestRuntimeConcurrent(t *testing.T) {
	n, err := Open("testdata/vit.onnx", "pooled", "")
	if err != nil {
		t.Fatal(err)
	}
	x, err := onRuntime(t)(n, plain)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if !x.Concurrent {
		t.Error("it is not concurrent")
	}
	var all sync.WaitGroup
	for k := range 4 {
		images := slices.Repeat(image(k), x.Batch)
		want, err := x.Run(images)
		if err != nil {
			t.Fatal(err)
		}
		all.Go(func() {
			for range 50 {
				got, err := x.Run(images)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("got %v, %v, want %v", got, err, want)
					return
				}
			}
		})
	}
	all.Wait()
}

// branch is a file with a node If of a constant, whose graphs use a value from outside, and a node
// that nothing needs.
func branch() []byte {
	var file, body, ops, either message
	add := func(n *node) { body.bytes(1, n.encode()) }
	add(&node{op: "Neg", in: []string{"pixels"}, out: []string{"outer"}})
	add(&node{op: "Constant", out: []string{"yes"}, attrs: []attr{{name: "value", kind: tensorAttr, t: &tensor{kind: 9, raw: []byte{1}}}}})
	either = (&node{op: "If", in: []string{"yes"}, out: []string{"y"}}).encode()
	for _, name := range []string{"then_branch", "else_branch"} {
		op := map[string]string{"then_branch": "Relu", "else_branch": "Neg"}[name]
		var graph, a message
		graph.bytes(1, (&node{op: op, in: []string{"outer"}, out: []string{"inner"}}).encode())
		graph.text(2, name)
		graph.bytes(12, value{name: "inner", kind: float32Type}.encode())
		a.text(1, name)
		a.bytes(6, graph)
		a.number(20, 5)
		either.bytes(5, a)
	}
	body.bytes(1, either)
	add(&node{op: "GlobalAveragePool", in: []string{"y"}, out: []string{"z"}})
	add(&node{op: "Wobble", in: []string{"z"}, out: []string{"unused"}})
	body.text(2, "branch")
	body.bytes(11, value{name: "pixels", kind: float32Type, dims: []int64{-1, 3, -1, -1}, shape: true}.encode())
	body.bytes(12, value{name: "z", kind: float32Type}.encode())
	body.bytes(12, value{name: "unused", kind: float32Type}.encode())
	ops.number(2, 17)
	file.number(1, 3)
	file.bytes(8, ops)
	file.bytes(7, body)
	return file
}

// What onnx-gomlx does not compute, ONNX Runtime does: graphs within nodes, cubic Resize, old ways to say Softmax.
func TestRuntimeTakesMore(t *testing.T) {
	open := onRuntime(t)
	all := []int64{-1, 3, -1, -1}
	cubic := one("Resize", attr{name: "mode", kind: stringAttr, s: "cubic"})
	cubic.in = []string{"pixels", "", "scales"}
	scales := &node{op: "Constant", out: []string{"scales"}, attrs: []attr{{name: "value", kind: tensorAttr, t: floats([]float32{1, 1, 1.5, 1.5})}}}
	for name, file := range map[string][]byte{
		"branch":  branch(),
		"cubic":   net(17, all, scales, cubic).encode(),
		"softmax": net(11, all, one("Softmax", attr{name: "axis", kind: intAttr, i: 1})).encode(),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "n.onnx")
			if err := os.WriteFile(path, file, 0o666); err != nil {
				t.Fatal(err)
			}
			n, err := Open(path, map[string]string{"branch": "z"}[name], "")
			if err != nil {
				t.Fatal(err)
			}
			for k, v := range featuresOf(t, open, n, plain) {
				pixels := image(k)
				for ch := range 3 {
					var mean, below float64
					for i := ch; i < len(pixels); i += 3 {
						x := (float64(pixels[i])/255 - 0.5) / 0.25
						mean += x / 1024
						below += max(-x, 0) / 1024
					}
					want, within := below, 1e-5
					switch name {
					case "cubic": // nearly, as the border counts more
						want, within = mean, 0.05
					case "softmax": // over all numbers of an image
						want, within = float64(v[ch]), 0
						if ch == 2 && math.Abs(float64(v[0]+v[1]+v[2])-1./1024) > 1e-7 {
							t.Errorf("image %d: the means add up to %v, want 1/1024", k, v[0]+v[1]+v[2])
						}
					}
					if math.Abs(float64(v[ch])-want) > within {
						t.Errorf("image %d, channel %d: %v, want %v", k, ch, v[ch], want)
					}
				}
			}
		})
	}
}

// What ONNX Runtime cannot do is one line that names the file.
func TestRuntimeBad(t *testing.T) {
	open := onRuntime(t)
	all := []int64{-1, 3, -1, -1}
	vit, err := os.ReadFile("testdata/vit.onnx")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		file         []byte
		output, want string
	}{
		"operation": {net(17, all, one("Wobble")).encode(), "", "ONNX Runtime: "},
		"inputs":    {net(17, all, one("Conv")).encode(), "", "(Conv): it has 1 inputs, which opset 17 has not"},
		"attribute": {net(17, all, one("Softmax", attr{name: "axis", kind: intAttr, i: 7})).encode(), "", "ONNX Runtime: "},
		"tokens":    {vit, "tokens", "output tokens is [1, 17, 16]: choose what to take of its tokens, cls"},
		"run":       {net(17, all, of("to", 7, 2), do("MatMul", "y", []string{"pixels", "to"})).encode(), "", "ONNX Runtime: "},
		"integers":  {net(17, all, &node{op: "Shape", in: []string{"pixels"}, out: []string{"y"}}).encode(), "", "ONNX Runtime: "},
	} {
		path := filepath.Join(t.TempDir(), "n.onnx")
		if err := os.WriteFile(path, c.file, 0o666); err != nil {
			t.Fatal(err)
		}
		n, err := Open(path, c.output, "")
		if err == nil {
			_, err = open(n, plain)
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %s and %s", name, err, path, c.want)
		}
	}
}
