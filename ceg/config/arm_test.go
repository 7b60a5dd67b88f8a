package config_test

import (
	"testing"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/config"
)

// A config's arm says selection, training and schedule, whatever the method is called.
func TestArm(t *testing.T) {
	for _, c := range []struct {
		set         map[string]any
		name, short string
	}{
		{map[string]any{"method": "ceg", "preset": "paper", "schedule.timing": "published"}, "CEG (published schedule, preset paper)", "CEG/pub/paper"},
		{map[string]any{"method": "ceg", "preset": "ledg", "schedule.timing": "published"}, "CEG (published schedule, preset ledg settings)", "CEG/pub/ledg*"},
		{map[string]any{"method": "uniform", "preset": "authors", "schedule.timing": "published"}, "Random + CEG loss (published schedule)", "Rand+CEG/pub"},
		{map[string]any{"method": "uniform-ce", "preset": "authors", "schedule.timing": "once"}, "Random + cross-entropy, upfront", "Rand+CE/up"},
		{map[string]any{"method": "ceg-ce", "preset": "authors", "schedule.timing": "published"}, "CEG selection + cross-entropy (published schedule)", "CEG+CE/pub"},
		{map[string]any{"method": "fixmatch", "preset": "authors"}, "Random + FixMatch, upfront", "Rand+FM/up"},
		{map[string]any{"method": "fixmatch", "preset": "ledg", "exploration.initial": "maxherding"}, "MaxHerding + FixMatch, upfront (preset ledg settings)", "MaxH+FM/up/ledg*"},
		{map[string]any{"preset": "ledg"}, "Random + FixMatch, upfront (preset ledg)", "Rand+FM/up/ledg"},
		{map[string]any{"method": "uniform-ce", "preset": "authors", "schedule.timing": "published", "exploration.initial_share": 1.0}, "Random + cross-entropy, upfront", "Rand+CE/up"},
		// The strategy selects nothing where all labels are there before training.
		{map[string]any{"method": "uniform", "preset": "authors", "exploration.initial": "typiclust", "schedule.timing": "once"}, "TypiClust + CEG loss, upfront", "Typi+CEG/up"},
		{map[string]any{"method": "badge", "preset": "authors", "exploration.initial": "maxherding", "schedule.timing": "published"}, "MaxHerding then BADGE + CEG loss (published schedule)", "MaxH>BADGE+CEG/pub"},
		{map[string]any{"method": "ceg", "preset": "authors", "exploration.initial": "maxherding", "schedule.timing": "published"}, "MaxHerding then CEG selection + CEG loss (published schedule)", "MaxH>CEG+CEG/pub"},
		{map[string]any{"method": "badge-ce", "preset": "authors", "schedule.timing": "early"}, "BADGE + cross-entropy (early schedule)", "BADGE+CE/early"},
		{map[string]any{"method": "ceg", "preset": "authors", "schedule.query_after": []int{3, 5}}, "CEG (own schedule)", "CEG/own"},
	} {
		a := config.Must(config.Spec{Dataset: "glyphs", Target: "sketch", Epochs: 20, Set: c.set}).Arm()
		if a.Name() != c.name || a.Short() != c.short {
			t.Errorf("%v: %q, %q; want %q, %q", c.set, a.Name(), a.Short(), c.name, c.short)
		}
	}
}

// A variant's name has the words that its parts do not say already.
func TestArmOfVariant(t *testing.T) {
	for _, c := range []struct{ method, variant, timing, initial, want string }{
		{"uniform", "once b16", "once", "", "Random + CEG loss, upfront, b16"},
		{"uniform", "once, batches of 8", "once", "", "Random + CEG loss, upfront, batches of 8"},
		{"ceg", "w/o S_u", "published", "", "CEG (published schedule), w/o S_u"},
		{"ceg", "published", "published", "", "CEG (published schedule)"},
		{"uniform", "CEG loss random", "once", "", "Random + CEG loss, upfront"},
		{"ceg", "random domains", "published", "", "CEG (published schedule), random domains"},
		{"ceg", "after TypiClust", "published", "typiclust", "TypiClust then CEG selection + CEG loss (published schedule)"},
		{"fixmatch", "k-means ema", "once", "kmeans", "k-means + FixMatch, upfront, ema"},
		{"logistic", "none", "once", "", "Random + logistic regression, upfront"},
		{"uniform", "w/o MaxHerding", "once", "", "Random + CEG loss, upfront"},
		{"uniform", "w/o average", "once", "", "Random + CEG loss, upfront, w/o average"},
		{"logistic", "instead of CEG's training", "once", "", "Random + logistic regression, upfront"},
	} {
		s := config.Spec{Dataset: "features", Target: "sketch", Preset: config.Authors, Method: c.method, Variant: c.variant, Set: map[string]any{"schedule.timing": c.timing}}
		if c.initial != "" {
			s.Set["exploration.initial"] = c.initial
		}
		if got := config.Must(s).Arm().Name(); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.method, c.variant, got, c.want)
		}
	}
}

// No two arms share a name or a short name, over every pair of selections, every training,
// schedule and preset that has a name.
func TestArmsAreUnique(t *testing.T) {
	names, shorts := map[string]config.Arm{}, map[string]string{}
	add := func(a config.Arm) {
		if other, ok := names[a.Name()]; ok {
			t.Fatalf("%+v and %+v are both %q", a, other, a.Name())
		}
		names[a.Name()] = a
		if other, ok := shorts[a.Short()]; ok {
			t.Fatalf("%q and %q are both %q", a.Name(), other, a.Short())
		}
		shorts[a.Short()] = a.Name()
	}
	for _, preset := range []config.Preset{config.Paper, config.Ledg} {
		for _, o := range config.Objectives() {
			for _, initial := range active.Names() {
				add(config.Arm{Initial: initial, Objective: o.Name, Schedule: config.Once, Preset: preset})
				for _, strategy := range active.Names() {
					for _, schedule := range config.Schedules()[1:] {
						add(config.Arm{Initial: initial, Strategy: strategy, Objective: o.Name, Schedule: schedule, Preset: preset})
					}
				}
			}
		}
	}
}

// Every strategy and objective has a name of its own in the registry.
func TestEveryPartHasAName(t *testing.T) {
	for _, s := range active.Names() {
		if name, short := config.SelectionName(s); name == s || short == s {
			t.Errorf("no display name for strategy %q", s)
		}
	}
	for _, o := range config.Objectives() {
		if name, short := config.TrainingName(o.Name); name == o.Name || short == o.Name {
			t.Errorf("no display name for objective %q", o.Name)
		}
	}
}
