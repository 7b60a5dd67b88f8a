package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg"
)

// Glyphs and folders have all labels before training unless something is said of
// the timing, or a preset is asked for by its name.
func TestTrainTiming(t *testing.T) {
	for _, tc := range []struct {
		dataset, method, timing string
		initial                 float64
		changed                 []string
		want                    ceg.Timing
		share                   float64
		queries                 int
	}{
		{dataset: "glyphs", method: "ceg", want: ceg.Once, share: 1},
		{dataset: "folder", method: "uniform", want: ceg.Once, share: 1},
		{dataset: "glyphs", method: "ceg", timing: "published", changed: []string{"timing"}, want: ceg.Published, share: 0.5, queries: 5},
		{dataset: "glyphs", method: "ceg", timing: "early", changed: []string{"timing"}, want: ceg.Early, share: 0.25, queries: 5},
		{dataset: "glyphs", method: "ceg", changed: []string{"preset"}, want: ceg.Published, share: 0.5, queries: 5},
		{dataset: "glyphs", method: "ceg", initial: 0.3, changed: []string{"initial-share"}, want: ceg.Published, share: 0.3, queries: 5},
		{dataset: "pacs", method: "ceg", want: ceg.Published, share: 0.5, queries: 6},
		{dataset: "pacs", method: ceg.FixMatch, want: ceg.Once, share: 1},
		{dataset: "pacs", method: "ceg", timing: "once", changed: []string{"timing"}, want: ceg.Once, share: 1},
	} {
		f := trainFlags{data: dataFlags{dataset: tc.dataset}, target: "x", method: tc.method, preset: "authors", seed: 1,
			budget: "5%", timing: tc.timing, initialShare: tc.initial}
		c, err := f.config(func(flag string) bool { return slices.Contains(tc.changed, flag) })
		if err != nil {
			t.Fatal(err)
		}
		if c.Schedule.Timing != tc.want || c.Exploration.InitialShare != tc.share || len(c.Schedule.QueryAfter) != tc.queries {
			t.Errorf("%+v: timing %s, %v at the start, queries after %v", tc, c.Schedule.Timing, c.Exploration.InitialShare, c.Schedule.QueryAfter)
		}
	}
	f := trainFlags{data: dataFlags{dataset: "glyphs"}, target: "x", method: "ceg", preset: "authors", timing: "late", budget: "5%"}
	if _, err := f.config(func(flag string) bool { return flag == "timing" }); err == nil || !strings.Contains(err.Error(), `--timing "late", want one of published, early, once`) {
		t.Errorf("--timing late: error %v", err)
	}
}
