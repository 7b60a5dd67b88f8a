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
			want.Preset, want.Generalization.DomainLoss = config.Ledg, method == "ceg"
			if data.name == "glyphs" {
				want.Schedule.Epochs *= 2
			} else {
				want.Schedule.PerDomain, want.Schedule.Epochs = 8, 20
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
	for _, data := range []string{"glyphs", "pacs", "features"} {
		if c := configtest.New(t, data, "photo", "", config.Ledg); c.Method != config.FixMatch {
			t.Errorf("%s: the method is %s, want %s", data, c.Method, config.FixMatch)
		}
	}
	// Of images with pretrained weights the first labels are chosen, too, in usual epochs.
	usual := configtest.New(t, "pacs", "photo", "", config.Authors).Schedule.Epochs
	for weights, want := range map[string]string{"none": fmt.Sprint(" ", 2*usual), "imagenet": fmt.Sprint("maxherding ", usual)} {
		c := configtest.New(t, "pacs", "photo", "", config.Ledg, "network.weights", weights)
		if got := fmt.Sprint(c.Exploration.Initial, " ", c.Schedule.Epochs); got != want {
			t.Errorf("with weights %s: initial labels and epochs are %q, want %q", weights, got, want)
		}
	}
}
