package objective

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
)

// What settings know of an objective is what its graph does, and every one is built.
func TestFactsOfObjectives(t *testing.T) {
	for _, m := range config.Objectives() {
		if _, ok := builders[m.Name]; ok == m.Reduced {
			t.Errorf("%s: built by name %v, reduced by settings %v", m.Name, ok, m.Reduced)
		}
		s := config.Spec{Dataset: "pacs", Target: "photo", Method: config.Method("uniform", m.Name), Set: map[string]any{}}
		if m.NeedsStyle {
			s.StyleWeights = "folder"
		}
		if m.Fits {
			s.Dataset = "features"
		}
		o := New(config.Must(s))
		for what, agree := range map[string]bool{
			"name": o.Name == m.Name, "pixels": o.Images == m.Pixels, "own heads": (o.Test != nil) == m.OwnHeads, "fits": (o.Fit != nil) == m.Fits, "names": o.Names == m.Names,
			"unlabelled": (len(o.Views(Unlabelled)) > 0 || o.Uses(Unlabelled) || o.Pool) == m.Unlabelled,
		} {
			if !agree {
				t.Errorf("%s: %s", m.Name, what)
			}
		}
	}
	for name := range builders {
		if _, ok := config.LookupObjective(name); !ok {
			t.Errorf("%s is built, and no setting knows it", name)
		}
	}
}
