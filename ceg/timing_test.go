package ceg

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTimingsAskWhenTheySay(t *testing.T) {
	for _, tc := range []struct {
		dataset string
		preset  Preset
		epochs  int // 0 for the preset's
		timing  Timing
		initial float64
		want    string
	}{
		{"glyphs", Authors, 0, Published, 0.5, "[10 12 14 16 18]"},
		{"glyphs", Authors, 0, Early, 0.25, "[0 1 2 3 4]"},
		{"glyphs", Paper, 0, Early, 0.25, "[0 1 2 3 4]"},
		{"pacs", Authors, 0, Early, 0.25, "[2 5 8 11 14]"},
		{"glyphs", Authors, 16, Early, 0.25, "[0 1 2 3]"},
		{"glyphs", Authors, 2, Early, 0.25, "[0]"},
		{"glyphs", Authors, 1, Early, 1, "[]"},
		{"pacs", Authors, 0, Once, 1, "[]"},
	} {
		c, err := NewConfig(tc.dataset, "x", "ceg", tc.preset)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.SetTiming(tc.timing); err != nil {
			t.Fatal(err)
		}
		if tc.epochs > 0 {
			c.SetEpochs(tc.epochs)
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprint(c.Schedule.QueryAfter); got != tc.want || c.Exploration.InitialShare != tc.initial {
			t.Errorf("%s %s %s in %d epochs: %v at the start, queries after %s; want %v, %s",
				tc.dataset, tc.preset, tc.timing, c.Schedule.Epochs, c.Exploration.InitialShare, got, tc.initial, tc.want)
		}
	}
	var c Config
	if err := c.SetTiming("never"); err == nil || !strings.Contains(err.Error(), "never") {
		t.Errorf("timing never: error %v", err)
	}
}

// Shares are cut exactly: 0.29 of 100 is 29, although 0.29*100 is less in floating
// point, and what is rounded off early is asked for later.
func TestSharesOfTheBudget(t *testing.T) {
	for _, tc := range []struct {
		initial float64
		shares  []float64
		budget  int
		first   int
		want    []int
	}{
		{0.29, []float64{0.29, 0.42}, 100, 29, []int{29, 42}},
		{0.25, []float64{0.25, 0.25, 0.25}, 81, 20, []int{20, 20, 21}},
		{0.1, []float64{0.2, 0.7}, 7, 0, []int{2, 5}},
		{0.5, []float64{0.166667, 0.166667, 0.166666}, 12, 6, []int{2, 2, 2}},
		{0.7, []float64{0.1, 0.2}, 10, 7, []int{1, 2}}, // 0.7+0.1 is below 0.8
	} {
		c, err := NewConfig("glyphs", "photo", "ceg", Paper)
		if err != nil {
			t.Fatal(err)
		}
		c.Exploration.InitialShare, c.Schedule.QueryShares = tc.initial, tc.shares
		c.Schedule.QueryAfter = []int{0, 3, 4}[:len(tc.shares)]
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		first, counts, err := c.divide(tc.budget)
		if err != nil || first != tc.first || !slices.Equal(counts, tc.want) {
			t.Errorf("%v and %v of %d: %d and %v, %v; want %d and %v", tc.initial, tc.shares, tc.budget, first, counts, err, tc.first, tc.want)
		}
	}
}

func TestValidateNamesWrongShares(t *testing.T) {
	for _, tc := range []struct {
		shares []float64
		want   string
	}{
		{[]float64{0.25}, "1 query shares for 2 query epochs"},
		{[]float64{0.5, 0}, "query share 0"},
		{[]float64{0.3, 0.3}, "sum to 1.1"},
	} {
		c, err := NewConfig("glyphs", "photo", "ceg", Paper)
		if err != nil {
			t.Fatal(err)
		}
		c.Schedule.QueryAfter, c.Schedule.QueryShares = []int{1, 2}, tc.shares
		if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: error %v, want one with %q", tc.shares, err, tc.want)
		}
	}
}

func TestFixMatchIsConsistencyWithAllLabelsAtOnce(t *testing.T) {
	for _, preset := range Presets() {
		c, err := NewConfig("glyphs", "photo", FixMatch, preset)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		g := c.Generalization
		if g.Delta != 0 || g.DomainLoss || g.Consistency == "nothing" || c.Exploration.InitialShare != 1 ||
			len(c.Schedule.QueryAfter) != 0 || c.Exploration.Strategy != "uniform" {
			t.Errorf("%s: %+v", preset, c)
		}
		c.SetEpochs(7)
		if len(c.Schedule.QueryAfter) != 0 {
			t.Errorf("%s, 7 epochs: queries after %v", preset, c.Schedule.QueryAfter)
		}
	}
}
