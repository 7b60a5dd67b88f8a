package run

import (
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
)

func TestGreedyNote(t *testing.T) {
	note := greedyNote("coreset", 5000, 1_000_000, 512, 2)
	for _, want := range []string{"coreset", "1000000 candidates", "5000 labels", "10.2 TB", "9m0s or more on 2 processors"} {
		if !strings.Contains(note, want) {
			t.Errorf("note %q lacks %q", note, want)
		}
	}
	for _, note := range []string{greedyNote("coreset", 100, 10_000, 512, 2), greedyNote("ceg", 5000, 1_000_000, 512, 2)} {
		if note != "" {
			t.Errorf("said of a short query: %q", note)
		}
	}
	for name := range greedy {
		if !slices.Contains(active.Names(), name) {
			t.Errorf("there is no strategy %s", name)
		}
	}
}
