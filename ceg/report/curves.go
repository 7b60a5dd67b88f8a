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
	"github.com/ledg-go/ledg/datasets"
	"github.com/ledg-go/ledg/plots"
)

// method is the runs of one name, which a figure draws as one curve.
type method struct {
	name, title string
	runs        []*RecordedRun
}

// selection is the methods of a figure.
type selection struct {
	methods []method
	targets []string
	// title is what a reader calls the data set, note states what the names leave open.
	title, note string
	chance      []plots.Reference
	// inLabels places budgets at their mean number of labels.
	inLabels bool
}

// methodsBy puts runs of one name together, in the order in which they are given.
func methodsBy(runs []*RecordedRun, name func(*RecordedRun) string) (list []method) {
	for _, called := range distinct(runs, name) {
		list = append(list, method{called, called, only(runs, func(r *RecordedRun) bool { return name(r) == called })})
	}
	return list
}

type value func(*RecordedRun) (float64, error)

// accuracy reads a run's accuracy on the target by a rule, in percent.
func accuracy(rule string) value {
	return TableOptions{Rule: rule}.withDefaults().percent
}

// cells are a method's values by target and seed. Two runs of one target and seed are an error.
func (a method) cells(of value) (map[string][]result.Trial, error) {
	cells, paths := map[string][]result.Trial{}, map[string]string{}
	for _, run := range slices.SortedStableFunc(slices.Values(a.runs), func(a, b *RecordedRun) int { return cmp.Compare(a.Config.Seed, b.Config.Seed) }) {
		t := run.Config.Data.Target
		name := fmt.Sprintf("%s on %s, seed %d", a.name, t, run.Config.Seed)
		if paths[name] != "" {
			return nil, fmt.Errorf("%s and %s are both %s", paths[name], run.Path, name)
		}
		paths[name] = run.Path
		v, err := of(run)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run.Path, err)
		}
		cells[t] = append(cells[t], result.Trial{Key: fmt.Sprint(run.Config.Seed), Value: v})
	}
	return cells, nil
}

// perSeed are a method's values by seed, each averaged over the targets; seeds that lack a
// target are left out.
func (a method) perSeed(targets []string, of value) ([]float64, error) {
	a.runs = only(a.runs, func(r *RecordedRun) bool { return slices.Contains(targets, r.Config.Data.Target) })
	cells, err := a.cells(of)
	return values(result.OverTargets(cells, targets)), err
}

// drawn are the finished ones of planned runs, by label. Without labels they are all labels of the runs.
func (f *Folder) drawn(runs []result.PlannedRun, labels ...string) (list []method, err error) {
	if len(labels) == 0 {
		labels = labelsOf(runs)
	}
	for _, label := range labels {
		own := withLabel(runs, label)
		if len(own) == 0 {
			continue
		}
		a := method{name: label, title: f.ArmName(own[0])}
		for _, r := range own {
			out, err := f.Outcome(r)
			if err != nil {
				return nil, err
			}
			if out != nil {
				a.runs = append(a.runs, &RecordedRun{out, out.Result.Accuracy})
			}
		}
		list = append(list, a)
	}
	return list, nil
}

// selected are the runs that the options and a condition choose. With most there are as many methods, in the
// order of the options if these name any.
func (f *Folder) selected(o FigureOptions, most int, want func(result.PlannedRun) bool) (s selection, err error) {
	runs, err := f.choose(o, func(r result.PlannedRun) bool { return r.Sweep == nil && o.wants(r) && want(r) })
	if err != nil {
		return s, err
	}
	labels := labelsOf(runs)
	if most > 0 && len(o.Methods) > 0 {
		labels = o.Methods
	} else if most > 0 {
		labels = labels[:min(len(labels), most)]
	}
	s.methods, err = f.drawn(runs, labels...)
	s.targets, s.title, s.chance = targetsOf(runs), f.titleOf(o.Dataset), f.chance(runs)
	s.inLabels = len(distinct(runs, func(r result.PlannedRun) string { return strings.TrimLeft(r.Budget, "0123456789.") })) > 1
	return s, err
}

// allLabels is the budget of the reference in the budget figure.
const allLabels = "100%"

// maxCurves is the number of curves that a figure has where none are named: more are read
// in a table.
const maxCurves = 5

// budgets are curves over the budgets, in a panel for each list of targets that they are averaged over. Only
// seeds with all targets of the selection count, so averages are paired. A curve has several budgets unless named.
func (s selection) budgets(panels [][]string, of value, named bool) (d plots.BudgetData, err error) {
	d = plots.BudgetData{XLabel: "Labelled images", Ticks: map[float64]string{}, Note: s.note, Targets: make([]plots.Target, len(panels)), References: make([][]plots.Reference, len(panels))}
	places := map[string]float64{} // labels of each budget
	for _, a := range s.methods {
		a.runs = s.whole(a.runs)
		for i, panel := range panels {
			c, ticks := plots.Curve{Name: a.name, Title: a.title}, map[float64]string{}
			for _, b := range methodsBy(a.runs, (*RecordedRun).budget) {
				values, err := b.perSeed(panel, of)
				if err != nil {
					return d, err
				}
				switch {
				case len(values) == 0:
					continue
				case b.name == allLabels:
					d.References[i] = append(d.References[i], plots.Reference{Name: fmt.Sprintf("%s, %s of the labels (n = %d)", a.title, allLabels, len(values)), Y: stat.Mean(values, nil)})
					continue
				}
				if places[b.name] == 0 { // of the first method, as others may have a label less
					labels, err := b.perSeed(s.targets, func(r *RecordedRun) (float64, error) { return float64(r.Choices.LastEpoch.Labels), nil })
					if err != nil {
						return d, err
					}
					places[b.name] = stat.Mean(labels, nil)
				}
				x, tick := places[b.name], b.name
				if share, ok := strings.CutSuffix(b.name, "%"); ok {
					tick = fmt.Sprintf("%.0f\n(%s)", x, b.name)
					if !s.inLabels {
						if x, err = strconv.ParseFloat(share, 64); err != nil {
							return d, err
						}
					}
				}
				c.Points, ticks[x] = append(c.Points, plots.Point{X: x, Values: values}), tick
			}
			slices.SortFunc(c.Points, func(a, b plots.Point) int { return cmp.Compare(a.X, b.X) })
			if len(c.Points) > 1 || len(c.Points) == 1 && named {
				maps.Copy(d.Ticks, ticks)
				if g := &d.Targets[i]; len(g.Curves) < maxCurves || named {
					g.Name, g.Curves = panelName(panel), append(g.Curves, c)
				}
			}
		}
	}
	if slices.ContainsFunc(d.Targets, func(t plots.Target) bool { return len(t.Curves) == 0 }) || len(d.Targets) == 0 {
		return d, fmt.Errorf("no method with several budgets: %w", errNoSeed)
	}
	references := 0
	for i := range d.References {
		d.References[i] = append(d.References[i], s.chance...)
		references += len(d.References[i])
	}
	if references == 0 {
		d.References = nil
	}
	return d, nil
}

// whole are runs of seeds that have, with one budget, all targets of the selection.
func (s selection) whole(runs []*RecordedRun) []*RecordedRun {
	seeds := map[string]int{}
	seed := func(r *RecordedRun) string { return fmt.Sprint(r.budget(), " ", r.Config.Seed) }
	for _, r := range runs {
		seeds[seed(r)]++
	}
	return only(runs, func(r *RecordedRun) bool { return seeds[seed(r)] >= len(s.targets) })
}

// epochs are the accuracies of methods after each epoch that all of their runs have reached: on the
// targets, or on the sources' validation images if a run has a target without labels.
func (s selection) epochs(measure string) (d plots.EpochsData, err error) {
	d.Title, d.Note, d.References = onTargets(s.title, s.targets), s.note, s.chance
	if label := ValueLabel(measure); label != "" {
		d.ValueLabel, d.References = label, nil
	}
	m, err := findMeasure(measure)
	if err != nil {
		return d, err
	}
	split := result.TestSplit
	for _, a := range s.methods {
		if slices.ContainsFunc(a.runs, func(r *RecordedRun) bool { return !r.Choices.Measured() }) {
			d.Title, split = s.title+", source validation", result.ValSplit
		}
	}
	for _, a := range s.methods {
		c := plots.Curve{Name: a.name, Title: a.title}
		for e := 0; len(a.runs) > 0 && !slices.ContainsFunc(a.runs, func(r *RecordedRun) bool { return e >= len(r.Records) }); e++ {
			if slices.ContainsFunc(a.runs, func(r *RecordedRun) bool { return !r.Records[e].Evaluated() }) {
				continue
			}
			values, err := a.perSeed(s.targets, func(r *RecordedRun) (float64, error) {
				v, err := m.at(r, e, split)
				return 100 * v, err
			})
			if err != nil {
				return d, err
			}
			if len(values) > 0 {
				c.Points = append(c.Points, plots.Point{X: float64(e + 1), Values: values})
			}
		}
		for _, run := range a.runs {
			for _, rec := range run.Records {
				if rec.Queried > 0 {
					c.Queried = append(c.Queried, float64(rec.Epoch+1))
				}
			}
		}
		slices.Sort(c.Queried)
		if c.Queried = slices.Compact(c.Queried); len(c.Points) > 0 {
			d.Curves = append(d.Curves, c)
		}
	}
	if len(d.Curves) == 0 {
		return d, errNoSeed
	}
	return d, nil
}

// dots are the values of methods by seed, a group for each list of targets that they are averaged over.
func (s selection) dots(panels [][]string, of value) (d plots.DotsData, err error) {
	d.Title, d.Note, d.References = s.title, s.note, s.chance
	for _, targets := range panels {
		g := plots.Target{Name: panelName(targets)}
		for _, a := range s.methods {
			values, err := a.perSeed(targets, of)
			if err != nil {
				return d, err
			}
			if len(values) > 0 {
				g.Curves = append(g.Curves, plots.Curve{Name: a.name, Title: a.title, Points: []plots.Point{{Values: values}}})
			}
		}
		if len(g.Curves) > 0 {
			d.Groups = append(d.Groups, g)
		}
	}
	if len(d.Groups) == 0 {
		return d, errNoSeed
	}
	return d, nil
}

// apart are the targets one by one.
func apart(targets []string) (panels [][]string) {
	for _, t := range targets {
		panels = append(panels, []string{t})
	}
	return panels
}

// withAverage are the targets one by one and, if they are several, together.
func withAverage(targets []string) [][]string {
	if len(targets) < 2 {
		return apart(targets)
	}
	return append(apart(targets), targets)
}

// panelName is the name of a panel of some targets.
func panelName(targets []string) string {
	if len(targets) == 1 {
		return targets[0]
	}
	return average
}

// Budget returns accuracy over budget: a curve per method with several budgets (or per method in
// the options), a panel per target and, with two or more, their average. Only seeds with all
// targets are included, so the average is paired. Runs with 100% of the labels are references.
// If budgets are partly shares and partly numbers, each is placed at its mean number of labels.
func (f *Folder) Budget(o FigureOptions) (d plots.BudgetData, err error) {
	if o, err = o.withDefaults(f); err != nil {
		return d, err
	}
	s, err := f.selected(o, 0, func(result.PlannedRun) bool { return true })
	if err != nil {
		return d, err
	}
	if d, err = s.budgets(apart(s.targets), accuracy(o.Rule), len(o.Methods) > 0); err == nil && o.Baseline != "" {
		var zero []plots.Reference
		for i, a := range s.methods {
			s.methods[i].runs = only(s.whole(a.runs), func(r *RecordedRun) bool { return r.budget() != allLabels })
		}
		zero, err = s.minus(d.Targets, o.Baseline)
		d.ValueLabel, d.References = differenceLabel, slices.Repeat([][]plots.Reference{zero}, len(d.Targets))
	}
	return d, err
}

// paperCurves are the methods of the paper's accuracy curve.
var paperCurves = []string{"uniform-ce", "ceg-ce", "ceg"}

// Epochs returns accuracy over epochs, averaged over targets, one curve per method: by default
// random and CEG queries with cross-entropy, and CEG. Query rounds are marked. If a run has no
// target labels, the accuracies are on the sources' validation images.
func (f *Folder) Epochs(o FigureOptions) (d plots.EpochsData, err error) {
	if o, err = o.withDefaults(f); err != nil {
		return d, err
	}
	if len(o.Methods) == 0 {
		o.Methods = paperCurves
	}
	s, err := f.selected(o, maxCurves, o.atBudget)
	if err == nil && len(s.methods) == 0 {
		err = errors.New("none of the methods is in the folder's studies")
	}
	if err != nil {
		return d, err
	}
	return s.epochs("")
}

// Targets returns the accuracy of every seed, by target and method, for [plots.Dots]. It shows the
// runs with the options' budget, and without Methods the first maxCurves of them. Runs that sweep a
// setting are left out.
func (f *Folder) Targets(o FigureOptions) (d plots.DotsData, err error) {
	if o, err = o.withDefaults(f); err != nil {
		return d, err
	}
	s, err := f.selected(o, maxCurves, o.atBudget)
	if err != nil {
		return d, err
	}
	s.title += ", " + o.Budget
	if d, err = s.dots(apart(s.targets), TableOptions{Rule: o.Rule, SourceVal: o.SourceVal}.withDefaults().percent); o.SourceVal {
		d.ValueLabel = "Accuracy on source validation (%)"
	}
	if err == nil && o.Baseline != "" {
		d.ValueLabel = differenceLabel
		d.References, err = s.minus(d.Groups, o.Baseline)
	}
	return d, err
}

// atBudget reports whether the options' budget is the run's.
func (o FigureOptions) atBudget(r result.PlannedRun) bool { return r.Budget == o.Budget }

// chance is [Chance] of the first of the runs that has it.
func (f *Folder) chance(runs []result.PlannedRun) []plots.Reference {
	for _, r := range runs {
		if list := chances(r.Dataset, f.outcomes[r.Dir]); list != nil {
			return list
		}
	}
	return nil
}

// chances is [Chance] as a list; nil if it is not known.
func chances(dataset string, out *result.Run) []plots.Reference {
	if c := Chance(dataset, out); c != nil {
		return []plots.Reference{*c}
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

// errNoSeed is the error of an empty figure.
var errNoSeed = errors.New("no seed is finished on all target domains; see ledg study status")
