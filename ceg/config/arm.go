package config

import (
	"cmp"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/active"
)

// Arm is what one row of a comparison stands for: label selection, training and schedule.
// Its names are for people; configs and records keep their method's name.
type Arm struct {
	// Initial selects the labels before training, Strategy the labels of the query rounds. Both
	// are names of strategies; Strategy is empty without query rounds.
	Initial   string `json:"initial"`
	Strategy  string `json:"strategy,omitempty"`
	Objective string `json:"objective"`
	Schedule  Timing `json:"schedule"`
	Preset    Preset `json:"preset"`
	// Changed says that the selection, the training or the schedule is not the preset's own.
	// Only the names of arms with the presets ledg and pooled tell it.
	Changed bool `json:"changed,omitempty"`
	// Variant is what a study changes besides, in its words, such as "w/o S_u".
	Variant string `json:"variant,omitempty"`
}

// OwnSchedule is the schedule of an arm whose query epochs differ from its timing's.
const OwnSchedule Timing = "own"

// partName is the display name and the abbreviation of a schedule.
type partName struct{ name, short string }

// scheduleNames are the names of the timings; the name of Once stands after a comma.
var scheduleNames = map[Timing]partName{
	Once:        {"upfront", "up"},
	Published:   {"published schedule", "pub"},
	Early:       {"early schedule", "early"},
	OwnSchedule: {"own schedule", "own"},
}

// Arm returns the config's arm. Without query rounds the query strategy selects nothing, so
// that the arm has the initial selection alone. So it is with an initial share of 1, which
// leaves no label for the query rounds.
func (c Config) Arm() Arm {
	a := c.parts()
	preset := Config{Preset: c.Preset, Data: c.Data, Network: c.Network}
	d := &draft{Config: preset}
	for _, path := range []string{"exploration.strategy", "generalization.objective", "method", "schedule.timing", "exploration.initial"} {
		row := &table[slices.IndexFunc(table, func(s Setting) bool { return s.Path == path })]
		if err := row.set(&d.Config, row.value(d)); err != nil {
			return a // no default of a setting is invalid
		}
	}
	own := Arm{Initial: cmp.Or(d.Exploration.Initial, random), Objective: d.Generalization.Objective, Schedule: d.Schedule.Timing}
	if own.Schedule != Once {
		own.Strategy = d.Exploration.Strategy
	}
	a.Changed = a.Initial != own.Initial || a.Strategy != own.Strategy || a.Objective != own.Objective || a.Schedule != own.Schedule
	if end := strings.IndexAny(c.Method, " ,"); end > 0 {
		a.Variant = a.variantWords(c.Method[end:])
	}
	return a
}

// random is the name of the random selection.
var random = active.Uniform{}.Name()

// parts returns selection, training, schedule and preset.
func (c Config) parts() Arm {
	a := Arm{Initial: cmp.Or(c.Exploration.Initial, random), Objective: c.Generalization.Objective, Schedule: c.Schedule.Timing, Preset: c.Preset}
	if len(c.Schedule.QueryAfter) == 0 || c.Exploration.InitialShare == 1 {
		a.Schedule = Once
		return a
	}
	a.Strategy = c.Exploration.Strategy
	d := &draft{Config: c}
	if own, _ := d.queryAfter().([]int); !slices.Equal(own, c.Schedule.QueryAfter) || len(c.Schedule.QueryShares) > 0 || c.Exploration.InitialShare != d.initialShare() {
		a.Schedule = OwnSchedule
	}
	return a
}

// variantWords returns the words of a variant that the arm's parts do not contain yet: without the
// schedule, the selection, the training, a selection that is "w/o" something, and words after
// "instead of". In "random domains" random is no selection.
func (a Arm) variantWords(variant string) string {
	if a.Schedule == Once {
		variant = strings.Replace(variant, " all labels at once", "", 1)
	}
	var phrases []string
	for phrase := range strings.SplitSeq(variant, ",") {
		words := strings.Fields(phrase)
		var left []string
		for i, w := range words {
			if w == "instead" {
				break
			}
			link := w == "w/o" || w == "w/" || w == "after"
			if a.names(w) && !(i+1 < len(words) && words[i+1] == "domains") || link && i+1 < len(words) && (a.names(words[i+1]) || w == "w/o" && isSelection(words[i+1])) ||
				i > 0 && words[i-1] == "w/o" && isSelection(w) {
				continue
			}
			left = append(left, w)
		}
		text := strings.Join(left, " ")
		if training, _ := TrainingName(a.Objective); text != "" && !strings.EqualFold(text, training) {
			phrases = append(phrases, text)
		}
	}
	return strings.Join(phrases, ", ")
}

// names reports whether a word of a variant is the arm's schedule or one of its selections.
func (a Arm) names(word string) bool {
	if Timing(word) == a.Schedule {
		return true
	}
	for _, s := range []string{a.Initial, a.Strategy} {
		if name, _ := SelectionName(s); s != "" && (strings.EqualFold(word, s) || strings.EqualFold(word, name)) {
			return true
		}
	}
	return a.Initial == random && word == "none"
}

// isSelection reports whether a word names a query strategy.
func isSelection(word string) bool {
	return slices.ContainsFunc(active.Registry(), func(e active.Entry) bool { return strings.EqualFold(word, e.Name) || strings.EqualFold(word, e.Title) })
}

// selection returns the names of the strategies that select the labels. A random draw before the
// query rounds is every strategy's usual beginning and is left out.
func (a Arm) selection() (name, short string) {
	initial, initialShort := SelectionName(a.Initial)
	if a.Strategy == "" {
		return initial, initialShort
	}
	name, short = SelectionName(a.Strategy)
	switch a.Initial {
	case random:
		return name, short
	case a.Strategy:
		return name + " from the first label", short + ">" + short
	}
	return initial + " then " + name, initialShort + ">" + short
}

// published reports whether the arm is the paper's method but for the schedule: its
// selection, from a random start, and its loss.
func (a Arm) published() bool {
	return a.Strategy == CEG && a.Objective == CEG && a.Initial == random
}

// Name returns the arm's display name, such as "Random + cross-entropy, upfront". The preset
// authors, which is the default, is not in it.
func (a Arm) Name() string {
	name, _ := a.selection()
	training, _ := TrainingName(a.Objective)
	if name += " + " + training; a.published() {
		name = "CEG"
	}
	schedule, _ := ScheduleName(a.Schedule)
	var brackets []string
	if a.Schedule == Once {
		name += ", " + schedule
	} else {
		brackets = append(brackets, schedule)
	}
	switch {
	case a.Preset.Selected() && a.Changed:
		brackets = append(brackets, "preset "+string(a.Preset)+" settings")
	case a.Preset.Selected() || a.Preset == Paper:
		brackets = append(brackets, "preset "+string(a.Preset))
	}
	if len(brackets) > 0 {
		name += " (" + strings.Join(brackets, ", ") + ")"
	}
	if a.Variant != "" {
		name += ", " + a.Variant
	}
	return name
}

// Short returns the arm's name for narrow tables, such as "Rand+CE/up". Arms with different
// names have different short names.
func (a Arm) Short() string {
	_, short := a.selection()
	_, training := TrainingName(a.Objective)
	if short += "+" + training; a.published() {
		short = "CEG"
	}
	_, schedule := ScheduleName(a.Schedule)
	short += "/" + schedule
	switch {
	case a.Preset.Selected() && a.Changed:
		short += "/" + string(a.Preset) + "*"
	case a.Preset.Selected() || a.Preset == Paper:
		short += "/" + string(a.Preset)
	}
	if a.Variant != "" {
		short += ", " + a.Variant
	}
	return short
}

// Schedules returns the schedules that an arm can have.
func Schedules() []Timing { return []Timing{Once, Published, Early, OwnSchedule} }

// ScheduleName returns a schedule's display name and its abbreviation.
func ScheduleName(t Timing) (name, short string) {
	p := scheduleNames[t]
	return cmp.Or(p.name, string(t)), cmp.Or(p.short, string(t))
}

// SelectionName returns a query strategy's display name and its abbreviation.
func SelectionName(strategy string) (name, short string) {
	e, _ := active.Lookup(strategy)
	return cmp.Or(e.Title, strategy), cmp.Or(e.Short, strategy)
}

// TrainingName returns a training objective's display name and its abbreviation.
func TrainingName(objective string) (name, short string) {
	o, _ := LookupObjective(objective)
	return cmp.Or(o.Title, objective), cmp.Or(o.Short, objective)
}
