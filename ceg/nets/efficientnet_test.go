package nets_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	. "github.com/gomlx/gomlx/core/graph"
	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/flat"
	"github.com/ledg-go/ledg/ceg/nets/inference"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// TestEfficientNetsMatchTorch compares EfficientNet-Lite0 to 2, features, losses,
// gradients and running statistics, with what testdata/efficientnets.py had from
// PyTorch.
func TestEfficientNetsMatchTorch(t *testing.T) {
	if testing.Short() {
		t.Skip("three networks take seconds")
	}
	raw := fatal.Get(os.ReadFile(filepath.Join("testdata", "efficientnets.json")))(t)
	type expected struct {
		Features   []float64          `json:"features_first16"`
		Loss       float64            `json:"loss"`
		GradL2     map[string]float64 `json:"grad_l2"`
		Running    map[string][]float64
		Parameters int
	}
	var golden struct {
		Seed    uint32
		Classes int
		Cases   []struct {
			Version, Images, Side int
			Eval, Train           expected
		}
	}
	fatal.If(t, json.Unmarshal([]byte(strings.ReplaceAll(string(raw), "running_first2", "running")), &golden))
	backend := enginetest.Open(t)
	for _, c := range golden.Cases {
		net := fatal.Get(nets.EfficientNetLite(c.Version, nets.LiteWidth))(t)
		params, features := fatal.Get2(nets.Params(net, c.Side))(t)
		if features != 1280 {
			t.Errorf("lite%d has %d features, want 1280", c.Version, features)
		}
		params = append(params, nets.LinearParams(nets.ClassHead, features, golden.Classes)...)
		var inputs []any
		trained := 0
		for _, p := range params {
			inputs = append(inputs, tensors.FromFlatDataAndDimensions(nettest.Weights(p.Name, p.Shape, golden.Seed, 1), p.Shape...))
			if p.Kind.Trained() {
				trained += p.Size()
			}
		}
		if trained != c.Eval.Parameters {
			t.Errorf("lite%d has %d trained values, want %d", c.Version, trained, c.Eval.Parameters)
		}
		shape := []int{c.Images, c.Side, c.Side, 3}
		inputs = append(inputs, tensors.FromFlatDataAndDimensions(nettest.Weights("input", shape, golden.Seed, 1), shape...))
		var labels []int32
		for i := range c.Images {
			labels = append(labels, int32(i%golden.Classes))
		}
		for _, train := range []bool{false, true} {
			want, mode := c.Eval, "eval"
			if train {
				want, mode = c.Train, "train"
			}
			t.Run(fmt.Sprint("lite", c.Version, " ", mode), func(t *testing.T) {
				var names []string
				outs := fatal.Get(ExecOnceN(backend.Compute, func(in []*Node) []*Node {
					byName := map[string]*Node{}
					for i, p := range params {
						byName[p.Name] = in[i]
					}
					build := native.Build
					if backend.Kind == engine.Go {
						build = flat.Build
					}
					f := build(net, byName, []nets.Pass{{Images: in[len(params)], UpdateStats: true}}, train)
					loss := ReduceAllMean(objective.CrossEntropy(nets.Linear(byName, nets.ClassHead, f.Passes[0]), Const(in[0].Graph(), labels)))
					grads, _ := f.Pull([]*Node{Gradient(loss, f.Passes[0])[0]})
					out := []*Node{f.Passes[0], loss}
					names = nil
					for _, p := range params {
						if _, ok := want.GradL2[p.Name]; ok && grads[p.Name] != nil {
							names, out = append(names, p.Name), append(out, Sqrt(ReduceAllSum(Square(grads[p.Name]))))
						}
						if _, ok := want.Running[p.Name]; ok && train {
							names, out = append(names, p.Name), append(out, f.Running[p.Name])
						}
					}
					return out
				}, inputs...))(t)
				largest, worst := 0.0, 0.0
				got := tensors.MustCopyFlatData[float32](outs[0])
				for i := range c.Images {
					for j := range 16 {
						w := want.Features[16*i+j]
						largest, worst = max(largest, math.Abs(w)), max(worst, math.Abs(w-float64(got[features*i+j])))
					}
				}
				if !(worst <= 1e-4*max(largest, 1)) || largest == 0 {
					t.Errorf("features differ by %g, the largest is %g", worst, largest)
				}
				if loss := float64(tensors.ToScalar[float32](outs[1])); math.Abs(loss-want.Loss) > 1e-4 {
					t.Errorf("loss %v, want %v", loss, want.Loss)
				}
				if len(names) < 10 {
					t.Fatalf("only %v are compared", names)
				}
				// A value that float32 puts on the other side of a limit moves every
				// gradient before it; with the statistics of a batch, many are near one.
				limit := 1e-3
				if train {
					limit = 0.1
				}
				for i, name := range names {
					v := tensors.MustCopyFlatData[float32](outs[2+i])
					if w, ok := want.GradL2[name]; ok {
						if math.Abs(float64(v[0])-w) > limit*w+1e-4 {
							t.Errorf("gradient of %s has the length %v, want %v", name, v[0], w)
						}
						continue
					}
					for j, w := range want.Running[name] {
						if math.Abs(float64(v[j])-w) > 1e-4 {
							t.Errorf("%s[%d] is %v, want %v", name, j, v[j], w)
						}
					}
				}
			})
		}
	}
}

// TestEfficientNetImageNet compares the published network with the PyTorch original on
// two pictures: the features, and where two implementations part, the mean of
// every block's maps. It needs the published weights in the cache (any run or ledg
// embed with --weights imagenet puts them there).
func TestEfficientNetImageNet(t *testing.T) {
	src, err := pretrained.Open(t.Context(), pretrained.ImageNet, "efficientnet-lite0", pretrained.Options{Offline: true})
	if err != nil {
		t.Skipf("the weights are not in the cache: %v", err)
	}
	net := fatal.Get(nets.EfficientNetLite(0, nets.LiteWidth))(t)
	const size = 224
	params, _ := fatal.Get2(nets.Params(net, size))(t)
	var specs []weights.Spec
	for _, p := range params {
		specs = append(specs, weights.Spec{Name: p.Name, Shape: p.Shape})
	}
	values, report := fatal.Get2(weights.Assign(specs, src.File.Tensors))(t)
	if report.Loaded != len(params) {
		t.Errorf("%d tensors are loaded, want %d", report.Loaded, len(params))
	}
	raw := fatal.Get(os.ReadFile(filepath.Join("testdata", "efficientnet_imagenet.json")))(t)
	var golden map[string][]float64
	fatal.If(t, json.Unmarshal(raw, &golden))
	images := pictures(size)
	// cut is the network up to a block; the maps' mean is what it has for features.
	cut := func(block int) nets.Backbone {
		b := net
		b.Layers = func(o nets.Ops, x nets.Maps) nets.Maps { return net.Layers(&stopper{Ops: o, left: block}, x) }
		b.Layers = catch(b.Layers)
		return b
	}
	for _, c := range []struct {
		array string
		net   nets.Backbone
	}{{"features", net}, {"stem", cut(0)}, {"block3", cut(4)}, {"block9", cut(10)}, {"block15", cut(16)}} {
		want := golden[c.array]
		d := fatal.Get(inference.New(c.net, values, size))(t)
		got := make([]float32, len(want))
		d.Worker().Features(got, images)
		for i := range want {
			if math.Abs(float64(got[i])-want[i]) > 1e-4 {
				t.Fatalf("%s: value %d is %v, want %v", c.array, i, got[i], want[i])
			}
		}
	}
}

// pictures are two pictures, waves and squares, as testdata/efficientnets.py has them.
func pictures(size int) []byte {
	var b []byte
	for i := range 2 {
		for y := range size {
			for x := range size {
				for c := range 3 {
					v := x*(c+1) + y*y/(9+4*c)
					if i == 1 {
						v = (x/16+y/(8*(c+1)))%2*(200-50*c) + (x+y)/8
					}
					b = append(b, byte(v))
				}
			}
		}
	}
	return b
}

// stopper ends a network before block left+1: when the first convolution of a block
// with nothing left begins.
type stopper struct {
	nets.Ops
	left int
	last string
}

type stopped struct{ at nets.Maps }

func (s *stopper) pass(x nets.Maps, name string) {
	block := name[:strings.LastIndex(name, ".")+1]
	if name == "conv_head" {
		block = name
	}
	if block != "" && block != s.last {
		if s.left == 0 {
			panic(stopped{x})
		}
		s.left--
		s.last = block
	}
}

func (s *stopper) Conv(x nets.Maps, name string, out, kernel, stride, padding int, bias bool) nets.Maps {
	s.pass(x, name)
	return s.Ops.Conv(x, name, out, kernel, stride, padding, bias)
}

func (s *stopper) Depthwise(x nets.Maps, name string, kernel, stride, padding int) nets.Maps {
	s.pass(x, name)
	return s.Ops.Depthwise(x, name, kernel, stride, padding)
}

// catch returns the maps at which a stopper has stopped.
func catch(layers func(nets.Ops, nets.Maps) nets.Maps) func(nets.Ops, nets.Maps) nets.Maps {
	return func(o nets.Ops, x nets.Maps) (last nets.Maps) {
		defer func() {
			if r := recover(); r != nil {
				s, ok := r.(stopped)
				if !ok {
					panic(r)
				}
				last = s.at
			}
		}()
		return layers(o, x)
	}
}

// The rules of width and depth, by the channels and the repeats that they give.
func TestEfficientNetRules(t *testing.T) {
	for version, want := range []struct {
		blocks   int
		channels []int // of the last layer of every stage
	}{{16, []int{16, 24, 40, 80, 112, 192, 320}}, {21, []int{16, 24, 40, 80, 112, 192, 320}}, {21, []int{16, 24, 48, 88, 120, 208, 352}}} {
		net := fatal.Get(nets.EfficientNetLite(version, nets.LiteWidth))(t)
		params, _ := fatal.Get2(nets.Params(net, 64))(t)
		blocks, channels := 0, make([]int, 7)
		for _, p := range params {
			var s, i int
			if n, _ := fmt.Sscanf(p.Name, "blocks.%d.%d.conv_dw", &s, &i); n == 2 && strings.Contains(p.Name, ".conv_dw.") {
				blocks++
			} else if n == 2 && (strings.Contains(p.Name, ".conv_pwl.") || s == 0 && strings.Contains(p.Name, ".conv_pw.")) {
				channels[s] = p.Shape[0]
			}
		}
		if blocks != want.blocks || !slices.Equal(channels, want.channels) {
			t.Errorf("lite%d: %d blocks of %v channels, want %d of %v", version, blocks, channels, want.blocks, want.channels)
		}
	}
	if _, err := nets.EfficientNetLite(5, 32); err == nil {
		t.Error("there is a lite5")
	}
}
