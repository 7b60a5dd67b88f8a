package config_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
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
		target := map[string]string{"pacs": "sketch", "officehome": "art"}[c.dataset]
		pairs := []any{"protocol", config.OriginalProtocol, "network.weights", "w"}
		if c.method == "stylematch" {
			pairs = append(pairs, "generalization.style_weights", "folder")
		}
		run := configtest.New(t, c.dataset, target, c.method, config.Authors, pairs...)
		s, o := run.Schedule, run.Optimizer
		drop := 0.
		if o.DropAt > 0 {
			drop = math.Round(o.DropAt * float64(s.Epochs))
		}
		got := fmt.Sprintf("%d %d %s %v %v %v %v %v", s.Epochs, s.PerDomain, s.EpochOf, o.BackboneRate, o.ClassHeadRate, o.WeightDecay, o.Nesterov, drop)
		if got != c.want {
			t.Errorf("%s on %s: %s, want %s", c.method, c.dataset, got, c.want)
		}
	}
	for method, want := range map[string]string{"ceg": "preset authors", "meanteacher": "no settings are published", "rsc-domainbed": "no settings"} {
		_, err := config.Resolve(config.Spec{Dataset: "pacs", Target: "sketch", Method: method, Set: map[string]any{"protocol": "original"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", method, err, want)
		}
	}
}

// Batches of images in place of domains have mean losses at the rate of means, and joint statistics.
func TestBatchesOfImages(t *testing.T) {
	for _, preset := range config.Presets() {
		c := configtest.New(t, "features", "photo", "fixmatch", preset, "schedule.batches", config.EqualImages)
		d := configtest.New(t, "features", "photo", "fixmatch", preset, "generalization.reduction", config.MeanOverDomains)
		if g := c.Generalization; g.Reduction != config.MeanOverDomains || g.BatchNorm != config.Joint || c.Optimizer != d.Optimizer {
			t.Errorf("%s: %s, %s and %+v", preset, g.Reduction, g.BatchNorm, c.Optimizer)
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// From scratch, losses that are sums over domains have a third of the rate of means.
func TestRatesOfSums(t *testing.T) {
	for method, want := range map[string][2]float64{ // presets paper and authors
		"ceg": {0.02, 0.02 / 3}, "uniform-ce": {0.02, 0.02 / 3}, "fixmatch": {0.02, 0.02 / 3},
		"meanteacher": {0.02, 0.02}, "fact": {0.02, 0.02}, "stylematch-rgb": {0.02 / 3, 0.02 / 3},
	} {
		for i, preset := range []config.Preset{config.Paper, config.Authors} {
			c := configtest.New(t, "glyphs", "photo", method, preset)
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
