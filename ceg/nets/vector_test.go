package nets_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gomlx/compute/dtypes"
	"github.com/gomlx/compute/shapes"
	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/nets/vector"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// Features and gradients equal the lowering for images, with vectors as images of one pixel.
func TestVectorsMatchNative(t *testing.T) {
	b := enginetest.Open(t)
	for _, make := range []func() (nets.Backbone, error){
		func() (nets.Backbone, error) { return nets.Identity(5) },
		func() (nets.Backbone, error) { return nets.MLP(5, 7) },
	} {
		net := fatal.Get(make())(t)
		t.Run(net.Name, func(t *testing.T) {
			params, features := fatal.Get2(nets.Params(net, 0))(t)
			r := seed.New(1, net.Name)
			random := func(dims ...int) *tensors.Tensor {
				n := 1
				for _, d := range dims {
					n *= d
				}
				v := []float32{}
				for range n {
					v = append(v, float32(r.NormFloat64()))
				}
				return tensors.FromFlatDataAndDimensions(v, dims...)
			}
			var in []any
			for _, p := range params {
				in = append(in, random(p.Shape...))
			}
			in = append(in, random(3, 1, 1, 5), random(2, 1, 1, 5), random(4, 1, 1, 5))
			run := func(build func(nets.Backbone, map[string]*Node, []nets.Pass, bool) nets.Features) [][]float32 {
				out := fatal.Get(ExecOnceN(b.Compute, func(in []*Node) []*Node {
					byName := map[string]*Node{}
					for i, p := range params {
						byName[p.Name] = in[i]
					}
					n := len(params)
					f := build(net, byName, []nets.Pass{{Images: in[n], ImageGrad: true}, {Images: in[n+1], NoGrad: true}, {Images: in[n+2], Maps: true}}, true)
					weigh := func(x *Node) *Node { return Cos(MulScalar(IotaFull(x.Graph(), x.Shape()), 1.3)) }
					grads, images := f.Pull([]*Node{weigh(f.Passes[0]), nil, weigh(f.Passes[2])})
					out := append([]*Node{images[0]}, f.Passes...)
					for _, p := range params {
						out = append(out, grads[p.Name])
					}
					if d := f.Passes[2].Shape().Dimensions; len(d) != 4 || d[3] != features {
						t.Errorf("maps are %v", d)
					}
					return out
				}, in...))(t)
				var all [][]float32
				for _, o := range out {
					all = append(all, tensors.MustCopyFlatData[float32](o))
				}
				return all
			}
			got, want := run(vector.Build), run(native.Build)
			for i := range want {
				if len(got[i]) != len(want[i]) {
					t.Fatalf("output %d has %d values, want %d", i, len(got[i]), len(want[i]))
				}
				for j, w := range want[i] {
					if math.Abs(float64(got[i][j]-w)) > 1e-5 {
						t.Fatalf("output %d, value %d is %v, want %v", i, j, got[i][j], w)
					}
				}
			}
		})
	}
	if _, err := nets.Identity(0); err == nil {
		t.Error("a vector of no features")
	}
}

// Layers that look at neighbours are refused.
func TestVectorsRefuse(t *testing.T) {
	b := enginetest.Open(t)
	net := nets.Backbone{Name: "images", Vector: 3, Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		return o.Conv(x, "conv", 2, 3, 1, 1, false)
	}}
	defer func() {
		if r := recover(); r == nil || !strings.Contains(r.(string), "vectors have no neighbours") {
			t.Errorf("got %v", r)
		}
	}()
	x := Zeros(NewGraph(b.Compute, "x"), shapes.Make(dtypes.Float32, 1, 1, 1, 3))
	vector.Build(net, nil, []nets.Pass{{Images: x}}, true)
}
