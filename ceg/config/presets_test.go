package config_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
)

// The preset ledg is authors with what its documentation lists, and nothing else.
func TestPresetLedg(t *testing.T) {
	for _, data := range []struct{ name, target string }{{"glyphs", "photo"}, {"features", "photo"}} {
		for _, method := range []string{"uniform", "ceg", "uniform-ce", "fixmatch", "uniform+dael"} {
			c := configtest.New(t, data.name, data.target, method, config.Ledg)
			if err := c.Validate(); err != nil {
				t.Errorf("%s, %s: %v", data.name, method, err)
			}
			want := configtest.New(t, data.name, data.target, method, config.Authors, "schedule.timing", config.Once)
			want.Preset, want.Generalization.DomainLoss, want.Schedule.PerDomain = config.Ledg, method == "ceg", 8
			if data.name == "features" {
				want.Exploration.Initial, want.Data.Normalise = "maxherding", config.RootFeatures
				if method != "uniform+dael" {
					want.Optimizer.BackboneRate, want.Optimizer.ClassHeadRate, want.Optimizer.DomainHeadRate = 0.002, 0.002, 0.002
				}
			}
			if !reflect.DeepEqual(c, want) {
				t.Errorf("%s, %s: %+v, want %+v", data.name, method, c, want)
			}
			// Another timing asks as the preset authors does.
			if err := configtest.New(t, data.name, data.target, method, config.Ledg, "schedule.timing", config.Published).Validate(); err != nil {
				t.Errorf("%s, %s, published: %v", data.name, method, err)
			}
		}
	}
	c := configtest.New(t, "features", "photo", "logistic", config.Ledg)
	if err := c.Validate(); err != nil {
		t.Errorf("logistic: %v", err)
	}
	// Who names no method gets what was chosen.
	for data, want := range map[string]string{"glyphs": "uniform", "features": "fixmatch"} {
		if c := configtest.New(t, data, "photo", "", config.Ledg); c.Method != want {
			t.Errorf("%s: the method is %s, want %s", data, c.Method, want)
		}
	}
	// Of images with pretrained weights the first labels are chosen, too, in usual batches.
	for weights, want := range map[string]string{"none": " 8", "imagenet": "maxherding 16"} {
		c := configtest.New(t, "pacs", "photo", "uniform", config.Ledg, "network.weights", weights)
		if got := fmt.Sprint(c.Exploration.Initial, " ", c.Schedule.PerDomain); got != want {
			t.Errorf("with weights %s: initial labels and images a domain are %q, want %q", weights, got, want)
		}
	}
}
