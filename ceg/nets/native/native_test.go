package native_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// TestBFloat16 compares the two precisions. A rounding to bfloat16 is off by up to
// 1/512 of the value; 20 of them on the way to a ResNet-18's features, and
// BatchNorm, make a distance of some 3% (1% in four layers). Gradients suffer
// more: a ReLU or a maximum whose inputs are closer than the rounding sends all
// of a gradient elsewhere, and the gradients of random maps mostly cancel. What
// a wrong layer gives is further away than zeros would be, which is 1.
func TestBFloat16(t *testing.T) {
	const images, size = 4, 64
	// Width 16: rows of fewer channels than a vector has lanes make compute v0.1.14's
	// SIMD additions read past a tensor, which is fatal at the end of the heap.
	resnet := fatal.Get(nets.ResNet(18, 16))(t)
	backend := enginetest.Open(t)
	for _, c := range []struct {
		net               nets.Backbone
		forward, gradient float64 // largest distances
	}{
		{nets.SmallCNN(16, config.FlattenPool), 0.01, 0.5},
		{resnet, 0.05, 0.75},
	} {
		net := c.net
		params, features := fatal.Get2(nets.Params(net, size))(t)
		r := seed.New(1, "native test")
		random := func(dims ...int) *tensors.Tensor {
			x := tensors.FromShape(tensors.FromScalarAndDimensions(float32(0), dims...).Shape())
			tensors.MustMutableFlatData(x, func(v []float32) {
				for i := range v {
					v[i] = float32(r.NormFloat64())
				}
			})
			return x
		}
		var args []any
		for _, p := range params {
			args = append(args, tensors.FromFlatDataAndDimensions(p.Init(1), p.Shape...))
		}
		args = append(args, random(images, size, size, 3), random(images, size, size, 3), random(2*images, features))
		for _, train := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s train=%v", net.Name, train), func(t *testing.T) {
				var names []string
				run := func(build func(nets.Backbone, map[string]*Node, []nets.Pass, bool) nets.Features) [][]float32 {
					out := fatal.Get(ExecOnceN(backend.Compute, func(in []*Node) []*Node {
						m := map[string]*Node{}
						for i, p := range params {
							m[p.Name] = in[i]
						}
						in = in[len(params):]
						f := build(net, m, []nets.Pass{{Images: in[0], UpdateStats: true}, {Images: in[1], UpdateStats: true}}, train)
						list := []*Node{f.Passes[0], f.Passes[1]}
						grads, _ := f.Pull([]*Node{Slice(in[2], AxisRange(0, images)), Slice(in[2], AxisRange(images))})
						names = []string{"features of pass 0", "features of pass 1"}
						for _, values := range []map[string]*Node{grads, f.Running} {
							for _, name := range slices.Sorted(maps.Keys(values)) {
								names = append(names, name)
								list = append(list, values[name])
							}
						}
						return list
					}, args...))(t)
					var values [][]float32
					for i, x := range out {
						v, err := tensors.CopyFlatData[float32](x) // fails where it is bfloat16
						if err != nil {
							t.Fatalf("%s: %v", names[i], err)
						}
						values = append(values, v)
					}
					return values
				}
				want, got := run(native.Build), run(native.Target{BFloat16: true}.Build)
				if distance(got[0], want[0]) < 1e-4 {
					t.Error("the features are those of float32")
				}
				for i, name := range names {
					limit := c.gradient
					if strings.HasPrefix(name, "features") || strings.Contains(name, ".running_") {
						limit = c.forward
					}
					if d := distance(got[i], want[i]); !(d <= limit) {
						t.Errorf("%s: distance %.3f, want at most %v", name, d, limit)
					}
				}
			})
		}
	}
}

// distance is the length of got - want over that of want.
func distance(got, want []float32) float64 {
	var difference, length float64
	for i := range want {
		d := float64(got[i]) - float64(want[i])
		difference += d * d
		length += float64(want[i]) * float64(want[i])
	}
	return math.Sqrt(difference / length)
}
