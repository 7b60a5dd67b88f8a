package ceg_test

import (
	"errors"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/core/graph"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/objectivetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/predict"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/study"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/testall"
)

// gated is a convolution with a gate for each channel, and then another.
func gated(s *nets.Scope, x *graph.Node) *graph.Node {
	x = s.Conv("stem", x, s.Width, 3, 2)
	gate := s.Param(nets.Param{Name: "gate", Shape: []int{1, 1, 1, s.Width}, Kind: nets.Scale})
	return graph.Tanh(s.Conv("out", graph.Mul(graph.Sigmoid(graph.Mul(x, gate)), x), 2*s.Width, 3, 2))
}

// residual is a residual network on feature vectors.
func residual(s *nets.Scope, x *graph.Node) *graph.Node {
	return graph.Add(x, s.Linear("out", graph.Tanh(s.Linear("in", x, s.Width)), x.Shape().Dim(1)))
}

// layered is a network of ledg's layers, with BatchNorm.
func layered(width, _ int) nets.Backbone {
	return nets.Backbone{Name: "own-layers", Pooling: config.MeanPool, Layers: func(o nets.Ops, x nets.Maps) nets.Maps {
		return o.ReLU(o.BatchNorm(o.Conv(x, "conv", width, 3, 2, 1, false), "bn"))
	}}
}

// unrectified has the name and the parameters of layered, and is another function.
func unrectified(width, _ int) nets.Backbone {
	b := layered(width, 0)
	b.Layers = func(o nets.Ops, x nets.Maps) nets.Maps {
		return o.BatchNorm(o.Conv(x, "conv", width, 3, 2, 1, false), "bn")
	}
	return b
}

func init() {
	err := errors.Join(nets.RegisterFunc("own-gated", nets.OnImages, gated), nets.RegisterFunc("own-residual", nets.OnFeatures, residual),
		nets.Register("own-layers", nets.OnImages, layered), nets.Register("own-unrectified", nets.OnImages, unrectified))
	if err != nil {
		log.Fatal(err)
	}
}

func TestOwnNetworksConform(t *testing.T) {
	objectives := []objective.Objective{objective.ERM(objective.Passes{}), objective.FixMatch(0.5, config.Both, objective.DomainByDomain)}
	objectivetest.CheckNetwork(t, nets.OfFunc("gated", 4, 0, gated), 16, objectives...)
	objectivetest.CheckNetwork(t, nets.OfFunc("residual", 4, 12, residual), 0, objectives...)
	objectivetest.CheckNetwork(t, layered(4, 0), 16, objectives...)
}

// Every objective trains a graph function.
func TestEveryObjectiveTrainsOwnNetworks(t *testing.T) {
	testall.Need(t, "it compiles many training steps")
	for _, known := range config.Objectives() {
		if known.Fits || known.NeedsStyle {
			continue
		}
		o := objective.New(config.Must(config.Spec{Target: "photo", Objective: known.Name, Set: map[string]any{"network.width": 4}}))
		objectivetest.CheckNetwork(t, nets.OfFunc("gated", 4, 0, gated), 16, o)
		if !known.Pixels && !o.UnitPixels {
			objectivetest.CheckNetwork(t, nets.OfFunc("residual", 4, 12, residual), 0, o)
		}
	}
}

// A run's config has the code of its network. The trained network predicts, and is exported as far as it can be.
func TestOwnNetworkRuns(t *testing.T) {
	for name, onnxError := range map[string]string{"own-gated": "network own-gated is a graph function, which has no ONNX form: export its weights as .safetensors", "own-layers": ""} {
		s := ownSpec("uniform-ce")
		s.Set["network.name"] = name
		c := config.Must(s)
		if len(c.Network.Code) != 16 || c.Generalization.ObjectiveCode != "" {
			t.Fatalf("%s: codes %q and %q", name, c.Network.Code, c.Generalization.ObjectiveCode)
		}
		folder, other := fatal.Get(study.DirName(c))(t), c
		if other.Network.Code = "0123456789abcdef"; fatal.Get(study.DirName(other))(t) == folder {
			t.Errorf("with other code the run is called %s, too", folder)
		}
		fatal.Says(t, other.Validate(), `network.name: the code of "`+name+`" has changed`)
		o := ceg.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go"}
		if r, err := ceg.Run(t.Context(), c, o); err != nil || r.Epochs != 3 {
			t.Fatalf("%s: %+v, %v", name, r, err)
		}
		m, _, err := run.LoadModel(o)
		fatal.If(t, err)
		fatal.Get(m.Save(filepath.Join(t.TempDir(), "net.safetensors")))(t)
		if _, err := predict.ExportONNX(o, filepath.Join(t.TempDir(), "net.onnx"), onnx.Float32); onnxError == "" && err != nil || onnxError != "" && (err == nil || !strings.Contains(err.Error(), onnxError)) {
			t.Errorf("%s: ONNX: %v, want %q", name, err, onnxError)
		}
		data := fatal.Get(os.ReadFile(filepath.Join(o.Dir, "config.json")))(t)
		u := fatal.Get(config.Parse([]byte(strings.ReplaceAll(string(data), name, "of-elsewhere"))))(t)
		fatal.Says(t, u.Validate(), `network.name: "of-elsewhere" is not built in: the program that made the config registered it (nets.Register), and this one has not`)
	}
	s := ownSpec("uniform-ce")
	s.Set["network.name"] = "own-residual"
	fatal.Says(t, fatal.Err(config.Resolve(s)), "own-gated")
	s.Set["network.name"], s.Set["network.precision"] = "own-gated", "bfloat16"
	fatal.Says(t, fatal.Err(config.Resolve(s)), "it computes in float32")
}

// What a frozen network computes once is not taken for another function with its weights.
func TestViewsOfOwnNetworks(t *testing.T) {
	cache := t.TempDir()
	for _, name := range []string{"own-layers", "own-unrectified"} {
		s := ownSpec("uniform-ce")
		s.Epochs, s.Set["network.name"], s.Set["network.freeze"], s.Set["data.views"], s.Set["data.pool_share"] = 1, name, "head", 3, 0.2
		fatal.Get(ceg.Run(t.Context(), config.Must(s), ceg.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go", CacheDir: cache}))(t)
	}
	if list := fatal.Get(filepath.Glob(filepath.Join(cache, "*-views-*.safetensors")))(t); len(list) != 2 {
		t.Errorf("two networks have the views %q", list)
	}
}

// Functions that cannot be trained are errors, at the registration or when a run begins.
func TestFlawedNetworks(t *testing.T) {
	for want, f := range map[string]nets.Func{
		"want float32 features":  func(_ *nets.Scope, x *graph.Node) *graph.Node { return graph.ReduceAllSum(x) },
		"has a kernel of side 4": func(s *nets.Scope, x *graph.Node) *graph.Node { return s.Conv("a", x, 4, 4, 1) },
		`parameter "mean" of shape [3]: want a name, a kind that is trained`: func(s *nets.Scope, x *graph.Node) *graph.Node {
			s.Param(nets.Param{Name: "mean", Shape: []int{3}, Kind: nets.RunningMean})
			return x
		},
		"network own-flawed on examples [3 64 64 3]": func(s *nets.Scope, x *graph.Node) *graph.Node { return s.Linear("a", x, 4) },
	} {
		fatal.Says(t, nets.RegisterFunc("own-flawed", nets.OnImages, f), want)
	}
	fatal.Says(t, nets.RegisterFunc("smallcnn", nets.OnImages, gated), "taken by another network")
	fatal.Says(t, nets.RegisterFunc("own-gated", nets.OnImages, gated), "taken by another network")
	for want, f := range map[string]nets.Func{
		"the features of an example depend on the others": func(s *nets.Scope, x *graph.Node) *graph.Node {
			x = s.Linear("a", x, 4)
			return graph.Sub(x, graph.ReduceAndKeep(x, graph.ReduceMean, 0))
		},
		"NaN becomes NaN": func(s *nets.Scope, x *graph.Node) *graph.Node {
			return graph.Log(graph.Neg(graph.Square(s.Linear("a", x, 4))))
		},
	} {
		l := fatal.Get(learner.New(enginetest.Open(t), learner.Options{Backbone: nets.OfFunc("flawed", 4, 5, f), Objective: objective.ERM(objective.Passes{}), Classes: 2, Domains: 2, PerDomain: 2}, 1))(t)
		fatal.Says(t, l.Independent(), want)
		l.Close()
	}
}
