package ceg_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
	"github.com/ledg-go/ledg/ceg/nets"
	"github.com/ledg-go/ledg/ceg/objective"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/weights"
	"github.com/ledg-go/ledg/ceg/weights/pretrained"
)

// The original settings of each objective are those of its published code, and only
// they.
func TestProtocols(t *testing.T) {
	for _, c := range []struct {
		dataset, method string
		want            string // epochs, per domain, epoch of, rates, decay, Nesterov, drop
	}{
		{"pacs", "uniform-ce", "50 21 labelled 0.001 0.001 0.0005 false 0"},
		{"pacs", "jigen", "30 43 labelled 0.001 0.001 0.0005 true 24"},
		{"pacs", "rsc", "20 21 labelled 0.01 0.01 0.0005 false 15"},
		{"pacs", "crossgrad", "50 21 labelled 0.001 0.001 0.0005 false 0"},
		{"pacs", "ddaig", "25 5 labelled 0.0005 0.0005 0.0005 false 20"},
		{"pacs", "dael", "40 10 labelled 0.002 0.002 0.0005 false 0"},
		{"pacs", "fact", "50 5 labelled 0.001 0.001 0.0005 true 39"},
		{"officehome", "fact", "30 5 labelled 0.001 0.001 0.0005 true 23"},
		{"pacs", "fixmatch", "40 16 unlabelled 0.003 0.01 0.0005 false 0"},
		{"officehome", "stylematch", "20 16 unlabelled 0.003 0.01 0.0005 false 0"},
	} {
		config, err := ceg.NewConfig(c.dataset, map[string]string{"pacs": "sketch", "officehome": "art"}[c.dataset], c.method, ceg.Authors)
		if err != nil {
			t.Fatal(err)
		}
		paper := config
		if err := config.SetProtocol(ceg.OriginalProtocol); err != nil {
			t.Fatal(err)
		}
		config.UseWeights(&pretrained.Source{Name: "w"})
		s, o := config.Schedule, config.Optimizer
		drop := 0.
		if o.DropAt > 0 {
			drop = math.Round(o.DropAt * float64(s.Epochs))
		}
		got := fmt.Sprintf("%d %d %s %v %v %v %v %v", s.Epochs, s.PerDomain, s.EpochOf, o.BackboneRate, o.ClassHeadRate, o.WeightDecay, o.Nesterov, drop)
		if got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.method, c.dataset, got, c.want)
		}
		if err := config.SetProtocol(ceg.PaperProtocol); err != nil {
			t.Fatal(err)
		}
		config.UseWeights(nil)
		if config.Schedule.Epochs != paper.Schedule.Epochs || config.Optimizer.Nesterov || config.Schedule.PerDomain != 16 {
			t.Errorf("%s does not come back to the paper's protocol: %+v", c.method, config)
		}
	}
	for method, want := range map[string]string{"ceg": "preset authors", "meanteacher": "no settings are published", "rsc-domainbed": "no settings"} {
		config, err := ceg.NewConfig("pacs", "sketch", method, ceg.Paper)
		if err != nil {
			t.Fatal(err)
		}
		if err := config.SetProtocol(ceg.OriginalProtocol); err == nil || !strings.Contains(err.Error(), want) || config.Protocol != ceg.PaperProtocol {
			t.Errorf("%s: %v, want %s", method, err, want)
		}
	}
}

// From scratch, losses that are sums over domains have a third of the rate of means.
func TestRatesOfSums(t *testing.T) {
	for method, want := range map[string][2]float64{ // presets paper and authors
		"ceg": {0.02, 0.02 / 3}, "uniform-ce": {0.02, 0.02 / 3}, "fixmatch": {0.02, 0.02 / 3},
		"meanteacher": {0.02, 0.02}, "fact": {0.02, 0.02}, "stylematch-rgb": {0.02 / 3, 0.02 / 3},
	} {
		for i, preset := range []ceg.Preset{ceg.Paper, ceg.Authors} {
			c, err := ceg.NewConfig("glyphs", "photo", method, preset)
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Optimizer.ClassHeadRate; got != want[i] {
				t.Errorf("%s, %s: rate %v, want %v", method, preset, got, want[i])
			}
			share := 1.
			if method == "stylematch-rgb" {
				share = 0.1
			}
			if got := c.Optimizer.BackboneRate; math.Abs(got-share*want[i]) > 1e-12 {
				t.Errorf("%s, %s: the backbone's rate is %v", method, preset, got)
			}
		}
	}
}

// Methods that train with labels alone read no view of the unlabelled images, and the
// others do.
func TestLabelsAlone(t *testing.T) {
	alone := map[string]bool{"erm": true, "jigen": true, "crossgrad": true, "ddaig": true, "dael": true, "rsc": true, "rsc-domainbed": true, "fact": true, "logistic": true, "gda": true}
	for _, m := range objective.Methods() {
		c, err := ceg.NewConfig("glyphs", "photo", ceg.Method("uniform", m.Name), ceg.Authors)
		if err != nil {
			t.Fatal(err)
		}
		o := c.Objective()
		if o.Name != m.Name {
			t.Errorf("%s is called %s", m.Name, o.Name)
		}
		if got := len(o.Views(objective.Unlabelled)) == 0 && !o.Uses(objective.Unlabelled); got != alone[m.Name] {
			t.Errorf("%s with labels alone: %v", m.Name, got)
		}
	}
	// All labels leave them nothing to miss.
	c := tiny(t, "dael", ceg.Paper)
	c.Exploration.Budget = "100%"
	c.SetEpochs(1)
	if _, r := run(t, c); r.Labels != r.Pool {
		t.Errorf("%d labels of %d", r.Labels, r.Pool)
	}
}

// An epoch over the labelled images has as many steps as they fill batches.
func TestEpochOfLabelled(t *testing.T) {
	c := tiny(t, "rsc", ceg.Paper)
	if err := c.SetProtocol(ceg.OriginalProtocol); err != nil {
		t.Fatal(err)
	}
	c.SetEpochs(3)
	c.Exploration.Budget = "200"
	dir, _ := run(t, c)
	records, _, err := result.ReadRecords(os.DirFS(dir), result.RecordsFile, result.WholeFile)
	if err != nil {
		t.Fatal(err)
	}
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
		params, _, err := nets.Params(net.Backbone, 16)
		if err != nil {
			t.Fatal(err)
		}
		sd := weights.StateDict{weights.FromFloat32("31.weight", []int{1}, []float32{1})} // what nobody asks for
		for _, p := range params {
			sd = append(sd, weights.FromFloat32(p.Name, p.Shape, p.Init(7)))
		}
		if _, err := weights.Save(filepath.Join(dir, []string{"vgg_normalised", "decoder"}[i]+".safetensors"), sd, nil); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// StyleMatch runs with AdaIN's weights and not without, and its run goes on from its
// checkpoint without the files.
func TestStyleMatchNeedsWeights(t *testing.T) {
	c := tiny(t, "stylematch", ceg.Paper)
	var setting *ceg.SettingError
	if err := c.Validate(); !errors.As(err, &setting) || !strings.Contains(err.Error(), "vgg_normalised.pth and decoder.pth") {
		t.Errorf("without weights: %v", err)
	}
	dir := styleFiles(t)
	w, err := ceg.OpenStyle(dir)
	if err != nil {
		t.Fatal(err)
	}
	c.UseStyle(w)
	c.Schedule.EpochOf = ceg.OverLabelled
	c.SetEpochs(2)
	c.Schedule.PerDomain = 4
	out, r := run(t, c)
	if r.Method != "stylematch" {
		t.Errorf("the method is %s", r.Method)
	}
	c.Generalization.StyleWeights.File = nil // what a config.json says
	if _, err := ceg.Run(t.Context(), c, ceg.Options{Dir: out, Resume: true, Backend: "go"}); err != nil {
		t.Error(err)
	}
	if _, err := ceg.Run(t.Context(), c, ceg.Options{Dir: filepath.Join(t.TempDir(), "new"), Backend: "go"}); err == nil || !strings.Contains(err.Error(), "not loaded") {
		t.Errorf("without the files: %v", err)
	}
	other := tiny(t, "fixmatch", ceg.Paper)
	other.Generalization.StyleWeights = w
	if err := other.Validate(); err == nil || !strings.Contains(err.Error(), "no use") {
		t.Errorf("fixmatch with style weights: %v", err)
	}

	if err := os.Remove(filepath.Join(dir, "decoder.safetensors")); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:                               "no decoder.pth in",
		filepath.Join(dir, "nothing"):     "no such folder or file",
		filepath.Join("testdata", "x.pt"): "no such folder or file",
	} {
		if _, err := ceg.OpenStyle(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	narrow := weights.StateDict{weights.FromFloat32("1.weight", []int{2}, []float32{1, 2}), weights.FromFloat32("1.bias", []int{2}, []float32{1, 2})}
	if _, err := weights.Save(filepath.Join(dir, "decoder.safetensors"), narrow, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := ceg.OpenStyle(dir); err == nil || !strings.Contains(err.Error(), `tensor "1.weight" is [2], want [256 512 3 3]`) {
		t.Errorf("a decoder of other shapes: %v", err)
	}
}
