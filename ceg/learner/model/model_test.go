package model_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/learner"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/weights/pretrained"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestWork(t *testing.T) {
	for name, want := range map[string]bool{"smallcnn": false, "resnet50": false, "linear": false, config.Imported: true} {
		if got := model.Work(config.Network{Name: name}).Heavy; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// Every backbone of the registry is built, narrow, and says something finite of an input
// before it is trained.
func TestEveryNetworkPredicts(t *testing.T) {
	backend := fatal.Get(engine.Open("go"))(t)
	defer backend.Close()
	for _, known := range config.Networks() {
		t.Run(known.Name, func(t *testing.T) {
			dataset, vector := "glyphs", 0
			if known.Vectors {
				dataset, vector = "features", 12
			}
			c := configtest.New(t, dataset, "sketch", "uniform-ce", config.Authors, "network.name", known.Name, "network.width", 8)
			input := any([]float32{1, 0, -1, 2, 0.5, 0, 0, 0, 1, 1, 1, 3})
			if vector == 0 {
				c.Data.ImageSize = 32
				pixels := make([]uint8, 32*32*3)
				for i := range pixels {
					pixels[i] = uint8(i * 7)
				}
				input = pixels
			}
			o := model.LearnerOptions(fatal.Get(nets.New(c.Network, vector))(t), c, 3, 2)
			l := fatal.Get(learner.New(backend, o, 1))(t)
			defer l.Close()
			p := fatal.Get(l.Predict(input))(t)
			if len(p.Features) != l.FeatureDim() || len(p.ClassLogits) != 3 || len(p.DomainLogits) != 2 {
				t.Errorf("%d features, %d class and %d domain logits", len(p.Features), len(p.ClassLogits), len(p.DomainLogits))
			}
			for _, v := range slices.Concat(p.Features, p.ClassLogits, p.DomainLogits) {
				if v-v != 0 {
					t.Fatalf("%v among the outputs", v)
				}
			}
			if p.ClassLogits[0] == p.ClassLogits[1] {
				t.Error("the class logits are all alike")
			}
		})
	}
}

// Published widths and sizes match the published weights.
func TestPublishedNetworks(t *testing.T) {
	for _, known := range config.Networks() {
		if known.Vectors {
			continue
		}
		b := fatal.Get(nets.New(config.Network{Name: known.Name, Width: known.Width, Pooling: config.FlattenPool}, 0))(t)
		params, features := fatal.Get2(nets.Params(b, known.Size))(t)
		pin := slices.IndexFunc(pretrained.Pins(), func(p pretrained.Pin) bool { return p.Arch == known.Name })
		if known.Name == "smallcnn" { // of the Digits-DG benchmark, which has no weights
			if features != 256 || pin >= 0 || known.Weights != "" {
				t.Errorf("smallcnn has %d features", features)
			}
			continue
		}
		bytes := 4 * (features + 1) * 1000 // the head
		for _, p := range params {
			bytes += 4 * p.Size()
		}
		if pin < 0 {
			t.Errorf("%s: no weights of %s are pinned", known.Name, known.Weights)
		} else if got := float64(pretrained.Pins()[pin].Size); math.Abs(got/float64(bytes)-1) > 0.02 {
			t.Errorf("%s of width %d has %d bytes of parameters, its weights have %.0f", known.Name, known.Width, bytes, got)
		}
	}
}

func TestNoSuchNetwork(t *testing.T) {
	for want, bad := range map[string]struct {
		n      config.Network
		vector int
	}{
		`config: network "resnet18" takes images, and the examples are feature vectors: want one of linear, mlp`:                                {config.Network{Name: "resnet18", Width: 8}, 12},
		`config: network width 0, want at least 1`:                                                                                              {config.Network{Name: "resnet18"}, 0},
		`config: pooling "sum", want "mean" or "flatten"`:                                                                                       {config.Network{Name: "smallcnn", Width: 1, Pooling: "sum"}, 0},
		`config: network "vgg", want one of smallcnn, resnet18, resnet34, resnet50, efficientnet-lite0, efficientnet-lite1, efficientnet-lite2`: {config.Network{Name: "vgg"}, 0},
	} {
		if _, err := nets.New(bad.n, bad.vector); err == nil || err.Error() != want {
			t.Errorf("%+v: error %v, want %s", bad, err, want)
		}
	}
}

// Every objective of images trains a network from a file; while the heads alone learn it stays as
// it is, running statistics and momentum included.
func TestObjectivesOfImported(t *testing.T) {
	on := fatal.Get(engine.Open("go"))(t)
	t.Cleanup(on.Close)
	file := filepath.Join("..", "..", "nets", "onnx", "imported", "testdata", "train", "small.onnx")
	for _, o := range config.Objectives() {
		if o.Fits {
			continue
		}
		t.Run(o.Name, func(t *testing.T) {
			spec := config.Spec{Dataset: "glyphs", Target: "photo", Method: "uniform+" + o.Name,
				Set: map[string]any{"network.name": file, "data.image_size": 16, "schedule.per_domain": 2}}
			if o.NeedsStyle {
				spec.StyleWeights = "adain" // random ones are used here
			}
			c := fatal.Get(config.Resolve(spec))(t)
			b := fatal.Get(model.Backbone(c, 0, file))(t)
			l := fatal.Get(learner.New(on, model.LearnerOptions(b, c, 3, 2), 1))(t)
			defer l.Close()
			if _, err := l.Compile(2); err != nil {
				t.Error(err)
			}
			state := func() learner.State {
				return fatal.Get(l.State())(t)
			}
			before, batch := state(), l.RandomBatch()
			for _, heads := range []bool{true, false} {
				now := learner.Now{Rates: learner.Rates{Backbone: 0.01, ClassHead: 0.01, DomainHead: 0.01}}
				fatal.Get(l.Step(batch, now, learner.Stage{Heads: heads}))(t)
				after := state()
				same := map[bool]bool{true: true, false: true} // by whether it is of the network
				trained := 0
				for i, p := range l.Params() {
					file := strings.HasPrefix(p.Name, imported.Prefix)
					same[file] = same[file] && slices.Equal(before.Weights[i], after.Weights[i])
					if p.Trained() {
						same[file] = same[file] && slices.Equal(before.Velocity[trained], after.Velocity[trained])
						trained++
					}
				}
				if same[true] != heads || same[false] {
					t.Errorf("heads alone %v: the network is what it was: %v, the heads: %v", heads, same[true], same[false])
				}
			}
		})
	}
}
