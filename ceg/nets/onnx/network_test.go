package onnx_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

const classes = 3

// random returns a network with random weights and running statistics.
func random(t testing.TB, b nets.Backbone, size int) onnx.Network {
	t.Helper()
	params, features := fatal.Get2(nets.Params(b, size))(t)
	params = append(params, nets.LinearParams(nets.ClassHead, features, classes)...)
	n := onnx.Network{
		Backbone: b, Params: params, ImageSize: size, Name: b.Name,
		Mean: [3]float64{0.485, 0.456, 0.406}, Std: [3]float64{0.229, 0.224, 0.225},
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range params {
		v := p.Init(7)
		for i := range v {
			switch p.Kind {
			case nets.Scale, nets.RunningVar:
				v[i] = float32(0.5 + r.Float64())
			case nets.Shift, nets.RunningMean:
				v[i] = float32(r.NormFloat64() / 4)
			}
		}
		n.Values = append(n.Values, v)
	}
	return n
}

func resnet(t testing.TB, depth, width int) nets.Backbone {
	t.Helper()
	return fatal.Get(nets.ResNet(depth, width))(t)
}

// ours computes features and logits with GoMLX.
func ours(t *testing.T, n onnx.Network, pixels []uint8, images int) (features, logits []float32) {
	t.Helper()
	b := enginetest.Open(t)
	exec := graph.MustNewExec(b.Compute, func(args []*graph.Node) []*graph.Node {
		params := map[string]*graph.Node{}
		for i, p := range n.Params {
			params[p.Name] = args[i]
		}
		f := flat.Build(n.Backbone, params, []nets.Pass{{Images: args[len(args)-1], NoGrad: true}}, false).Passes[0]
		return []*graph.Node{f, head(n, params, f)}
	})
	defer exec.Finalize()
	var args []any
	for i, p := range n.Params {
		args = append(args, tensors.FromFlatDataAndDimensions(n.Values[i], p.Shape...))
	}
	x := make([]float32, len(pixels))
	for i, v := range pixels {
		x[i] = float32((float64(v)/255 - n.Mean[i%3]) / n.Std[i%3])
	}
	out := fatal.Get(exec.Call(append(args, tensors.FromFlatDataAndDimensions(x, images, n.ImageSize, n.ImageSize, 3))...))(t)
	return tensors.MustCopyFlatData[float32](out[0]), tensors.MustCopyFlatData[float32](out[1])
}

// withHead gives a network a head that is not the class head.
func withHead(n *onnx.Network, kind string) {
	features := n.Params[len(n.Params)-2].Shape[1]
	var add []nets.Param
	switch kind {
	case "experts":
		n.Head.Experts = []string{"E.0", "E.1", "E.2"}
		for _, name := range n.Head.Experts {
			add = append(add, nets.LinearParams(name, features, classes)...)
		}
	case "cosine":
		n.Head = onnx.Head{Cosine: "C.mu", Scale: 20}
		add = []nets.Param{{Name: "C.mu", Shape: []int{classes, features}, Kind: nets.Normal, SD: 0.3}}
	}
	for _, p := range add {
		n.Params, n.Values = append(n.Params, p), append(n.Values, p.Init(11))
	}
}

// head computes logits as package objective does.
func head(n onnx.Network, params map[string]*graph.Node, f *graph.Node) *graph.Node {
	switch {
	case n.Head.Cosine != "":
		unit := func(v *graph.Node) *graph.Node {
			return graph.Div(v, graph.Sqrt(graph.ReduceAndKeep(graph.Square(v), graph.ReduceSum, -1)))
		}
		return graph.MulScalar(graph.DotGeneral(unit(f), []int{1}, nil, unit(params[n.Head.Cosine]), []int{1}, nil), n.Head.Scale)
	case len(n.Head.Experts) > 0:
		var sum *graph.Node
		for _, name := range n.Head.Experts {
			p := graph.Softmax(nets.Linear(params, name, f), -1)
			if sum == nil {
				sum = p
			} else {
				sum = graph.Add(sum, p)
			}
		}
		return graph.Log(graph.DivScalar(sum, float64(len(n.Head.Experts))))
	}
	return nets.Linear(params, nets.ClassHead, f)
}

// Every backbone gives in the file what it gives in ledg.
func TestFileComputesTheNetwork(t *testing.T) {
	for _, c := range []struct {
		backbone nets.Backbone
		size     int
		input    onnx.Input
		head     string
	}{
		{nets.SmallCNN(5, config.FlattenPool), 32, onnx.Float32, ""},
		{nets.SmallCNN(5, config.MeanPool), 36, onnx.Uint8, ""},
		{nets.SmallCNN(4, config.FlattenPool), 16, onnx.Float32, "experts"},
		{nets.SmallCNN(4, config.MeanPool), 16, onnx.Uint8, "cosine"},
		{resnet(t, 18, 3), 33, onnx.Uint8, ""},
		{resnet(t, 34, 2), 32, onnx.Float32, ""},
		{resnet(t, 50, 2), 40, onnx.Float32, ""},
	} {
		t.Run(strings.TrimSpace(c.backbone.Name+" "+c.head), func(t *testing.T) {
			n := random(t, c.backbone, c.size)
			n.Input, n.Temperature = c.input, 2.5
			withHead(&n, c.head)
			n.Metadata = [][2]string{{"names", `{"0":"<b>"}`}, {"imgsz", "32"}}
			var b bytes.Buffer
			fatal.If(t, n.Write(&b))
			f := read(t, b.Bytes())
			if f.ir != 8 || f.opset != 17 || f.metadata["names"] != `{"0":"<b>"}` || f.metadata["imgsz"] != "32" {
				t.Errorf("IR %d, opset %d, metadata %v", f.ir, f.opset, f.metadata)
			}
			s := c.size
			wantIn := fmt.Sprintf("image 1 [ batch0 3 %d %d ]", s, s)
			if c.input == onnx.Uint8 {
				wantIn = fmt.Sprintf("image 2 [ batch0 %d %d 3 ]", s, s)
			}
			if len(f.inputs) != 1 || f.inputs[0] != wantIn {
				t.Errorf("inputs %q, want %q", f.inputs, wantIn)
			}

			const images = 2
			r := rand.New(rand.NewPCG(3, 4))
			pixels := make([]uint8, images*s*s*3)
			for i := range pixels {
				pixels[i] = uint8(r.Uint32())
			}
			in := array{[]int{images, s, s, 3}, make([]float64, len(pixels))}
			if c.input == onnx.Float32 {
				in.shape = []int{images, 3, s, s}
			}
			for i, v := range pixels {
				if c.input == onnx.Uint8 {
					in.v[i] = float64(v)
				} else {
					k, p, b := i%3, i/3%(s*s), i/(3*s*s)
					in.v[(b*3+k)*s*s+p] = float64(float32(v) / 255)
				}
			}
			got := f.run(t, in)
			features, logits := ours(t, n, pixels, images)
			wantOut := fmt.Sprintf("[probs 1 [ batch0 %d ] logits 1 [ batch0 %d ] features 1 [ batch0 %d ]]", classes, classes, len(features)/images)
			if fmt.Sprint(f.outputs) != wantOut {
				t.Errorf("outputs %v, want %s", f.outputs, wantOut)
			}
			compare(t, "features", got["features"].v, features)
			compare(t, "logits", got["logits"].v, logits)
			probs := make([]float32, len(logits))
			for i := range images {
				sum := 0.0
				row := logits[i*classes : (i+1)*classes]
				for _, z := range row {
					sum += math.Exp(float64(z) / 2.5)
				}
				for k, z := range row {
					probs[i*classes+k] = float32(math.Exp(float64(z)/2.5) / sum)
				}
			}
			compare(t, "probs", got["probs"].v, probs)

			var again bytes.Buffer
			if err := n.Write(&again); err != nil || !bytes.Equal(again.Bytes(), b.Bytes()) {
				t.Errorf("written again, the file differs (%v)", err)
			}
		})
	}
}

// compare allows what float32 loses in the sums of a deep network.
func compare(t *testing.T, what string, got []float64, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	for i := range got {
		if d := math.Abs(got[i] - float64(want[i])); !(d <= 2e-5*max(1, math.Abs(got[i]))) {
			t.Fatalf("%s: value %d is %v in the file and %v in ledg", what, i, got[i], want[i])
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	small := nets.SmallCNN(2, config.MeanPool)
	for _, c := range []struct {
		change func(n *onnx.Network)
		want   string
	}{
		{func(n *onnx.Network) { n.Input = "int8" }, `input "int8"`},
		{func(n *onnx.Network) { n.Temperature = -1 }, "temperature -1"},
		{func(n *onnx.Network) { n.Values[1][0] = float32(math.NaN()) }, "conv1.bias is NaN at flat index 0"},
		{func(n *onnx.Network) { n.Values[1] = n.Values[1][:1] }, "conv1.bias has 1 values, want [2]"},
		{func(n *onnx.Network) { n.Params, n.Values = n.Params[1:], n.Values[1:] }, `no parameter "conv1.weight"`},
		{func(n *onnx.Network) { n.Backbone = nets.SmallCNN(3, config.MeanPool) }, `"conv1.weight" is [2 3 3 3], want [3 3 3 3]`},
		{func(n *onnx.Network) { n.Params, n.Values = n.Params[:8], n.Values[:8] }, `no parameter "fc.bias"`},
		{func(n *onnx.Network) { n.ImageSize = 8 }, "too small"},
		{func(n *onnx.Network) { n.Backbone.Pooling = nets.NoPool }, `pooling "none"`},
		{func(n *onnx.Network) {
			n.Backbone.Layers = func(o nets.Ops, x nets.Maps) nets.Maps {
				return o.Apply(x, 3, 32, 32, func(x *graph.Node) *graph.Node { return x })
			}
		}, "no ONNX form"},
	} {
		t.Run(c.want, func(t *testing.T) {
			n := random(t, small, 32)
			c.change(&n)
			var b bytes.Buffer
			if err := n.Write(&b); err == nil || !strings.Contains(err.Error(), c.want) || b.Len() > 0 {
				t.Errorf("error %v and %d bytes, want %q", err, b.Len(), c.want)
			}
		})
	}
}
