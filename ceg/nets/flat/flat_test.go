package flat_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/seed"
)

// residual is a small network with every layer of Ops.
var residual = nets.Backbone{
	Name: "residual",
	Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		x = o.ReLU(o.BatchNorm(o.Conv(x, "stem", 5, 7, 2, 3, false), "bn"))
		x = o.MaxPool(x, 3, 2, 1)
		y := o.ReLU(o.BatchNorm(o.Conv(x, "a", 6, 3, 2, 1, false), "bn_a"))
		y = o.BatchNorm(o.Conv(y, "b", 6, 3, 1, 1, true), "bn_b")
		x = o.BatchNorm(o.Conv(x, "down", 6, 1, 2, 0, false), "bn_down")
		return o.ReLU(o.Add(x, y))
	},
	Pooling: config.MeanPool,
}

// mobile has the layers of EfficientNet-Lite: SAME padding, depthwise convolutions of
// either stride on maps with and without phases, and ReLU6, with values beyond 6.
var mobile = nets.Backbone{
	Name: "mobile",
	Norm: nets.Norm{Eps: 1e-3, Momentum: 0.01},
	Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		x = o.Depthwise(x, "pixels", 3, 1, nets.Same)
		x = o.ReLU6(o.BatchNorm(o.Conv(x, "stem", 6, 3, 2, nets.Same, false), "bn"))
		y := o.ReLU6(o.BatchNorm(o.Depthwise(x, "a", 5, 1, nets.Same), "bn_a"))
		x = o.Add(x, o.Conv(y, "b", 6, 1, 1, 0, false))
		x = o.Depthwise(x, "c", 3, 2, nets.Same)
		x = o.ReLU6(o.Apply(x, 6, sideOf(x), sideOf(x), func(x *Node) *Node { return MulScalar(x, 20) }))
		x = o.Depthwise(x, "d", 5, 2, nets.Same)
		return o.Depthwise(x, "e", 3, 1, 1)
	},
	Pooling: config.MeanPool,
}

func sideOf(x nets.Maps) int {
	_, h, _ := x.Dims()
	return h
}

// generator makes images: it has reflection padding, a convolution without
// padding, and a function over all places of an image.
var generator = nets.Backbone{
	Name: "generator",
	Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		_, h, w := x.Dims()
		x = o.Apply(x, 3, h+2, w+2, func(x *Node) *Node {
			mirror := func(x *Node, axis int) *Node {
				n := x.Shape().Dimensions[axis]
				return Concatenate([]*Node{SliceAxis(x, axis, AxisElem(1)), x, SliceAxis(x, axis, AxisElem(n-2))}, axis)
			}
			return mirror(mirror(x, 1), 2)
		})
		x = o.ReLU(o.Conv(x, "a", 4, 3, 1, 0, false))
		x = o.Apply(x, 4, h, w, func(x *Node) *Node { return Sub(x, ReduceAndKeep(x, ReduceMean, 1, 2)) })
		x = o.Conv(x, "b", 3, 1, 1, 0, true)
		return o.Apply(x, 3, h, w, Tanh)
	},
	Pooling: nets.NoPool,
}

// maker has the layers that only networks which make images have.
func maker(width int) nets.Backbone {
	return nets.Backbone{
		Name: "maker",
		Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
			x = o.ReLU(nets.InstanceNorm(o, nets.ConvMirrored(o, x, "a", width, false)))
			x = o.Add(x, nets.InstanceNorm(o, nets.ConvMirrored(o, x, "b", width, false)))
			x = o.Conv(nets.WithMeans(o, x), "c", width, 1, 1, 0, false)
			return nets.ConvMirrored(o, nets.InstanceNorm(o, x), "d", 3, true)
		},
		Pooling: nets.NoPool,
	}
}

func resnet(depth, width int) nets.Backbone {
	b, err := nets.ResNet(depth, width)
	if err != nil {
		panic(err)
	}
	return b
}

func lite(version, width int) nets.Backbone {
	b, err := nets.EfficientNetLite(version, width)
	if err != nil {
		panic(err)
	}
	return b
}

func TestMatchesNativeConvolution(t *testing.T) {
	b := fatal.Get(engine.Open("go"))(t)
	defer b.Close()
	for _, c := range []struct {
		name    string
		net     nets.Backbone
		size    int
		train   bool
		batches []int // images per pass
		groups  []int
		// Passes from these on have gradients of their images, or return maps.
		imageGrads, maps int
	}{
		{"smallcnn 32", nets.SmallCNN(4, config.MeanPool), 32, true, []int{3, 2}, []int{0, 1}, 9, 9},
		{"smallcnn, gradients of images", nets.SmallCNN(4, config.MeanPool), 32, true, []int{3, 2, 2}, []int{0, 1, 2}, 1, 9},
		{"smallcnn, maps", nets.SmallCNN(4, config.FlattenPool), 32, true, []int{3, 2, 2}, []int{0, 1, 2}, 9, 1},
		{"residual, gradients of images, maps", residual, 23, true, []int{3, 2, 2}, []int{0, 1, 0}, 0, 2},
		{"generator", generator, 16, true, []int{3, 2}, []int{0, 1}, 0, 9},
		{"generator with odd sides", generator, 9, false, []int{2}, []int{0}, 0, 9},
		{"maker", maker(5), 16, true, []int{3, 2}, []int{0, 1}, 1, 9},
		{"maker, images without gradients", maker(5), 16, true, []int{3, 2}, []int{0, 1}, 9, 9},
		{"maker of one phase", maker(5), 9, true, []int{2}, []int{0}, 0, 9},
		{"maker by minimal filtering", maker(24), 32, true, []int{3, 2}, []int{0, 1}, 0, 9},
		{"maker in several shards", maker(2), 32, true, []int{90, 50}, []int{0, 1}, 1, 9},
		{"smallcnn 32, by minimal filtering", nets.SmallCNN(24, config.MeanPool), 32, true, []int{3, 2}, []int{0, 1}, 9, 9},
		{"resnet18 by minimal filtering, evaluation", resnet(18, 32), 64, false, []int{2}, []int{0}, 9, 9},
		{"smallcnn in several shards", nets.SmallCNN(2, config.MeanPool), 32, true, []int{90, 50}, []int{0, 1}, 9, 9},
		{"smallcnn 48, flattened", nets.SmallCNN(5, config.FlattenPool), 48, true, []int{2}, []int{0}, 9, 9},
		{"smallcnn with odd sides", nets.SmallCNN(5, config.FlattenPool), 36, true, []int{2}, []int{0}, 9, 9},
		{"residual, passes apart", residual, 32, true, []int{3, 2, 2}, []int{0, 1, 2}, 9, 9},
		{"residual, passes in groups", residual, 16, true, []int{3, 2, 2}, []int{0, 1, 0}, 9, 9},
		{"residual with odd sides", residual, 23, true, []int{3}, []int{0}, 9, 9},
		{"mobile", mobile, 32, true, []int{3, 2, 2}, []int{0, 1, 0}, 1, 2},
		{"mobile, large", mobile, 112, true, []int{2}, []int{0}, 9, 9},
		{"mobile with odd sides, evaluation", mobile, 27, false, []int{3, 2}, []int{0, 1}, 0, 9},
		{"efficientnet-lite0, evaluation", lite(0, 4), 64, false, []int{2}, []int{0}, 9, 9},
		{"efficientnet-lite1, evaluation of odd sides", lite(1, 2), 75, false, []int{2}, []int{0}, 9, 9},
		{"resnet18", resnet(18, 2), 32, true, []int{8}, []int{0}, 9, 9},
		{"resnet50, evaluation", resnet(50, 2), 48, false, []int{2}, []int{0}, 9, 9},
		{"residual, evaluation", residual, 32, false, []int{3}, []int{0}, 9, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			params, _ := fatal.Get2(nets.Params(c.net, c.size))(t)
			r := seed.New(1, c.name)
			random := func(scale float64, dims ...int) *tensors.Tensor {
				n := 1
				for _, d := range dims {
					n *= d
				}
				v := make([]float32, n)
				for i := range v {
					v[i] = float32(scale * r.NormFloat64())
				}
				return tensors.FromFlatDataAndDimensions(v, dims...)
			}
			var inputs []any
			for _, p := range params {
				v := random(0.3, p.Shape...)
				switch p.Kind {
				case nets.BiasedConvWeight:
					v = random(math.Sqrt(2/float64(p.FanIn)), p.Shape...)
				case nets.ConvWeight, nets.Scale, nets.RunningVar:
					v = tensors.FromFlatDataAndDimensions(p.Init(1), p.Shape...)
				}
				inputs = append(inputs, v)
			}
			for _, b := range c.batches {
				inputs = append(inputs, random(1, b, c.size, c.size, 3))
			}
			// Each lowering returns features, gradients and running statistics.
			run := func(build func(nets.Backbone, map[string]*Node, []nets.Pass, bool) nets.Features) map[string][]float32 {
				var names []string
				outs := fatal.Get(ExecOnceN(b.Compute, func(in []*Node) []*Node {
					byName := map[string]*Node{}
					for i, p := range params {
						byName[p.Name] = in[i]
					}
					var passes []nets.Pass
					for i := range c.batches {
						passes = append(passes, nets.Pass{Images: in[len(params)+i], Group: c.groups[i], UpdateStats: true,
							ImageGrad: i >= c.imageGrads, Maps: i >= c.maps})
					}
					f := build(c.net, byName, passes, c.train)
					var adjoints []*Node
					for i, v := range f.Passes { // any numbers, the same for both
						adjoints = append(adjoints, Cos(MulScalar(AddScalar(IotaFull(v.Graph(), v.Shape()), float64(i)), 1.7)))
					}
					grads, images := f.Pull(adjoints)
					var out []*Node
					names = nil
					for i, v := range f.Passes {
						names = append(names, fmt.Sprint("features ", i))
						out = append(out, v)
						if (images[i] != nil) != (i >= c.imageGrads) {
							t.Errorf("pass %d: gradient of images %v", i, images[i])
						}
						if images[i] != nil {
							names = append(names, fmt.Sprint("images ", i))
							out = append(out, images[i])
						}
					}
					for _, m := range []map[string]*Node{grads, f.Running} {
						for _, k := range slices.Sorted(maps.Keys(m)) {
							names = append(names, k)
							out = append(out, m[k])
						}
					}
					return out
				}, inputs...))(t)
				got := map[string][]float32{}
				for i, o := range outs {
					got[names[i]] = tensors.MustCopyFlatData[float32](o)
				}
				return got
			}
			compare(t, "flat", run(flat.Build), run(native.Build))
		})
	}
}

// compare fails the test where a lowering's outputs are not those wanted.
func compare(t *testing.T, lowering string, got, want map[string][]float32) {
	t.Helper()
	if w, g := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)); !slices.Equal(w, g) {
		t.Fatalf("%s: outputs: got %v, want %v", lowering, g, w)
	}
	for name, w := range want {
		g := got[name]
		if len(g) != len(w) {
			t.Errorf("%s: %s: got %d values, want %d", lowering, name, len(g), len(w))
			continue
		}
		// float32 sums of up to a few thousand products, in another order; BatchNorm amplifies
		// their rounding from layer to layer (deeper random networks in training mode are
		// chaotic). A bias before BatchNorm has the gradient 0 up to rounding.
		scale, worst := 0.0, 0.0
		for i := range w {
			scale = max(scale, math.Abs(float64(w[i])))
			worst = max(worst, math.Abs(float64(w[i]-g[i])))
		}
		if worst > 2e-4*scale+1e-5 || scale == 0 {
			t.Errorf("%s: %s: differs by %g, largest value %g", lowering, name, worst, scale)
		}
	}
}
