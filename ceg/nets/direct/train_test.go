package direct_test

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/direct"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/datasets/seed"
)

// passes are what a test sends through a network: so many images each, in groups.
type passes struct {
	batches, groups []int
	noGrad, update  []bool
}

// random returns values of a backbone's parameters as in the middle of training.
func random(t *testing.T, b nets.Backbone, size int) ([]nets.Param, map[string][]float32) {
	t.Helper()
	params, _, err := nets.Params(b, size)
	if err != nil {
		t.Fatal(err)
	}
	r := seed.New(1, b.Name)
	values := map[string][]float32{}
	for _, p := range params {
		v := p.Init(1)
		for i := range v {
			switch p.Kind {
			case nets.Shift, nets.RunningMean:
				v[i] = float32(0.3 * r.NormFloat64())
			case nets.Scale, nets.RunningVar:
				v[i] = float32(0.5 + r.Float64())
			}
		}
		values[p.Name] = v
	}
	return params, values
}

// inverted is an inverted block as those of EfficientNet-Lite.
func inverted(o nets.Ops, x nets.Maps, name string, kernel, stride, expand, out int) nets.Maps {
	in, _, _ := x.Dims()
	y := x
	if expand > 1 {
		y = o.ReLU6(o.BatchNorm(o.Conv(x, name+".wide", in*expand, 1, 1, 0, false), name+".bn1"))
	}
	y = o.ReLU6(o.BatchNorm(o.Depthwise(y, name+".dw", kernel, stride, nets.Same), name+".bn2"))
	y = o.BatchNorm(o.Conv(y, name+".narrow", out, 1, 1, 0, false), name+".bn3")
	if stride == 1 && in == out {
		y = o.Add(y, x)
	}
	return y
}

// Features, running statistics and gradients equal the graph's. Where rounding moves a value
// across a limit its gradient is another: cases in which that happens are not here.
func TestTrainingMatchesTheGraph(t *testing.T) {
	b := enginetest.Open(t)
	small := nets.Backbone{
		Name: "small",
		Norm: nets.Norm{Eps: 1e-3, Momentum: 0.01},
		Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
			x = o.ReLU6(o.BatchNorm(o.Conv(x, "stem", 20, 3, 2, nets.Same, false), "bn"))
			x = inverted(o, x, "a", 3, 1, 1, 12)
			x = inverted(o, x, "b", 5, 2, 6, 24)
			x = inverted(o, x, "c", 3, 1, 3, 24)
			return o.ReLU(o.BatchNorm(o.Conv(x, "head", 40, 1, 1, 0, false), "bn_head"))
		},
		Pooling: config.MeanPool,
	}
	several := passes{[]int{3, 9, 2, 4}, []int{0, 1, 0, 2}, []bool{false, true, false, false}, []bool{true, true, true, false}}
	for _, c := range []struct {
		net   nets.Backbone
		size  int
		p     passes
		train bool
	}{
		{small, 32, several, true},
		{small, 33, several, true},
		{small, 33, several, false},
		{must(nets.EfficientNetLite(0, 8)), 64, passes{[]int{11}, []int{0}, []bool{false}, []bool{true}}, true},
		{must(nets.EfficientNetLite(1, 4)), 75, passes{[]int{10, 3}, []int{0, 1}, []bool{false, true}, []bool{true, true}}, true},
		{must(nets.EfficientNetLite(2, 4)), 64, passes{[]int{9}, []int{0}, []bool{false}, []bool{true}}, true},
	} {
		t.Run(fmt.Sprint(c.net.Name, " ", c.size, " ", c.train), func(t *testing.T) {
			params, values := random(t, c.net, c.size)
			r := seed.New(2, c.net.Name)
			normal := func(n int) []float32 {
				v := make([]float32, n)
				for i := range v {
					v[i] = float32(r.NormFloat64())
				}
				return v
			}
			trainer, err := direct.NewTrainer(c.net, c.size)
			if errors.Is(err, direct.ErrVectors) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			_, dim, _ := nets.Params(c.net, c.size)
			var list []direct.Pass
			var adjoints [][]float32
			var inputs []any
			for _, p := range params {
				inputs = append(inputs, tensors.FromFlatDataAndDimensions(slices.Clone(values[p.Name]), p.Shape...))
			}
			for i, n := range c.p.batches {
				p := direct.Pass{Images: normal(n * c.size * c.size * 3), Group: c.p.groups[i], NoGrad: c.p.noGrad[i], UpdateStats: c.p.update[i]}
				list = append(list, p)
				adjoints = append(adjoints, normal(n*dim))
				inputs = append(inputs, tensors.FromFlatDataAndDimensions(slices.Clone(p.Images), n, c.size, c.size, 3))
			}
			for i, n := range c.p.batches {
				inputs = append(inputs, tensors.FromFlatDataAndDimensions(slices.Clone(adjoints[i]), n, dim))
			}
			var names []string
			outs, err := ExecOnceN(b.Compute, func(in []*Node) []*Node {
				byName := map[string]*Node{}
				for i, p := range params {
					byName[p.Name] = in[i]
				}
				var ps []nets.Pass
				d := make([]*Node, len(list))
				for i, p := range list {
					ps = append(ps, nets.Pass{Images: in[len(params)+i], Group: p.Group, NoGrad: p.NoGrad, UpdateStats: p.UpdateStats})
					if !p.NoGrad {
						d[i] = in[len(params)+len(list)+i]
					}
				}
				f := flat.Build(c.net, byName, ps, c.train)
				grads, _ := f.Pull(d)
				out := slices.Clone(f.Passes)
				names = nil
				for _, m := range []map[string]*Node{f.Running, grads} {
					for _, name := range slices.Sorted(maps.Keys(m)) {
						names, out = append(names, name), append(out, m[name])
					}
				}
				return out
			}, inputs...)
			if err != nil {
				t.Fatal(err)
			}
			// The sums are in the same order on any number of processors.
			var first map[string][]float32
			for _, threads := range []int{1, 3} {
				before := runtime.GOMAXPROCS(threads)
				run := trainer.Forward(values, list, c.train)
				got := maps.Clone(run.Running)
				grads := run.Backward(adjoints)
				again := run.Backward(adjoints)
				runtime.GOMAXPROCS(before)
				for name, v := range grads {
					if !slices.Equal(v, again[name]) {
						t.Errorf("%s has another gradient the second time", name)
					}
					got[name] = v
				}
				for i, f := range run.Features {
					name := fmt.Sprint("features ", i)
					got[name] = f
					if threads == 1 {
						near(t, name, f, tensors.MustCopyFlatData[float32](outs[i]), 0)
					}
				}
				run.Free()
				if first == nil {
					first = got
				}
				for name, v := range got {
					if !slices.Equal(v, first[name]) {
						t.Errorf("%s is another with %d threads", name, threads)
					}
				}
			}
			for i, name := range names {
				least := 0.0
				if weight, ok := strings.CutSuffix(name, ".bias"); ok {
					// What comes before another BatchNorm has a gradient of 0.
					least = largest(first[weight+".weight"])
				}
				near(t, name, first[name], tensors.MustCopyFlatData[float32](outs[len(list)+i]), least)
			}
			if len(first) != len(names)+len(list) {
				t.Errorf("got %d values, want %d", len(first), len(names)+len(list))
			}
		})
	}
}

func largest(v []float32) float64 {
	m := 0.0
	for _, x := range v {
		m = max(m, math.Abs(float64(x)))
	}
	return m
}

// near fails the test unless values are others' within float32 rounding, which the layers
// let grow, as a share of the largest, which is taken to be at least so much.
func near(t *testing.T, name string, got, want []float32, least float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %d values, want %d", name, len(got), len(want))
		return
	}
	scale, worst := max(least, largest(want)), 0.0
	for i := range want {
		worst = max(worst, math.Abs(float64(want[i]-got[i])))
	}
	if !(worst <= 1e-4*scale) {
		t.Errorf("%s differs by %g, largest value %g", name, worst, scale)
	}
}

// BenchmarkTraining is the network's part of a step of CEG at 128 pixels: 240 images with
// gradients and 144 without, 16 of a domain in a pass.
func BenchmarkTraining(b *testing.B) {
	const size = 128
	net := must(nets.EfficientNetLite(0, nets.LiteWidth))
	params, dim, err := nets.Params(net, size)
	if err != nil {
		b.Fatal(err)
	}
	values := map[string][]float32{}
	for _, p := range params {
		values[p.Name] = p.Init(1)
	}
	trainer, err := direct.NewTrainer(net, size)
	if err != nil {
		b.Skip(err)
	}
	r := seed.New(1, "images")
	var passes []direct.Pass
	var adjoints [][]float32
	for i := range 24 {
		p := direct.Pass{Images: make([]float32, 16*size*size*3), Group: i, UpdateStats: true, NoGrad: i >= 15}
		for j := range p.Images {
			p.Images[j] = float32(r.NormFloat64())
		}
		d := make([]float32, 16*dim)
		for j := range d {
			d[j] = float32(r.NormFloat64())
		}
		passes, adjoints = append(passes, p), append(adjoints, d)
	}
	for b.Loop() {
		run := trainer.Forward(values, passes, true)
		run.Backward(adjoints)
		run.Free()
	}
}
