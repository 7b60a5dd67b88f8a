package nets_test

import (
	"encoding/json"
	"fmt"
	"maps"
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
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/datasets/arrays/npztest"
)

// golden is testdata/resnet18.json.
type golden struct {
	Hash struct {
		Seed uint32
	}
	StateDict []tensorInfo `json:"state_dict"`
	Inputs    []tensorInfo
	Expected  map[string]struct {
		Labels []int32
		Loss   float64
		GradL2 map[string]float64 `json:"grad_l2"`
	}
}

type tensorInfo struct {
	Name   string
	Shape  []int
	DType  string
	First4 []float64
	CRC32  uint32
}

func readGolden(t *testing.T) (golden, npztest.File) {
	t.Helper()
	raw := fatal.Get(os.ReadFile(filepath.Join("testdata", "resnet18.json")))(t)
	var g golden
	fatal.If(t, json.Unmarshal(raw, &g))
	return g, npztest.Open(t, filepath.Join("testdata", "resnet18.npz"))
}

func TestResNet18HasTorchvisionsStateDict(t *testing.T) {
	g, _ := readGolden(t)
	net := fatal.Get(nets.ResNet(18, 64))(t)
	params, features := fatal.Get2(nets.Params(net, 224))(t)
	params = append(params, nets.LinearParams(nets.ClassHead, features, 1000)...)
	byName := map[string][]int{}
	total := 0
	for _, p := range params {
		byName[p.Name] = p.Shape
		if p.Kind.Trained() {
			total += p.Size()
		}
	}
	if want := 11689512; total != want {
		t.Errorf("%d trained values, want %d", total, want)
	}
	for _, e := range g.StateDict {
		if strings.HasSuffix(e.Name, "num_batches_tracked") {
			continue
		}
		shape, ok := byName[e.Name]
		if !ok || !slices.Equal(shape, e.Shape) {
			t.Errorf("%s: shape %v, want %v", e.Name, shape, e.Shape)
		}
		delete(byName, e.Name)
	}
	if len(byName) > 0 {
		t.Errorf("parameters that torchvision does not have: %v", slices.Sorted(maps.Keys(byName)))
	}
}

func TestResNet18MatchesTorchvision(t *testing.T) {
	if testing.Short() {
		t.Skip("the full ResNet-18 takes seconds")
	}
	g, z := readGolden(t)
	net := fatal.Get(nets.ResNet(18, 64))(t)
	params, features := fatal.Get2(nets.Params(net, 64))(t)
	params = append(params, nets.LinearParams(nets.ClassHead, features, 1000)...)
	crcs := map[string]uint32{}
	for _, e := range append(g.StateDict, g.Inputs...) {
		crcs[e.Name] = e.CRC32
	}
	value := func(name string, shape ...int) *tensors.Tensor {
		t.Helper()
		v := nettest.Weights(name, shape, g.Hash.Seed, 1)
		if got := nettest.CRC32(v); got != crcs[name] {
			t.Fatalf("%s: CRC-32 %d, want %d", name, got, crcs[name])
		}
		return tensors.FromFlatDataAndDimensions(v, shape...)
	}
	backend := enginetest.Open(t)
	var weights []any
	for _, p := range params {
		weights = append(weights, value(p.Name, p.Shape...))
	}
	images := value("input64", 2, 3, 64, 64)

	for _, mode := range []string{"eval", "train"} {
		t.Run(mode, func(t *testing.T) {
			want := g.Expected[mode]
			got := forwardBackward(t, backend, builder(backend), net, params, weights, images, want.Labels, mode == "train")
			near(t, "features", got.features, z.Floats(mode+".features64"), 1e-3)
			logits := append(slices.Clone(got.logits[:16]), got.logits[1000:1016]...)
			near(t, "logits", logits, z.Floats(mode+".logits64_first16"), 1e-3)
			if math.Abs(got.loss-want.Loss) > 1e-4 {
				t.Errorf("loss %v, want %v", got.loss, want.Loss)
			}
			tolerance, running, tight := 1e-3, 1e-5, true
			if mode == "train" && backend.Kind != engine.Go {
				// Another order of summation may put a value on the other side of a
				// ReLU; see testdata/README.md.
				tolerance, running, tight = 0.1, 1e-4, false
			}
			nearGradients(t, got.grads, want.GradL2, tolerance, func(name string) (first []float32) {
				if !tight {
					return nil
				}
				if key := mode + ".grad_first8." + name; z.Has(key) {
					first = z.Floats(key)
				}
				return first
			})
			for name, v := range got.running {
				if key := "train.after." + name; z.Has(key) {
					near(t, name, v, z.Floats(key), running)
				}
			}
		})
	}

	t.Run("eval 224", func(t *testing.T) {
		args := append(slices.Clone(weights), value("input224", 1, 3, 224, 224))
		out := fatal.Get(ExecOnce(backend.Compute, func(in []*Node) *Node {
			pass := nets.Pass{Images: nhwc(in[len(params)]), NoGrad: true}
			return builder(backend)(net, byName(params, in), []nets.Pass{pass}, false).Passes[0]
		}, args...))(t)
		near(t, "features", tensors.MustCopyFlatData[float32](out), z.Floats("eval.features224"), 1e-3)
	})
}

// results are what a ResNet computes of a batch: features and logits row by row,
// the mean cross-entropy, its gradient in every trained parameter, and the running
// statistics after the batch (none in eval mode).
type results struct {
	features, logits []float32
	loss             float64
	grads, running   map[string][]float32
}

// forwardBackward runs net on images (n x 3 x side x side). weights has the values
// of params in their order.
func forwardBackward(t *testing.T, backend engine.Backend, build buildFunc, net nets.Backbone, params []nets.Param,
	weights []any, images *tensors.Tensor, labels []int32, training bool) results {
	t.Helper()
	var trained, running []string
	out := fatal.Get(ExecOnceN(backend.Compute, func(in []*Node) []*Node {
		m := byName(params, in)
		f := build(net, m, []nets.Pass{{Images: nhwc(in[len(params)]), UpdateStats: true}}, training)
		logits := nets.Linear(m, nets.ClassHead, f.Passes[0])
		loss := ReduceAllMean(objective.CrossEntropy(logits, in[len(params)+1]))
		d := Gradient(loss, f.Passes[0], m["fc.weight"], m["fc.bias"])
		grads, _ := f.Pull(d[:1])
		grads["fc.weight"], grads["fc.bias"] = d[1], d[2]
		list := []*Node{f.Passes[0], logits, loss}
		trained, running = nil, slices.Sorted(maps.Keys(f.Running))
		for _, p := range params {
			if p.Kind.Trained() {
				trained = append(trained, p.Name)
				list = append(list, grads[p.Name])
			}
		}
		for _, name := range running {
			list = append(list, f.Running[name])
		}
		return list
	}, append(slices.Clone(weights), images, labels)...))(t)
	flat := func(i int) []float32 { return tensors.MustCopyFlatData[float32](out[i]) }
	r := results{features: flat(0), logits: flat(1), loss: float64(flat(2)[0]),
		grads: map[string][]float32{}, running: map[string][]float32{}}
	for i, name := range trained {
		r.grads[name] = flat(3 + i)
	}
	for i, name := range running {
		r.running[name] = flat(3 + len(trained) + i)
	}
	return r
}

// buildFunc adds a network to a graph; it is flat.Build or that of a native.Target.
type buildFunc func(nets.Backbone, map[string]*Node, []nets.Pass, bool) nets.Features

// builder is the lowering that the backend is for.
func builder(backend engine.Backend) buildFunc {
	if backend.Kind == engine.Go {
		return flat.Build
	}
	return native.Build
}

func byName(params []nets.Param, in []*Node) map[string]*Node {
	m := map[string]*Node{}
	for i, p := range params {
		m[p.Name] = in[i]
	}
	return m
}

func nhwc(x *Node) *Node { return TransposeAllAxes(x, 0, 2, 3, 1) }

// nearGradients compares the norm of every gradient, to the relative tolerance, and
// its first values, for the parameters that first knows, to that share of the
// largest of them.
func nearGradients(t *testing.T, got map[string][]float32, norms map[string]float64, tolerance float64,
	first func(name string) []float32) {
	t.Helper()
	if len(got) != len(norms) {
		t.Errorf("%d gradients, want %d", len(got), len(norms))
	}
	for name, v := range got {
		norm := 0.0
		for _, x := range v {
			norm += float64(x) * float64(x)
		}
		norm = math.Sqrt(norm)
		if want := norms[name]; !(math.Abs(norm-want) <= tolerance*want) {
			t.Errorf("gradient of %s has norm %v, want %v within %v of it", name, norm, want, tolerance)
		}
		want := first(name)
		largest := 0.0
		for _, x := range want {
			largest = max(largest, math.Abs(float64(x)))
		}
		near(t, "gradient of "+name, v[:len(want)], want, tolerance*largest)
	}
}

func near(t *testing.T, name string, got, want []float32, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", name, len(got), len(want))
		return
	}
	for i := range want {
		if d := math.Abs(float64(got[i]) - float64(want[i])); !(d <= tolerance) {
			t.Errorf("%s[%d] = %v, want %v within %v", name, i, got[i], want[i], tolerance)
			return
		}
	}
}

func ExampleParams() {
	net, err := nets.ResNet(18, 64)
	if err != nil {
		panic(err)
	}
	params, features, err := nets.Params(net, 224)
	if err != nil {
		panic(err)
	}
	fmt.Println(net.Name, "has", features, "features")
	fmt.Println(params[0].Name, params[0].Shape)
	// Output:
	// resnet18-w64 has 512 features
	// conv1.weight [64 3 7 7]
}
