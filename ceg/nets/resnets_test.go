package nets_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/core/tensors"

	"github.com/ledg-go/ledg/ceg/engine"
	"github.com/ledg-go/ledg/ceg/engine/enginetest"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/native"
	"github.com/ledg-go/ledg/ceg/nets/nettest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
	"github.com/ledg-go/ledg/ceg/testing/zst"
)

// TestResNetsMatchTorch compares depths 18, 34 and 50 at several widths and image
// sizes, odd ones among them, with what testdata/resnets.py had from PyTorch.
func TestResNetsMatchTorch(t *testing.T) {
	if testing.Short() {
		t.Skip("a dozen ResNets take seconds")
	}
	raw := zst.Read(t, filepath.Join("testdata", "resnets.json.zst"))
	var golden struct {
		Seed  uint32
		Cases []struct {
			Depth, Width, Classes int
			Input                 string
			Shape                 []int
			Labels                []int32
			TrainedValues         int `json:"trained_values"`
			Expected              map[string]struct {
				Features []float32 `json:"features_first16"` // of every image
				Logits   []float32
				Loss     float64
				GradL2   map[string]float64   `json:"grad_l2"`
				Grads    map[string][]float32 `json:"grad_first4"` // eval
				Running  map[string][]float32 `json:"running_first2"`
			}
		}
	}
	fatal.If(t, json.Unmarshal(raw, &golden))
	backend := enginetest.Open(t)
	lowerings := map[string]buildFunc{"": builder(backend)}
	for _, c := range golden.Cases {
		if backend.Kind == engine.Go && c.Width <= 16 && c.Shape[2] <= 100 { // GoMLX's convolution is slow there
			lowerings["native"] = native.Build
		} else {
			delete(lowerings, "native")
		}
		net := fatal.Get(nets.ResNet(c.Depth, c.Width))(t)
		params, features := fatal.Get2(nets.Params(net, c.Shape[2]))(t)
		params = append(params, nets.LinearParams(nets.ClassHead, features, c.Classes)...)
		var weights []any
		trained := 0
		for _, p := range params {
			weights = append(weights, tensors.FromFlatDataAndDimensions(nettest.Weights(p.Name, p.Shape, golden.Seed, 1), p.Shape...))
			if p.Kind.Trained() {
				trained += p.Size()
			}
		}
		if trained != c.TrainedValues {
			t.Errorf("%s: %d trained values, want %d", net.Name, trained, c.TrainedValues)
		}
		images := tensors.FromFlatDataAndDimensions(nettest.Weights(c.Input, c.Shape, golden.Seed, 1), c.Shape...)
		for lowering, build := range lowerings {
			for mode, want := range c.Expected {
				t.Run(fmt.Sprintf("%s %d px %s %s", net.Name, c.Shape[2], mode, lowering), func(t *testing.T) {
					got := forwardBackward(t, backend, build, net, params, weights, images, c.Labels, mode == "train")
					var first []float32
					for row := range slices.Chunk(got.features, features) {
						first = append(first, row[:min(16, features)]...)
					}
					near(t, "features", first, want.Features, 1e-3)
					near(t, "logits", got.logits, want.Logits, 1e-3)
					if !(math.Abs(got.loss-want.Loss) <= 1e-4) {
						t.Errorf("loss %v, want %v", got.loss, want.Loss)
					}
					// In train mode a value that float32 puts on the other side of a ReLU
					// moves all gradients before it: torch's own float32 differs from its
					// float64 by up to 6% there, and by less than 2e-6 in eval mode.
					tolerance, grads := 1e-3, want.Grads
					if mode == "train" {
						tolerance, grads = 0.1, nil
					}
					nearGradients(t, got.grads, want.GradL2, tolerance, func(name string) []float32 { return grads[name] })
					if mode == "train" && len(got.running) != len(want.Running) {
						t.Errorf("%d running statistics, want %d", len(got.running), len(want.Running))
					}
					for name, v := range want.Running {
						near(t, name, got.running[name][:len(v)], v, 1e-4)
					}
				})
			}
		}
	}
}
