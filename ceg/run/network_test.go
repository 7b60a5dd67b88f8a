package run_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/learner/model"
	"github.com/ledg-go/ledg/ceg/nets/onnx/imported"
	"github.com/ledg-go/ledg/ceg/nets/weights/hub/hubtest"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/run"
	"github.com/ledg-go/ledg/datasets/regular"
)

// ofFile is a config whose network is a small ONNX file, a copy of it that the test may change,
// and the options to run it with in a folder.
func ofFile(t *testing.T, preset config.Preset, pairs ...any) (c run.Config, file string, o run.Options) {
	t.Helper()
	from := "small.onnx"
	if slices.Contains(pairs, any("network.lora_rank")) {
		from = "vit.onnx"
		pairs = append(pairs, "data.image_size", 32)
	}
	file = filepath.Join(t.TempDir(), from)
	if err := regular.CopyFile(filepath.Join("..", "nets", "onnx", "imported", "testdata", "train", from), file); err != nil {
		t.Fatal(err)
	}
	c = tiny(t, "ceg", preset, append([]any{"schedule.epochs", 2, "schedule.per_domain", 8, "schedule.epoch_of", config.OverLabelled, "data.pool_share", 0.3, "network.name", file, "network.width", 1}, pairs...)...)
	o = run.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go"}
	var err error
	if o.Weights, _, err = model.OpenWeights(t.Context(), &c, model.WeightArgs{Weights: file}, false, nil); err != nil {
		t.Fatal(err)
	}
	return c, file, o
}

// goesOn makes a run whose network is an ONNX file, and another that is stopped in its second
// epoch and goes on without the file, and compares the bytes of both; stop, if not nil, sees what
// the first epoch has left. It returns how they are opened.
func goesOn(t *testing.T, stop func(m *model.Model, source map[string][]float32), pairs ...any) (o, again run.Options) {
	t.Helper()
	c, file, o := ofFile(t, config.Authors, pairs...)
	if _, err := run.Run(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	stopped := o
	stopped.Dir = filepath.Join(t.TempDir(), "stopped")
	ctx, cancel := context.WithCancel(t.Context())
	stopped.Observe = func(e run.Event) {
		if e.Epoch == 1 && e.Step == 1 {
			cancel()
		}
	}
	if _, err := run.Run(ctx, c, stopped); err == nil {
		t.Fatal("the run was not stopped")
	}
	if stop != nil {
		m, _, err := run.LoadModel(stopped)
		if err != nil {
			t.Fatal(err)
		}
		stop(m, values(t, file, c.Data.ImageSize))
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	again = run.Options{Dir: stopped.Dir, Backend: "go", Resume: true}
	if _, err := run.Run(t.Context(), c, again); err != nil {
		t.Fatal(err)
	}
	if want, got := outcome(t, o.Dir), outcome(t, stopped.Dir); !maps.Equal(want, got) {
		t.Errorf("stopped and gone on it has %v, else %v", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	return o, again
}

func TestFrozenNetworkGoesOn(t *testing.T) {
	goesOn(t, nil, "network.freeze", config.FreezeBackbone)
	goesOn(t, nil, "network.freeze", config.FreezeBackbone, "data.views", 3)
}

// A run with low-rank adapters, after an epoch of the heads alone, moves the matrices of the linear
// layers that they are on, and nothing else of the network.
func TestAdaptersGoOn(t *testing.T) {
	var source map[string][]float32
	_, again := goesOn(t, func(m *model.Model, of map[string][]float32) {
		if source = of; len(unmoved(m, of)) != len(of) {
			t.Errorf("after its head epoch only %v are what they were", unmoved(m, of))
		}
	}, "network.lora_rank", 2, "network.lora_alpha", 4, "network.head_epochs", 1)
	m, _, err := run.LoadModel(again)
	if err != nil {
		t.Fatal(err)
	}
	same := unmoved(m, source)
	if len(same) != len(source)-8 || slices.ContainsFunc(same, func(s string) bool { return strings.Contains(s, "MatMul") }) || m.Backbone.Adapters != "" {
		t.Errorf("of %d parameters %v are what they were", len(source), same)
	}
	for _, p := range m.Params {
		if p.Added {
			t.Errorf("the model still has %s", p.Name)
		}
	}
}

// A run whose network is on the hub knows it by its commit, has its licence, and goes on without
// the hub.
func TestNetworkOfTheHub(t *testing.T) {
	file, err := os.ReadFile(filepath.Join("..", "nets", "onnx", "imported", "testdata", "train", "small.onnx"))
	if err != nil {
		t.Fatal(err)
	}
	requests := hubtest.Hub(t, map[string][]byte{"onnx/model.onnx": file})
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	c := tiny(t, "uniform-ce", config.Authors, "schedule.epochs", 2, "schedule.per_domain", 8, "data.pool_share", 0.3, "network.name", "hf:who/vit", "network.width", 1)
	o := run.Options{Dir: filepath.Join(t.TempDir(), "run"), Backend: "go"}
	if o.Weights, _, err = model.OpenWeights(t.Context(), &c, model.WeightArgs{Weights: "hf:who/vit"}, false, nil); err != nil {
		t.Fatal(err)
	}
	if w := c.Network.Weights; w.Name != "hf:who/vit" || w.Revision != hubtest.Commit || w.Licence != "apache-2.0" || o.Weights.Word() != "hf:who/vit@"+hubtest.Commit {
		t.Errorf("the run began with %+v, found by %s", w, o.Weights.Word())
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.Observe = func(e run.Event) {
		if e.Epoch == 1 {
			cancel()
		}
	}
	if _, err := run.Run(ctx, c, o); err == nil {
		t.Fatal("the run was not stopped")
	}
	*requests = 0
	o = run.Options{Dir: o.Dir, Backend: "go", Resume: true}
	if _, err := run.Run(t.Context(), c, o); err != nil {
		t.Fatal(err)
	}
	m, _, err := run.LoadModel(o)
	if err != nil || m.Features != 6 || !strings.HasPrefix(m.Backbone.Name, "who/vit-") || *requests != 0 {
		t.Errorf("%v; %+v, %d requests", err, m, *requests)
	}
	if _, _, err := model.OpenWeights(t.Context(), &c, model.WeightArgs{Weights: "hf:who/other"}, false, nil); err == nil || !strings.HasPrefix(err.Error(), "network.name: hf:who/other: ") || strings.Contains(err.Error(), "\n") {
		t.Errorf("of another repository: error %v", err)
	}
}

// unmoved names what training has left of a network from a file as the file has it.
func unmoved(m *model.Model, source map[string][]float32) (same []string) {
	for i, p := range m.Params {
		if v, ok := source[p.Name]; ok && slices.Equal(v, m.Values[i]) {
			same = append(same, p.Name)
		}
	}
	return same
}

// After the epochs of the heads alone the network is what the file has, running statistics
// included, and after those that follow nothing of it is.
func TestHeadEpochsGoOn(t *testing.T) {
	var source map[string][]float32
	_, again := goesOn(t, func(m *model.Model, of map[string][]float32) {
		if source = of; len(unmoved(m, of)) != len(of) {
			t.Errorf("after its head epoch only %v are what they were", unmoved(m, of))
		}
	}, "network.head_epochs", 1)
	m, _, err := run.LoadModel(again)
	if err != nil {
		t.Fatal(err)
	}
	if same := unmoved(m, source); len(same) > 0 {
		t.Errorf("at the end %v are still what they were", same)
	}
}

// A run whose network is an ONNX file keeps the file, and goes on from its own copy to the bytes
// of one that was not stopped.
func TestNetworkOfAFileGoesOn(t *testing.T) {
	o, again := goesOn(t, nil)
	m, _, err := run.LoadModel(again)
	if err != nil {
		t.Fatal(err)
	}
	if same := unmoved(m, values(t, filepath.Join(o.Dir, result.NetworkDir, "small.onnx"), 16)); len(same) > 0 {
		t.Errorf("training has not moved %v", same)
	}
	e, err := run.Embed(t.Context(), again)
	if err != nil {
		t.Fatal(err)
	}
	if e.Features.Cols != 6 {
		t.Errorf("%d features, want 6", e.Features.Cols)
	}

	saved := filepath.Join(again.Dir, result.NetworkDir, "small.onnx")
	b, err := os.ReadFile(saved)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(saved, append(b, 0x7a, 0), 0o644); err != nil { // an empty field 15
		t.Fatal(err)
	}
	if _, _, err := run.LoadModel(again); err == nil || !strings.Contains(err.Error(), "small.onnx has changed: its sha256 was") {
		t.Errorf("with another network: error %v", err)
	}
	if err := os.Remove(saved); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run.LoadModel(again); err == nil || !strings.Contains(err.Error(), "small.onnx is missing, the network small.onnx (") {
		t.Errorf("without the network: error %v", err)
	}
}

// values are those of a file's parameters, for images of a size.
func values(t *testing.T, file string, size int) map[string][]float32 {
	t.Helper()
	n, err := imported.OpenTrainable(file, "", "", "", size)
	if err != nil {
		t.Fatal(err)
	}
	v, err := n.Values()
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestNetworkOfAFileIsRefused(t *testing.T) {
	c, file, _ := ofFile(t, config.Authors)
	for _, bad := range []struct {
		change func(c *run.Config)
		word   string
		want   string
	}{
		{func(c *run.Config) { c.Network.Weights.Digest = strings.Repeat("0", 64) }, file, "the run began with small.onnx"},
		{func(c *run.Config) {}, file + "x", "no such file"},
		{func(c *run.Config) { c.Network.Output = "nothing" }, file, `it has no output "nothing"`},
		{func(c *run.Config) { c.Network.Tokens = "mean" }, file, `without tokens to take "mean" of`},
		{func(c *run.Config) { c.Data.ImageSize = 64 }, filepath.Join("..", "nets", "onnx", "imported", "testdata", "train", "vit.onnx"), "takes images of 32 pixels a side, not 64: add --image-size 32"},
		{func(c *run.Config) { c.Data.ImageSize = 32 }, filepath.Join("..", "nets", "onnx", "imported", "testdata", "fixed.onnx"), "of 1 images at a time"},
	} {
		t.Run(bad.want, func(t *testing.T) {
			c := c
			w := *c.Network.Weights
			if c.Network.Weights = &w; bad.word != file {
				w.Digest = ""
			}
			bad.change(&c)
			_, _, err := model.OpenWeights(t.Context(), &c, model.WeightArgs{Weights: bad.word}, false, nil)
			if err == nil || !strings.Contains(err.Error(), bad.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want %q", err, bad.want)
			}
		})
	}
}
