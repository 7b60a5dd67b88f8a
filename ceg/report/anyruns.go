package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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

// methodsBy puts runs of one name together, in the order in which they are given.
func methodsBy(runs []*RecordedRun, name func(*RecordedRun) string) (list []method) {
	for _, run := range runs {
		called := name(run)
		i := slices.IndexFunc(list, func(a method) bool { return a.name == called })
		if i < 0 {
			i, list = len(list), append(list, method{name: called, title: called})
		}
		list[i].runs = append(list[i].runs, run)
	}
	return list
}

// value is a number of a run in percent.
type value func(*RecordedRun) (float64, error)

// accuracy reads a run's accuracy on the target by a rule.
func accuracy(rule string) value {
	return func(run *RecordedRun) (float64, error) {
		c, err := choiceBy(run.Run, rule)
		if err != nil {
			return 0, err
		}
		return 100 * c.TargetAccuracy, nil
	}
}

// perSeed are a method's values by seed, each averaged over the targets; seeds that lack a
// target are left out.
func (a method) perSeed(targets []string, of value) ([]float64, error) {
	trials, err := a.trials(targets, of)
	return (&sample{trials}).values(), err
}

// trials is [method.perSeed] with the seeds. Two runs of one target and seed are an error.
func (a method) trials(targets []string, of value) ([]result.Trial, error) {
	byTarget := map[string][]result.Trial{}
	paths := map[string]string{}
	for _, run := range slices.SortedStableFunc(slices.Values(a.runs), func(a, b *RecordedRun) int { return cmp.Compare(a.Config.Seed, b.Config.Seed) }) {
		t := run.Config.Data.Target
		if !slices.Contains(targets, t) {
			continue
		}
		name := fmt.Sprintf("%s on %s, seed %d", a.name, t, run.Config.Seed)
		if paths[name] != "" {
			return nil, fmt.Errorf("%s and %s are both %s", paths[name], run.Path, name)
		}
		paths[name] = run.Path
		v, err := of(run)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", run.Path, err)
		}
		byTarget[t] = append(byTarget[t], result.Trial{Key: fmt.Sprint(run.Config.Seed), Value: v})
	}
	return result.OverTargets(byTarget, targets), nil
}

// meanLabels is the mean number of labels of an arm's runs; 0 without runs.
func (a method) meanLabels(targets []string) float64 {
	labels, _ := a.perSeed(targets, func(r *RecordedRun) (float64, error) { return float64(r.Choices.LastEpoch.Labels), nil })
	if len(labels) == 0 {
		return 0
	}
	return stat.Mean(labels, nil)
}

// epochCurves are the accuracies of arms after each epoch that all of their runs have reached: on the
// targets, or on the sources' validation images if a run has a target without labels.
func epochCurves(arms []method, targets []string) (curves []plots.Curve, source bool, err error) {
	tally := result.Record.Target
	for _, a := range arms {
		if slices.ContainsFunc(a.runs, func(r *RecordedRun) bool { return !r.Choices.Measured() }) {
			tally, source = result.Record.SourceVal, true
		}
	}
	for _, a := range arms {
		c := plots.Curve{Name: a.name, Title: a.title}
		for e := 0; len(a.runs) > 0 && !slices.ContainsFunc(a.runs, func(r *RecordedRun) bool { return e >= len(r.Records) }); e++ {
			if slices.ContainsFunc(a.runs, func(r *RecordedRun) bool { return !r.Records[e].Evaluated() }) {
				continue
			}
			values, err := a.perSeed(targets, func(r *RecordedRun) (float64, error) { return 100 * tally(r.Records[e]).Share(), nil })
			if err != nil {
				return nil, source, err
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
			curves = append(curves, c)
		}
	}
	return curves, source, nil
}

// dots are the values of arms by seed, a group for each list of targets that they are averaged over.
func dots(arms []method, panels [][]string, of value) (groups []plots.Target, err error) {
	for _, targets := range panels {
		g := plots.Target{Name: panelName(targets)}
		for _, a := range arms {
			values, err := a.perSeed(targets, of)
			if err != nil {
				return nil, err
			}
			if len(values) > 0 {
				g.Curves = append(g.Curves, plots.Curve{Name: a.name, Title: a.title, Points: []plots.Point{{Values: values}}})
			}
		}
		if len(g.Curves) > 0 {
			groups = append(groups, g)
		}
	}
	return groups, nil
}

// apart are the targets one by one.
func apart(targets []string) (panels [][]string) {
	for _, t := range targets {
		panels = append(panels, []string{t})
	}
	return panels
}

// panelName is the name of a panel of some targets.
func panelName(targets []string) string {
	if len(targets) == 1 {
		return targets[0]
	}
	return average
}

// readSame reads runs of one data set and returns what they share.
func readSame(dirs []string) (runs []*RecordedRun, targets []string, err error) {
	if runs, err = readRuns(dirs); err != nil {
		return nil, nil, err
	}
	if len(runs) == 0 {
		return nil, nil, fmt.Errorf("no runs in %s", strings.Join(dirs, ", "))
	}
	of, known := runs[0].Config.Data.Dataset, map[string]bool{}
	for _, run := range runs {
		if d := run.Config.Data.Dataset; d != of {
			return nil, nil, fmt.Errorf("%s is of the data set %s and %s of %s: they do not share an axis", runs[0].Path, of, run.Path, d)
		}
		known[run.Config.Data.Target] = true
	}
	return runs, slices.Sorted(maps.Keys(known)), nil
}

// CurvesOver returns accuracy over epochs of runs, finished or not; each argument is a run or a
// folder of runs. There is a curve per method, named as in [Compare], with values by seed,
// averaged over targets. Without target labels the accuracies are on the sources' validation
// images. A method is drawn up to the epoch that all of its runs have reached.
func CurvesOver(dirs ...string) (d plots.EpochsData, err error) {
	runs, targets, err := readSame(dirs)
	if err != nil {
		return d, err
	}
	return curvesOf(runs, targets)
}

func curvesOf(runs []*RecordedRun, targets []string) (d plots.EpochsData, err error) {
	names := newNaming(runs)
	title, source := TitleOfRun(runs[0].Run, targets...), false
	if d.Curves, source, err = epochCurves(methodsBy(runs, names.called), targets); err != nil {
		return d, err
	}
	if d.Title, d.Note, d.References = onTargets(title, targets), names.note(runs), chances(runs[0]); source {
		d.Title = title + ", source validation"
	}
	if len(d.Curves) == 0 {
		return d, fmt.Errorf("%s: no seed has all of the targets %s", runs[0].Path, strings.Join(targets, ", "))
	}
	return d, nil
}

// CurvesByTarget is [CurvesOver] for each target.
func CurvesByTarget(dirs ...string) (list []plots.EpochsData, err error) {
	runs, targets, err := readSame(dirs)
	for _, t := range targets {
		d, err := curvesOf(slices.DeleteFunc(slices.Clone(runs), func(r *RecordedRun) bool { return r.Config.Data.Target != t }), []string{t})
		if err != nil {
			return nil, err
		}
		d.Title = t
		list = append(list, d)
	}
	return list, err
}

// LabelsOver returns accuracy at the last epoch over the number of labels, a curve per method as
// in [CurvesOver]. Runs of one budget are placed at their mean number of labels. The targets are averaged
// over, or have a panel each.
func LabelsOver(each bool, dirs ...string) (d plots.BudgetData, err error) {
	runs, targets, err := readSame(dirs)
	if err != nil {
		return d, err
	}
	last := func(r *RecordedRun) (float64, error) { return 100 * r.Choices.LastEpoch.TargetAccuracy, nil }
	names, panels := namingBy(runs, false), [][]string{targets}
	if each {
		panels = apart(targets)
	}
	d.XLabel, d.Ticks, d.Note = "Labelled images", map[float64]string{}, names.note(runs)
	for _, panel := range panels {
		g := plots.Target{Name: onTargets(TitleOfRun(runs[0].Run, targets...), panel)}
		if each {
			g.Name = panelName(panel)
		}
		for _, a := range methodsBy(runs, names.called) {
			c, err := a.overBudgets(panel, last, func(b method) (float64, error) { return b.meanLabels(panel), nil }, d.Ticks)
			if err != nil {
				return d, err
			}
			if len(c.Points) > 0 {
				g.Curves = append(g.Curves, c)
			}
		}
		if len(g.Curves) == 0 {
			return d, fmt.Errorf("%s: no seed has all of the targets %s", strings.Join(dirs, ", "), strings.Join(panel, ", "))
		}
		d.Targets = append(d.Targets, g)
		if c := chances(runs[0]); c != nil {
			d.References = append(d.References, c)
		}
	}
	return d, nil
}

// DotsOver returns the accuracy on the target at the last epoch of finished runs, by target and
// method; each argument is a run or a folder of runs. With several targets there is a group for
// their average, over the seeds that have all of them.
func DotsOver(dirs ...string) (d plots.DotsData, err error) {
	runs, targets, err := readSame(dirs)
	if err != nil {
		return d, err
	}
	if err := allFinished(runs); err != nil {
		return d, err
	}
	names, panels := newNaming(runs), apart(targets)
	if len(targets) > 1 {
		panels = append(panels, targets)
	}
	d.Note, d.Title, d.References = names.note(runs), TitleOfRun(runs[0].Run, targets...), chances(runs[0])
	d.Groups, err = dots(methodsBy(runs, names.called), panels, accuracy("last_epoch"))
	return d, err
}

// chances is [Chance] as a list; nil if it is not known.
func chances(run *RecordedRun) []plots.Reference {
	if c := Chance(run.Config.Data.Dataset, run.Run); c != nil {
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
