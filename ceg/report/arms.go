package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// ablated are the methods that ablations of the paper train, by their names.
var ablated = map[string]string{"w/ Uniform": "uniform", "w/o L_ac w/o L_eg": "ceg-ce"}

// arm returns the arm of a planned run: the plan's or a finished run's, else what the run's
// method and variant stand for; ok is false if they stand for nothing.
func (f *Folder) arm(r result.PlannedRun) (a config.Arm, ok bool) {
	if method, beside := strings.CutSuffix(r.Method, ", preset "+r.Preset); beside { // as figures call it
		r.Method, r.Variant, _ = strings.Cut(method, " ")
	}
	key := r.ArmKey()
	if a, ok = f.arms[key]; ok {
		return a, true
	}
	a, ok = armByName(r)
	for _, other := range f.Runs {
		if other.ArmKey() != key {
			continue
		}
		if out, err := f.finished(other); err == nil && out != nil {
			a, ok = out.Config.Arm(), true
			break
		}
	}
	if ok {
		f.arms[key] = a
	}
	return a, ok
}

// armByName returns the arm that a run's method and variant stand for by their words.
func armByName(r result.PlannedRun) (a config.Arm, ok bool) {
	spec := config.Spec{Dataset: r.Dataset, Preset: config.Preset(r.Preset), Target: cmp.Or(r.Target, config.NoTarget), Method: r.Method, Variant: r.Variant}
	if m, ok := ablated[r.Variant]; ok {
		spec.Method, spec.Variant = m, ""
	}
	word, _, _ := strings.Cut(strings.TrimSuffix(r.Variant, ","), " ")
	switch {
	case r.Variant == AllAtOnce:
		spec.Timing = config.Once
	case slices.Contains(config.Schedules(), config.Timing(word)) && word != string(config.OwnSchedule):
		spec.Timing = config.Timing(word)
	}
	_, objective, _ := config.SplitMethod(spec.Method)
	if o, _ := config.LookupObjective(objective); o.NeedsStyle {
		spec.StyleWeights = config.NoWeights
	}
	c, err := config.Resolve(spec)
	return c.Arm(), err == nil
}

// armName returns the display name of a run's arm with the swept values, and the short one.
func (f *Folder) armName(r result.PlannedRun) (name, short string) {
	a, ok := f.arm(r)
	if !ok {
		return r.Label(), r.Label()
	}
	text := cmp.Or(f.swept[r.Variant], r.SweptText())
	return a.Name() + text, a.Short() + text
}

// ArmName returns the display name of a run's arm.
func (f *Folder) ArmName(r result.PlannedRun) string {
	name, _ := f.armName(r)
	return name
}

// means reports whether a person means the run by a name: by its label, with the preset or
// without, or by a name of its arm.
func (f *Folder) means(name string, r result.PlannedRun) bool {
	long, short := f.armName(r)
	return slices.ContainsFunc([]string{r.Label(), r.Label() + ", preset " + r.Preset, long, short}, func(own string) bool { return strings.EqualFold(own, name) })
}

// nameRows gives the rows of a table their display names. Rows that are the same arm by
// different settings also have their labels.
func nameRows(rows []*row) {
	for _, of := range []func(*row) *string{func(r *row) *string { return &r.name }, func(r *row) *string { return &r.short }} {
		count := map[string]int{}
		for _, r := range rows {
			count[*of(r)]++
		}
		for _, r := range rows {
			if s := of(r); count[*s] > 1 {
				*s += fmt.Sprintf(" (%s)", r.label)
			}
		}
	}
}
