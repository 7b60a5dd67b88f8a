package nets

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
)

// Every network has a family, and every family a network.
func TestFamilies(t *testing.T) {
	used := map[string]bool{}
	for _, known := range config.Networks() {
		used[known.Family] = true
		if families[known.Family] == nil {
			t.Errorf("%s: nobody builds the family %q", known.Name, known.Family)
		}
	}
	for name := range families {
		if !used[name] {
			t.Errorf("family %s has no network", name)
		}
	}
}
