package inference_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/inference"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

func must(b nets.Backbone, err error) nets.Backbone {
	if err != nil {
		panic(err)
	}
	return b
}

// odd has layers in an order in which little can be fused, and channels that fill no
// tile.
var odd = nets.Backbone{
	Name: "odd",
	Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		x = o.Conv(x, "stem", 5, 5, 1, 2, true)
		a := o.BatchNorm(x, "bn_a") // x is read twice
		b := o.Depthwise(x, "dw", 5, 1, nets.Same)
		x = o.ReLU(o.Add(a, b))
		x = o.ReLU6(o.MaxPool(x, 3, 2, 1))
		x = o.BatchNorm(o.ReLU(o.Depthwise(x, "dw2", 3, 2, 1)), "bn")
		return o.Add(o.Depthwise(x, "dw3", 3, 1, 1), x)
	},
	Pooling: config.FlattenPool,
}

// Features equal the graph's.
func TestFeaturesMatchTheGraph(t *testing.T) {
	b := enginetest.Open(t)
	for _, c := range []struct {
		net  nets.Backbone
		size int
		n    int
	}{
		{nets.SmallCNN(5, config.FlattenPool), 32, 3},
		{nets.SmallCNN(8, config.MeanPool), 36, 9},
		{must(nets.ResNet(18, 4)), 32, 5},
		{must(nets.ResNet(50, 2)), 33, 2},
		{must(nets.EfficientNetLite(0, 4)), 64, 5},
		{must(nets.EfficientNetLite(2, 2)), 65, 2},
		{odd, 23, 6},
	} {
		t.Run(fmt.Sprint(c.net.Name, " ", c.size), func(t *testing.T) {
			params, dim := fatal.Get2(nets.Params(c.net, c.size))(t)
			r := seed.New(1, c.net.Name)
			values := map[string][]float32{}
			var inputs []any
			for _, p := range params {
				v := p.Init(1)
				if p.Kind == nets.Shift || p.Kind == nets.RunningMean {
					for i := range v {
						v[i] = float32(0.1 * r.NormFloat64())
					}
				}
				if p.Kind == nets.Scale || p.Kind == nets.RunningVar {
					for i := range v {
						v[i] = float32(0.5 + r.Float64())
					}
				}
				values[p.Name] = v
				inputs = append(inputs, tensors.FromFlatDataAndDimensions(slices.Clone(v), p.Shape...))
			}
			images := make([]byte, c.n*c.size*c.size*3)
			for i := range images {
				images[i] = byte(r.IntN(256))
			}
			net := fatal.Get(inference.New(c.net, values, c.size))(t)
			got := make([]float32, c.n*dim)
			net.Worker().Features(got, images)

			out := fatal.Get(ExecOnce(b.Compute, func(in []*Node) *Node {
				byName := map[string]*Node{}
				for i, p := range params {
					byName[p.Name] = in[i]
				}
				p := c.net.Pixels.OrDefault()
				x := nets.Normalise(in[len(params)], p.Mean, p.Std)
				return flat.Build(c.net, byName, []nets.Pass{{Images: x}}, false).Passes[0]
			}, append(inputs, tensors.FromFlatDataAndDimensions(images, c.n, c.size, c.size, 3))...))(t)
			want := tensors.MustCopyFlatData[float32](out)
			scale, worst := 0.0, 0.0
			for i := range want {
				scale = max(scale, math.Abs(float64(want[i])))
				worst = max(worst, math.Abs(float64(want[i]-got[i])))
			}
			// float32 sums in another order, and BatchNorm in the weights: 2.1e-5 at most without
			// vectors, where the graph's sums are others.
			if !(worst <= 3e-5*scale) || scale == 0 {
				t.Errorf("differs by %g, largest value %g", worst, scale)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	graphical := nets.Backbone{Name: "graphical", Pooling: config.MeanPool, Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		return o.Apply(x, 3, 8, 8, func(x *Node) *Node { return x })
	}}
	if _, err := inference.New(graphical, nil, 8); !errors.Is(err, inference.ErrGraph) {
		t.Errorf("got %v, want ErrGraph", err)
	}
	small := nets.SmallCNN(2, config.MeanPool)
	if _, err := inference.New(small, nil, 32); err == nil || err.Error() != `network smallcnn-w2-mean: no parameter "conv1.weight"` {
		t.Errorf("got %v", err)
	}
	if _, err := inference.New(small, map[string][]float32{"conv1.weight": {1}}, 32); err == nil ||
		err.Error() != `network smallcnn-w2-mean: parameter "conv1.weight" has 1 values, want [2 3 3 3]` {
		t.Errorf("got %v", err)
	}
}

func BenchmarkLite0(b *testing.B) {
	net := must(nets.EfficientNetLite(0, nets.LiteWidth))
	params, dim := fatal.Get2(nets.Params(net, 224))(b)
	values := map[string][]float32{}
	for _, p := range params {
		values[p.Name] = p.Init(1)
	}
	n := fatal.Get(inference.New(net, values, 224))(b)
	const images = 32
	w := n.Worker()
	in, out := make([]byte, images*224*224*3), make([]float32, images*dim)
	for b.Loop() {
		w.Features(out, in)
	}
	b.ReportMetric(float64(images*b.N)/b.Elapsed().Seconds(), "images/s")
}
