package run_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/nets/weights"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// All labels leave methods that train with labels alone nothing to miss.
func TestLabelsAlone(t *testing.T) {
	c := tiny(t, "dael", config.Paper, "schedule.epochs", 1)
	c.Exploration.Budget = "100%"
	if _, r := trained(t, c); r.Labels != r.Pool {
		t.Errorf("%d labels of %d", r.Labels, r.Pool)
	}
}

// An epoch over the labelled images has as many steps as they fill batches.
func TestEpochOfLabelled(t *testing.T) {
	c := tiny(t, "rsc", config.Paper, "protocol", config.OriginalProtocol, "schedule.epochs", 3)
	c.Exploration.Budget = "200"
	dir, _ := trained(t, c)
	records, _ := fatal.Get2(result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile))(t)
	for epoch, r := range records {
		if want := 200 / (3 * 21); r.Steps != want {
			t.Errorf("epoch %d has %d steps, want %d", epoch, r.Steps, want)
		}
		want := c.Optimizer.BackboneRate
		if epoch == 2 { // three quarters of 3 epochs are over
			want /= 10
		}
		if got := r.LearningRate.Backbone; math.Abs(got-want) > 1e-12 {
			t.Errorf("epoch %d has the rate %v, want %v", epoch, got, want)
		}
	}
}

// styleFiles writes weights of AdaIN's networks, of any values.
func styleFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for i, net := range objective.AdaIN(objective.VGG19).Nets(objective.Dims{}) {
		params, _ := fatal.Get2(nets.Params(net.Backbone, 16))(t)
		sd := weights.StateDict{weights.FromFloat32("31.weight", []int{1}, []float32{1})} // what nobody asks for
		for _, p := range params {
			sd = append(sd, weights.FromFloat32(p.Name, p.Shape, p.Init(7)))
		}
		fatal.Get(weights.Save(filepath.Join(dir, []string{"vgg_normalised", "decoder"}[i]+".safetensors"), sd, nil))(t)
	}
	return dir
}

// StyleMatch runs with AdaIN's weights and not without, and its run goes on from its
// checkpoint without the files.
func TestStyleMatchNeedsWeights(t *testing.T) {
	var setting *config.Error
	if _, err := config.Resolve(config.Spec{Target: "photo", Method: "stylematch"}); !errors.As(err, &setting) || !strings.Contains(err.Error(), "vgg_normalised.pth and decoder.pth") {
		t.Errorf("without weights: %v", err)
	}
	dir := styleFiles(t)
	w := fatal.Get(model.OpenStyle(dir))(t)
	c := tiny(t, "stylematch", config.Paper, "schedule.epochs", 2, "generalization.style_weights", dir, "schedule.epoch_of", config.OverLabelled, "schedule.per_domain", 4, "data.pool_share", 0.3)
	c.Generalization.StyleWeights = &w.Weights
	out := filepath.Join(t.TempDir(), "run")
	r := fatal.Get(run.Run(t.Context(), c, run.Options{Dir: out, Backend: "go", Style: w}))(t)
	if r.Method != "stylematch" {
		t.Errorf("the method is %s", r.Method)
	}
	if _, err := run.Run(t.Context(), c, run.Options{Dir: out, Resume: true, Backend: "go"}); err != nil {
		t.Error(err)
	}
	fatal.Says(t, fatal.Err(run.Run(t.Context(), c, run.Options{Dir: filepath.Join(t.TempDir(), "new"), Backend: "go"})), "not opened")
	other := tiny(t, "fixmatch", config.Paper)
	other.Generalization.StyleWeights = &w.Weights
	fatal.Says(t, other.Validate(), "no use")

	fatal.If(t, os.Remove(filepath.Join(dir, "decoder.safetensors")))
	for path, want := range map[string]string{
		dir:                               "no decoder.pth in",
		filepath.Join(dir, "nothing"):     "no such folder or file",
		filepath.Join("testdata", "x.pt"): "no such folder or file",
	} {
		fatal.Says(t, fatal.Err(model.OpenStyle(path)), want)
	}
	narrow := weights.StateDict{weights.FromFloat32("1.weight", []int{2}, []float32{1, 2}), weights.FromFloat32("1.bias", []int{2}, []float32{1, 2})}
	fatal.Get(weights.Save(filepath.Join(dir, "decoder.safetensors"), narrow, nil))(t)
	fatal.Says(t, fatal.Err(model.OpenStyle(dir)), "1.weight: got [2], want [256 512 3 3]")
}
