package config_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/config/configtest"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestTimingsQueryOnSchedule(t *testing.T) {
	for _, tc := range []struct {
		dataset string
		preset  config.Preset
		epochs  int // 0 for the preset's
		timing  config.Timing
		initial float64
		want    string
	}{
		{"glyphs", config.Authors, 0, config.Published, 0.5, "[10 12 14 16 18]"},
		{"glyphs", config.Authors, 0, config.Early, 0.25, "[0 1 2 3 4]"},
		{"glyphs", config.Paper, 0, config.Early, 0.25, "[0 1 2 3 4]"},
		{"pacs", config.Authors, 0, config.Early, 0.25, "[2 5 8 11 14]"},
		{"glyphs", config.Authors, 16, config.Early, 0.25, "[0 1 2 3]"},
		{"glyphs", config.Authors, 2, config.Early, 0.25, "[0]"},
		{"glyphs", config.Authors, 1, config.Early, 1, "[]"},
		{"pacs", config.Authors, 0, config.Once, 1, "[]"},
	} {
		c := configtest.New(t, tc.dataset, "x", "ceg", tc.preset, "schedule.timing", tc.timing)
		if tc.epochs > 0 {
			c = configtest.New(t, tc.dataset, "x", "ceg", tc.preset, "schedule.epochs", tc.epochs, "schedule.timing", tc.timing)
		}
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		if got := fmt.Sprint(c.Schedule.QueryAfter); got != tc.want || c.Exploration.InitialShare != tc.initial {
			t.Errorf("%s %s %s in %d epochs: %v at the start, queries after %s; want %v, %s",
				tc.dataset, tc.preset, tc.timing, c.Schedule.Epochs, c.Exploration.InitialShare, got, tc.initial, tc.want)
		}
	}
	fatal.Says(t, fatal.Err(config.Resolve(config.Spec{Target: "photo", Timing: "never"})), `"never", want one of published, early, once`)
}

// Shares are cut exactly: 0.29 of 100 is 29, although 0.29*100 is less in floating point, and
// labels that rounding removes early are queried later.
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
		c := configtest.New(t, "glyphs", "photo", "ceg", config.Paper)
		c.Exploration.InitialShare, c.Schedule.QueryShares = tc.initial, tc.shares
		c.Schedule.QueryAfter = []int{0, 3, 4}[:len(tc.shares)]
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		first, counts, err := c.DivideBudget(tc.budget)
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
		{[]float64{0.25}, "there is a share for each query epoch"},
		{[]float64{0.5, 0}, "schedule.query_shares: 0, want above 0 and below 1"},
		{[]float64{0.3, 0.3}, "sum to 1.1"},
	} {
		c := configtest.New(t, "glyphs", "photo", "ceg", config.Paper)
		c.Schedule.QueryAfter, c.Schedule.QueryShares = []int{1, 2}, tc.shares
		fatal.Says(t, c.Validate(), tc.want)
	}
}

func TestFixMatchIsConsistencyWithAllLabelsAtOnce(t *testing.T) {
	for _, preset := range config.Presets() {
		c := configtest.New(t, "glyphs", "photo", config.FixMatch, preset, "schedule.epochs", 7)
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
		g := c.Generalization
		if g.Delta != 0 || g.DomainLoss || g.Consistency == "nothing" || c.Exploration.InitialShare != 1 ||
			len(c.Schedule.QueryAfter) != 0 || c.Exploration.Strategy != "uniform" {
			t.Errorf("%s: %+v", preset, c)
		}
		if len(c.Schedule.QueryAfter) != 0 {
			t.Errorf("%s, 7 epochs: queries after %v", preset, c.Schedule.QueryAfter)
		}
	}
}

// With other epochs the timing is that of a config that had them from the beginning; query
// epochs of one's own stay.
func TestWithEpochs(t *testing.T) {
	for _, timing := range []config.Timing{config.Published, config.Early, config.Once} {
		for _, n := range []int{1, 2, 7, 40} {
			spec := config.Spec{Dataset: "glyphs", Target: "sketch", Timing: timing, Epochs: 20}
			got := config.Must(spec).WithEpochs(n)
			spec.Epochs = n
			if want := config.Must(spec); !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %d epochs: queries after %v with %v before, want %v with %v", timing, n,
					got.Schedule.QueryAfter, got.Exploration.InitialShare, want.Schedule.QueryAfter, want.Exploration.InitialShare)
			}
		}
	}
	own := config.Must(config.Spec{Dataset: "glyphs", Target: "sketch", Epochs: 20, Set: map[string]any{"schedule.query_after": []int{3, 5}}}).WithEpochs(30)
	if !slices.Equal(own.Schedule.QueryAfter, []int{3, 5}) || own.Schedule.Epochs != 30 {
		t.Errorf("%+v", own.Schedule)
	}
}

func TestCalled(t *testing.T) {
	for want, set := range map[string]map[string]any{
		"maxherding":          {"exploration.strategy": "uniform", "exploration.initial": "maxherding", "schedule.timing": "once"},
		"maxherding-ce":       {"method": "uniform-ce", "exploration.initial": "maxherding", "schedule.timing": "once"},
		"badge":               {"exploration.strategy": "badge", "exploration.initial": "maxherding", "schedule.timing": "published"},
		"uniform":             {"exploration.strategy": "uniform", "schedule.timing": "once"},
		"fixmatch":            {"method": "fixmatch"},
		"maxherding+fixmatch": {"method": "fixmatch", "exploration.initial": "maxherding"},
	} {
		if got := config.Must(config.Spec{Dataset: "glyphs", Target: "sketch", Set: set}).Called(); got != want {
			t.Errorf("called %s, want %s", got, want)
		}
	}
}
