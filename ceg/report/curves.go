package report

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// allLabels is the budget of the reference in the budget figure.
const allLabels = "100%"

// drawn are the arms of labels with the finished ones of planned runs.
func (f *Folder) drawn(runs []result.PlannedRun, labels ...string) (list []method, err error) {
	known := map[string]*method{}
	for _, r := range runs {
		label := r.Label()
		if known[label] == nil {
			known[label] = &method{name: label, title: f.ArmName(r)}
		}
		out, err := f.Outcome(r)
		if err != nil {
			return nil, err
		}
		if out != nil {
			known[label].runs = append(known[label].runs, &RecordedRun{out, out.Result.Accuracy})
		}
	}
	for _, label := range labels {
		if a := known[label]; a != nil {
			list = append(list, *a)
		}
	}
	return list, nil
}

// Budget returns accuracy over budget: a curve per method with several budgets (or per method in
// the options), a panel per target and, with two or more, their average. Only seeds with all
// targets are included, so the average is paired. Runs with 100% of the labels are references.
// If budgets are partly shares and partly numbers, each is placed at its mean number of labels.
func (f *Folder) Budget(o FigureOptions) (plots.BudgetData, error) {
	d := plots.BudgetData{XLabel: "Labelled images", Ticks: map[float64]string{}}
	o, err := o.withDefaults(f)
	if err != nil {
		return d, err
	}
	runs, err := f.choose(o, func(r result.PlannedRun) bool { return r.Sweep == nil && o.wants(r) })
	if err != nil {
		return d, err
	}
	arms, err := f.drawn(runs, labelsOf(runs)...)
	if err != nil {
		return d, err
	}
	targets := targetsOf(runs)
	d.Targets, d.References = make([]plots.Target, len(targets)), make([][]plots.Reference, len(targets))
	inLabels := slices.ContainsFunc(runs, func(r result.PlannedRun) bool { return unitOf(r.Budget) != unitOf(runs[0].Budget) })
	place := func(b method) (float64, error) {
		if inLabels {
			return b.meanLabels(targets), nil
		}
		return strconv.ParseFloat(strings.TrimSuffix(b.name, "%"), 64)
	}
	for _, a := range arms {
		parts, all := a.whole(len(targets)), a
		all.runs = only(parts.runs, func(r *RecordedRun) bool { return r.budget() == allLabels })
		parts.runs = only(parts.runs, func(r *RecordedRun) bool { return r.budget() != allLabels })
		for i, target := range targets {
			values, err := all.perSeed([]string{target}, accuracy(o.Rule))
			if err != nil {
				return d, err
			}
			if len(values) > 0 {
				d.References[i] = append(d.References[i], plots.Reference{Name: fmt.Sprintf("%s, %s of the labels (n = %d)", a.title, allLabels, len(values)), Y: stat.Mean(values, nil)})
			}
			ticks := map[float64]string{}
			c, err := parts.overBudgets([]string{target}, accuracy(o.Rule), place, ticks)
			if err != nil {
				return d, err
			}
			if len(c.Points) > 1 || len(o.Methods) > 0 {
				maps.Copy(d.Ticks, ticks)
			}
			if len(d.Targets[i].Curves) == maxCurves && len(o.Methods) == 0 {
				break
			}
			if len(c.Points) > 1 || len(c.Points) == 1 && len(o.Methods) > 0 {
				d.Targets[i].Name = target
				d.Targets[i].Curves = append(d.Targets[i].Curves, c)
			}
		}
	}
	if slices.ContainsFunc(d.Targets, func(t plots.Target) bool { return len(t.Curves) == 0 }) || len(d.Targets) == 0 {
		return d, fmt.Errorf("no method with several budgets: %w", errNoSeed)
	}
	if c := f.chance(runs); c != nil {
		for i := range d.References {
			d.References[i] = append(d.References[i], *c)
		}
	}
	if !slices.ContainsFunc(d.References, func(r []plots.Reference) bool { return len(r) > 0 }) {
		d.References = nil
	}
	return d, nil
}

// whole is a method with the runs whose seeds have, at their budget, all of a number of targets.
func (a method) whole(targets int) method {
	seed := func(r *RecordedRun) string { return fmt.Sprint(r.budget(), " ", r.Config.Seed) }
	done := map[string]int{}
	for _, r := range a.runs {
		done[seed(r)]++
	}
	a.runs = only(a.runs, func(r *RecordedRun) bool { return done[seed(r)] >= targets })
	return a
}

// overBudgets is a method's curve over its budgets, averaged over targets, with each where place puts it.
func (a method) overBudgets(targets []string, of value, place func(method) (float64, error), ticks map[float64]string) (plots.Curve, error) {
	c := plots.Curve{Name: a.name, Title: a.title}
	for _, b := range methodsBy(a.runs, (*RecordedRun).budget) {
		values, err := b.perSeed(targets, of)
		if err != nil {
			return c, err
		}
		if len(values) == 0 {
			continue
		}
		x, err := place(b)
		if err != nil {
			return c, err
		}
		c.Points, ticks[x] = append(c.Points, plots.Point{X: x, Values: values}), b.name
	}
	slices.SortFunc(c.Points, func(a, b plots.Point) int { return cmp.Compare(a.X, b.X) })
	return c, nil
}

// unitOf returns "%" for a share.
func unitOf(budget string) string { return strings.TrimLeft(budget, "0123456789.") }

// paperCurves are the methods of the paper's accuracy curve.
var paperCurves = []string{"uniform-ce", "ceg-ce", "ceg"}

// maxCurves is the number of curves that a figure has where none are named: more are read
// in a table.
const maxCurves = 5

// Epochs returns accuracy over epochs, averaged over targets, one curve per method: by default
// random and CEG queries with cross-entropy, and CEG. Query rounds are marked. If a run has no
// target labels, the accuracies are on the sources' validation images.
func (f *Folder) Epochs(o FigureOptions) (plots.EpochsData, error) {
	var d plots.EpochsData
	o, err := o.withDefaults(f)
	if err != nil {
		return d, err
	}
	if len(o.Methods) == 0 {
		o.Methods = paperCurves
	}
	runs, err := f.choose(o, o.atBudget)
	if err != nil {
		return d, err
	}
	if len(runs) == 0 {
		return d, errNoMethod
	}
	arms, err := f.drawn(runs, o.Methods...)
	if err != nil {
		return d, err
	}
	targets, source := targetsOf(runs), false
	if d.Curves, source, err = epochCurves(arms, targets); err != nil {
		return d, err
	}
	if d.Title = onTargets(f.titleOf(o.Dataset), targets); source {
		d.Title = f.titleOf(o.Dataset) + ", source validation"
	}
	if len(d.Curves) == 0 {
		return d, errNoSeed
	}
	if c := f.chance(runs); c != nil {
		d.References = append(d.References, *c)
	}
	return d, nil
}

// Targets returns the accuracy of every seed, by target and method, for [plots.Dots]. It shows the
// runs with the options' budget, and without Methods the first maxCurves of them. Runs that sweep a
// setting are left out.
func (f *Folder) Targets(o FigureOptions) (d plots.DotsData, err error) {
	if o, err = o.withDefaults(f); err != nil {
		return d, err
	}
	runs, err := f.choose(o, o.atBudget)
	if err != nil {
		return d, err
	}
	labels := labelsOf(runs)
	if labels = labels[:min(len(labels), maxCurves)]; len(o.Methods) > 0 {
		labels = o.Methods
	}
	var arms []method
	for _, label := range labels {
		list, err := f.drawn(withLabel(runs, label), label)
		if err != nil {
			return d, err
		}
		arms = append(arms, list...)
	}
	of := accuracy(o.Rule)
	if o.SourceVal {
		d.ValueLabel, of = "Accuracy on source validation (%)", func(run *RecordedRun) (float64, error) {
			c, err := choiceBy(run.Run, o.Rule)
			if err != nil {
				return 0, err
			}
			v, err := TableOptions{Measure: measures[0].name, SourceVal: true}.measure(run.Run, c)
			return 100 * v, err
		}
	}
	d.Title = f.titleOf(o.Dataset) + ", " + o.Budget
	if d.Groups, err = dots(arms, apart(targetsOf(runs)), of); err != nil {
		return d, err
	}
	if c := f.chance(runs); c != nil {
		d.References = append(d.References, *c)
	}
	if len(d.Groups) == 0 {
		return d, errNoSeed
	}
	return d, nil
}

// atBudget reports whether the options show a run that sweeps no setting at their budget.
func (o FigureOptions) atBudget(r result.PlannedRun) bool {
	return r.Sweep == nil && r.Budget == o.Budget && o.wants(r)
}

// chance is [Chance] of the first of the runs that has it.
func (f *Folder) chance(runs []result.PlannedRun) *plots.Reference {
	for _, r := range runs {
		if c := Chance(r.Dataset, f.outcomes[r.Dir]); c != nil {
			return c
		}
	}
	return nil
}

var errNoRun = errors.New("no finished run of it in the folder's studies")
