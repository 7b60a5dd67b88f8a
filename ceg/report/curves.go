package report

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ledg-go/ledg/ceg/active"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/plots"
)

// allLabels is the budget of the reference in the budget figure.
const allLabels = "100%"

// Budget returns accuracy over budget: a curve per method with several budgets (or per method in
// the options), a panel per target and, with two or more, their average. Only seeds with all
// targets are included, so the average is paired. Runs with 100% of the labels are references.
// If budgets are partly shares and partly numbers, each is placed at its mean number of labels.
func (f *Folder) Budget(o FigureOptions) (plots.BudgetData, error) {
	var d plots.BudgetData
	o, err := o.withDefaults(f)
	if err != nil {
		return d, err
	}
	runs, err := f.choose(o, func(r result.PlannedRun) bool { return r.Sweep == nil && o.wants(r) })
	if err != nil {
		return d, err
	}
	targets := targetsOf(runs)
	whole, err := f.wholeSeeds(runs, targets)
	if err != nil {
		return d, err
	}
	d.Targets = make([]plots.Target, len(targets))
	references := make([][]plots.Reference, len(targets))
	inLabels := mixesUnits(runs)
	for _, label := range labelsOf(runs) {
		own := withLabel(runs, label)
		title := f.ArmName(own[0])
		budgets, err := sortedBudgets(own)
		if err != nil {
			return d, err
		}
		for i, b := range budgets {
			if inLabels {
				if budgets[i].value, err = f.meanLabels(own, b.text, whole); err != nil {
					return d, err
				}
			}
		}
		slices.SortFunc(budgets, func(a, b budget) int { return cmp.Compare(a.value, b.value) })
		isWhole := func(b budget) bool { return b.text == allLabels }
		if parts := slices.DeleteFunc(slices.Clone(budgets), isWhole); len(parts) < 2 && len(o.Methods) == 0 {
			budgets = slices.DeleteFunc(budgets, func(b budget) bool { return !isWhole(b) })
		}
		for i, target := range targets {
			c := plots.Curve{Name: label, Title: title}
			for _, b := range budgets {
				at := slices.DeleteFunc(slices.Clone(own), func(r result.PlannedRun) bool { return r.Budget != b.text || r.Target != target || !whole[r.Dir] })
				values, err := f.perSeed(at, []string{target}, accuracy(o.Rule))
				if err != nil {
					return d, err
				}
				switch {
				case len(values) == 0:
				case b.text == allLabels:
					references[i] = append(references[i], plots.Reference{Name: fmt.Sprintf("%s, %s of the labels (n = %d)", title, allLabels, len(values)), Y: stat.Mean(values, nil)})
				default:
					c.Points = append(c.Points, plots.Point{X: b.value, Values: values})
					if d.Ticks == nil {
						d.Ticks = map[float64]string{}
					}
					d.Ticks[b.value] = b.text
				}
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
	d.XLabel = "Labelled images"
	if c := f.chance(runs); c != nil {
		for i := range references {
			references[i] = append(references[i], *c)
		}
	}
	if slices.ContainsFunc(references, func(r []plots.Reference) bool { return len(r) > 0 }) {
		d.References = references
	}
	return d, nil
}

// mixesUnits reports whether budgets are shares here and numbers of labels there, so that
// their axis has to be of labels.
func mixesUnits(runs []result.PlannedRun) bool {
	return slices.ContainsFunc(runs, func(r result.PlannedRun) bool { return unitOf(r.Budget) != unitOf(runs[0].Budget) })
}

// meanLabels is the mean number of labels of the finished ones of the runs with a
// budget; 0 if there is none, which then has no point.
func (f *Folder) meanLabels(runs []result.PlannedRun, budget string, whole map[string]bool) (float64, error) {
	sum, n := 0.0, 0.0
	for _, r := range runs {
		if r.Budget != budget || !whole[r.Dir] {
			continue
		}
		out, err := f.Outcome(r)
		if err != nil {
			return 0, err
		}
		sum, n = sum+float64(out.Result.Labels), n+1
	}
	return sum / max(n, 1), nil
}

// budget is a budget as text and as a number of labels or percents.
type budget struct {
	text  string
	value float64
}

// unitOf returns "%" for a share.
func unitOf(budget string) string { return strings.TrimLeft(budget, "0123456789.") }

// sortedBudgets lists the budgets of runs, the smallest first.
func sortedBudgets(runs []result.PlannedRun) ([]budget, error) {
	var list []budget
	for _, r := range runs {
		if slices.ContainsFunc(list, func(b budget) bool { return b.text == r.Budget }) {
			continue
		}
		if _, err := active.ParseBudget(r.Budget); err != nil {
			return nil, err
		}
		v, err := strconv.ParseFloat(strings.TrimSuffix(r.Budget, "%"), 64)
		if err != nil {
			return nil, err
		}
		list = append(list, budget{r.Budget, v})
	}
	slices.SortFunc(list, func(a, b budget) int { return cmp.Compare(a.value, b.value) })
	return list, nil
}

// wholeSeeds returns the directories of the finished runs whose label, budget and
// seed are finished on all targets.
func (f *Folder) wholeSeeds(runs []result.PlannedRun, targets []string) (map[string]bool, error) {
	finished := map[string]int{}
	key := func(r result.PlannedRun) string { return fmt.Sprint(r.Label(), "\x00", r.Budget, "\x00", r.Seed) }
	for _, r := range runs {
		out, err := f.Outcome(r)
		if err != nil {
			return nil, err
		}
		if out != nil {
			finished[key(r)]++
		}
	}
	whole := map[string]bool{}
	for _, r := range runs {
		whole[r.Dir] = finished[key(r)] == len(targets)
	}
	return whole, nil
}

// paperCurves are the methods of the paper's accuracy curve.
var paperCurves = []string{"uniform-ce", "ceg-ce", "ceg"}

// maxCurves is the number of curves that a figure has where none are named: more are read
// in a table.
const maxCurves = 5

// Epochs returns accuracy over epochs, averaged over targets, one curve per method: by default
// random and CEG queries with cross-entropy, and CEG. Query rounds are marked. Runs without
// target labels show the accuracy on the sources' validation images; mixing them with others is
// an error.
func (f *Folder) Epochs(o FigureOptions) (plots.EpochsData, error) {
	var d plots.EpochsData
	o, err := o.withDefaults(f)
	if err != nil {
		return d, err
	}
	if len(o.Methods) == 0 {
		o.Methods = paperCurves
	}
	runs, err := f.choose(o, func(r result.PlannedRun) bool { return r.Sweep == nil && r.Budget == o.Budget && o.wants(r) })
	if err != nil {
		return d, err
	}
	if len(runs) == 0 {
		return d, errNoMethod
	}
	targets := targetsOf(runs)
	d.Title = onTargets(f.titleOf(o.Dataset), targets)
	tally := result.Record.Target
	switch measured, unmeasured, err := f.measured(runs); {
	case err != nil:
		return d, err
	case measured != "" && unmeasured != "":
		return d, fmt.Errorf("%s has a target with labels and %s has none: they do not share an axis", measured, unmeasured)
	case unmeasured != "":
		tally, d.Title = result.Record.SourceVal, f.titleOf(o.Dataset)+", source validation"
	}
	for _, label := range o.Methods {
		own := withLabel(runs, label)
		if len(own) == 0 {
			continue
		}
		c := plots.Curve{Name: label, Title: f.ArmName(own[0])}
		epochs := 0
		for _, r := range own {
			out, err := f.Outcome(r)
			if err != nil {
				return d, err
			}
			if out == nil {
				continue
			}
			if epochs == 0 {
				epochs = len(out.Records)
			} else if epochs != len(out.Records) {
				return d, fmt.Errorf("%s has runs of %d and of %d epochs", label, epochs, len(out.Records))
			}
			c.Queried = addQueried(c.Queried, out.Records)
		}
		for e := range epochs {
			if !f.evaluated(own, e) {
				continue
			}
			values, err := f.perSeed(own, targets, func(out *result.Run) (float64, error) { return 100 * tally(out.Records[e]).Share(), nil })
			if err != nil {
				return d, err
			}
			if len(values) > 0 {
				c.Points = append(c.Points, plots.Point{X: float64(e + 1), Values: values})
			}
		}
		if len(c.Points) > 0 {
			d.Curves = append(d.Curves, c)
		}
	}
	if len(d.Curves) == 0 {
		return d, errNoSeed
	}
	if c := f.chance(runs); c != nil {
		d.References = append(d.References, *c)
	}
	return d, nil
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

// Chance returns the accuracy in percent of guessing the class at random, for a run, which may be nil,
// on a data set; nil if the number of classes is not known.
func Chance(dataset string, out *result.Run) *plots.Reference {
	info, _ := datasets.Lookup(dataset)
	n := len(info.Classes)
	if out != nil && out.Result != nil && out.Result.Classes != nil {
		n = len(out.Result.Classes)
	}
	if n == 0 {
		return nil
	}
	return &plots.Reference{Name: fmt.Sprintf("chance, %d classes", n), Y: 100 / float64(n)}
}

// addQueried appends the numbers of epochs after which a run queried labels.
func addQueried(list []float64, records []result.Record) []float64 {
	for _, rec := range records {
		if x := float64(rec.Epoch + 1); rec.Queried > 0 && !slices.Contains(list, x) {
			list = append(list, x)
		}
	}
	slices.Sort(list)
	return list
}

// measured names the first finished run with a measured target, and the first without.
func (f *Folder) measured(runs []result.PlannedRun) (with, without string, err error) {
	for _, r := range runs {
		switch out, err := f.Outcome(r); {
		case err != nil:
			return "", "", err
		case out == nil:
		case out.Result.Accuracy.Measured():
			with = cmp.Or(with, r.Dir)
		default:
			without = cmp.Or(without, r.Dir)
		}
	}
	return with, without, nil
}

// evaluated reports whether every finished one of the runs, whose outcomes have been
// read, was evaluated after an epoch.
func (f *Folder) evaluated(runs []result.PlannedRun, epoch int) bool {
	for _, r := range runs {
		if out, err := f.Outcome(r); err == nil && out != nil && !out.Records[epoch].Evaluated() {
			return false
		}
	}
	return true
}

var errNoRun = errors.New("no finished run of it in the folder's studies")
