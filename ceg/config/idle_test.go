package config_test

import (
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
)

// What is said of choosing labels, where nothing is chosen, is not passed over in silence.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		spec config.Spec
		want string
	}{
		{config.Spec{Strategy: "badge"}, "no effect of exploration.strategy badge: all labels are queried before training (schedule.timing once, schedule.epochs "},
		{config.Spec{Method: "badge+mixmatch"}, "exploration.strategy badge: "},
		{config.Spec{Set: map[string]any{"exploration.gamma1": 2., "exploration.gamma2": 0.}}, "exploration.gamma1 2 and exploration.gamma2 0: "},
		{config.Spec{Strategy: "badge", Timing: config.Early, Set: map[string]any{"schedule.epochs": 1}}, "(schedule.timing early, schedule.epochs 1)"},
		{config.Spec{Strategy: "badge", Timing: config.Early}, ""},
		{config.Spec{Strategy: "badge", Timing: config.Published}, ""},
		{config.Spec{Strategy: "uniform"}, ""},
		{config.Spec{Method: "ceg"}, ""},
		{config.Spec{}, ""},
	} {
		if c.spec.Target = "photo"; c.spec.Dataset == "" {
			c.spec.Dataset = "glyphs"
		}
		got := c.spec.Idle(config.Must(c.spec))
		if !strings.Contains(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q, want %q", c.spec, got, c.want)
		}
	}
}
