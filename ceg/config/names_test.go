package config

import (
	"reflect"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestShortNames(t *testing.T) {
	for name, want := range map[string]string{
		"epochs": "schedule.epochs", "target": "data.target", "budget": "exploration.budget", "timing": "schedule.timing", "seed": "seed",
		"method": "method", "momentum": "optimizer.momentum", "per_domain": "schedule.per_domain", "image_size": "data.image_size", "image-size": "data.image_size",
		"net": "network.name", "schedule.epochs": "schedule.epochs",
	} {
		if s, err := Lookup(name); err != nil || s.Path != want {
			t.Errorf("%s is %q, %v, want %s", name, s.Path, err, want)
		}
	}
	for name, want := range map[string]string{
		"epoch": "did you mean schedule.epochs?", "schedule.epcohs": "did you mean schedule.epochs?", "training.epochs": "did you mean schedule.epochs?",
		"budgt": "did you mean exploration.budget?", "gama1": "did you mean exploration.gamma1?", "tua": "did you mean generalization.tau?",
		"momentun": "did you mean optimizer.momentum?", "colour": "there are data.*, ", "x": "there are data.*, ", "": "there are data.*, ",
	} {
		fatal.Says(t, fatal.Err(Lookup(name)), "no such setting; "+want)
	}
	// No short name is that of two settings, so that each is found.
	for _, s := range Settings() {
		for _, name := range s.short() {
			if found, err := Lookup(name); err != nil || found.Path != s.Path {
				t.Errorf("%s of %s is %s, %v", name, s.Path, found.Path, err)
			}
		}
	}
}

func TestShortNamesResolve(t *testing.T) {
	want := Must(Spec{Dataset: "glyphs", Target: "photo", Strategy: "bvsb", Epochs: 7, Budget: "3%", Timing: Early, Set: map[string]any{
		"optimizer.backbone_rate": 0.01, "optimizer.class_head_rate": 0.01, "optimizer.domain_head_rate": 0.01}})
	got := Must(Spec{Set: map[string]any{"dataset": "glyphs", "target": "photo", "method": "margin", "epochs": 7, "budget": "3%", "timing": "early", "lr": 0.01}})
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	fatal.Says(t, fatal.Err(Resolve(Spec{Target: "photo", Set: map[string]any{"epochs": 3, "schedule.epochs": 4}})), "a setting is said once")
	for name, want := range map[string]string{"margin": "bvsb", "margin-ce": "bvsb-ce", "margin+fixmatch": "bvsb+fixmatch"} {
		if a, b := Must(Spec{Target: "photo", Method: name, Timing: Early}), Must(Spec{Target: "photo", Method: want, Timing: Early}); !reflect.DeepEqual(a, b) {
			t.Errorf("%s is %+v, want %s: %+v", name, a, want, b)
		}
	}
}

// The last Put counts, over fields, presets and methods.
func TestPut(t *testing.T) {
	put := func(s Spec, list ...any) Config {
		t.Helper()
		for i := 0; i < len(list); i += 2 {
			fatal.If(t, s.Put(list[i].(string), list[i+1]))
		}
		return fatal.Get(Resolve(s))(t)
	}
	for name, c := range map[string]struct{ got, want Config }{
		"field":     {put(Spec{Target: "photo", Epochs: 9}, "target", "sketch", "schedule.epochs", 5, "epochs", 6), Must(Spec{Target: "sketch", Epochs: 6})},
		"set":       {put(Spec{Target: "photo", Set: map[string]any{"T": 0.9}}, "generalization.threshold_end", 0.8), Must(Spec{Target: "photo", Set: map[string]any{"generalization.threshold_start": 0.45, "generalization.threshold_end": 0.8}})},
		"preset":    {put(Spec{Target: "photo", Preset: Ledg}, "timing", "published", "epochs", 12), Must(Spec{Target: "photo", Preset: Ledg, Timing: Published, Epochs: 12})},
		"no preset": {put(Spec{Target: "photo", Preset: Ledg}, "preset", "paper"), Must(Spec{Target: "photo", Preset: Paper})},
		"strategy":  {put(Spec{Target: "photo", Method: "ceg-ce", Timing: Early}, "strategy", "badge"), Must(Spec{Target: "photo", Method: "badge-ce", Timing: Early})},
		"objective": {put(Spec{Target: "photo", Method: "badge", Timing: Early}, "objective", "fixmatch"), Must(Spec{Target: "photo", Method: "badge+fixmatch", Timing: Early})},
		"method":    {put(Spec{Target: "photo", Strategy: "badge", Timing: Early}, "objective", "fixmatch", "method", "entropy-ce"), Must(Spec{Target: "photo", Method: "entropy-ce", Timing: Early})},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("%s: %+v\nwant %+v", name, c.got, c.want)
		}
	}
	s := Spec{Target: "photo"}
	fatal.Says(t, s.Put("epoch", 3), "did you mean schedule.epochs?")
}
