package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// method is the runs of one name.
type method struct {
	name string
	runs []*RecordedRun
}

// methodsOf puts runs of one name together, in the order in which they are given.
func methodsOf(runs []*RecordedRun, name func(*RecordedRun) string) (list []method) {
	for _, run := range runs {
		i := slices.IndexFunc(list, func(m method) bool { return m.name == name(run) })
		if i < 0 {
			i = len(list)
			list = append(list, method{name: name(run)})
		}
		list[i].runs = append(list[i].runs, run)
	}
	return list
}

// perSeed are a method's values by seed, each averaged over the targets; seeds that lack a
// target are left out.
func (m method) perSeed(targets []string, value func(*RecordedRun) float64) []float64 {
	byTarget := map[string][]result.Trial{}
	for _, run := range slices.SortedStableFunc(slices.Values(m.runs), func(a, b *RecordedRun) int { return cmp.Compare(a.Config.Seed, b.Config.Seed) }) {
		t := run.Config.Data.Target
		byTarget[t] = append(byTarget[t], result.Trial{Key: fmt.Sprint(run.Config.Seed), Value: value(run)})
	}
	return (&sample{result.OverTargets(byTarget, targets)}).values()
}

// readSame reads runs of one data set and returns what they share.
func readSame(dirs []string) (runs []*RecordedRun, targets []string, title string, err error) {
	if runs, err = readRuns(dirs); err != nil {
		return nil, nil, "", err
	}
	if len(runs) == 0 {
		return nil, nil, "", fmt.Errorf("no runs in %s", strings.Join(dirs, ", "))
	}
	of := runs[0].Config.Data.Dataset
	for _, run := range runs {
		if d := run.Config.Data.Dataset; d != of {
			return nil, nil, "", fmt.Errorf("%s is of the data set %s and %s of %s: they do not share an axis", runs[0].Path, of, run.Path, d)
		}
		if t := run.Config.Data.Target; !slices.Contains(targets, t) {
			targets = append(targets, t)
		}
	}
	slices.Sort(targets)
	return runs, targets, onTargets(TitleOfRun(runs[0].Run, targets...), targets), nil
}

// CurvesOver returns accuracy over epochs of runs, finished or not; each argument is a run or a
// folder of runs. There is a curve per method, named as in [Compare], with values by seed,
// averaged over targets. Without target labels the accuracies are on the sources' validation
// images. A method is drawn up to the epoch that all of its runs have reached.
func CurvesOver(dirs ...string) (d plots.EpochsData, err error) {
	runs, targets, title, err := readSame(dirs)
	if err != nil {
		return d, err
	}
	d.Title = title
	tally := result.Record.Target
	for _, run := range runs {
		if !run.Choices.Measured() {
			tally, d.Title = result.Record.SourceVal, TitleOfRun(run.Run, targets...)+", source validation"
		}
	}
	names := newNaming(runs)
	d.Note = names.note(runs)
	for _, m := range methodsOf(runs, names.method) {
		c := plots.Curve{Name: m.name}
		c.Title, _ = names.display(m.runs[0])
		for e := 0; ; e++ {
			if slices.ContainsFunc(m.runs, func(r *RecordedRun) bool { return e >= len(r.Records) }) {
				break
			}
			if slices.ContainsFunc(m.runs, func(r *RecordedRun) bool { return !r.Records[e].Evaluated() }) {
				continue
			}
			if values := m.perSeed(targets, func(r *RecordedRun) float64 { return 100 * tally(r.Records[e]).Share() }); len(values) > 0 {
				c.Points = append(c.Points, plots.Point{X: float64(e + 1), Values: values})
			}
		}
		for _, run := range m.runs {
			c.Queried = addQueried(c.Queried, run.Records)
		}
		if len(c.Points) > 0 {
			d.Curves = append(d.Curves, c)
		}
	}
	if c := Chance(runs[0].Config.Data.Dataset, runs[0].Run); c != nil {
		d.References = append(d.References, *c)
	}
	if len(d.Curves) == 0 {
		return d, fmt.Errorf("%s: no seed has all of the targets %s", strings.Join(dirs, ", "), strings.Join(targets, ", "))
	}
	return d, nil
}

// LabelsOver returns accuracy at the last epoch over the number of labels, a curve per method as
// in [CurvesOver]. Runs of one budget are placed at their mean number of labels.
func LabelsOver(dirs ...string) (d plots.BudgetData, err error) {
	runs, targets, title, err := readSame(dirs)
	if err != nil {
		return d, err
	}
	d.XLabel, d.Targets, d.Ticks = "Labelled images", []plots.Target{{Name: title}}, map[float64]string{}
	names := namingBy(runs, false)
	d.Note = names.note(runs)
	for _, m := range methodsOf(runs, names.method) {
		c := plots.Curve{Name: m.name}
		c.Title, _ = names.display(m.runs[0])
		for _, b := range methodsOf(m.runs, (*RecordedRun).budget) {
			values := b.perSeed(targets, func(r *RecordedRun) float64 { return 100 * r.Choices.LastEpoch.TargetAccuracy })
			if len(values) == 0 {
				continue
			}
			labels := b.perSeed(targets, func(r *RecordedRun) float64 { return float64(r.Choices.LastEpoch.Labels) })
			x := stat.Mean(labels, nil)
			c.Points = append(c.Points, plots.Point{X: x, Values: values})
			d.Ticks[x] = b.name
		}
		slices.SortFunc(c.Points, func(a, b plots.Point) int { return cmp.Compare(a.X, b.X) })
		if len(c.Points) > 0 {
			d.Targets[0].Curves = append(d.Targets[0].Curves, c)
		}
	}
	if c := Chance(runs[0].Config.Data.Dataset, runs[0].Run); c != nil {
		d.References = [][]plots.Reference{{*c}}
	}
	if len(d.Targets[0].Curves) == 0 {
		return d, fmt.Errorf("%s: no seed has all of the targets %s", strings.Join(dirs, ", "), strings.Join(targets, ", "))
	}
	return d, nil
}

// byTarget returns the paths of runs by their target, and the targets in order.
func byTarget(dirs []string) (targets []string, paths map[string][]string, err error) {
	runs, targets, _, err := readSame(dirs)
	paths = map[string][]string{}
	for _, run := range runs {
		t := run.Config.Data.Target
		paths[t] = append(paths[t], run.Path)
	}
	return targets, paths, err
}

// CurvesByTarget is [CurvesOver] for each target.
func CurvesByTarget(dirs ...string) (list []plots.EpochsData, err error) {
	targets, paths, err := byTarget(dirs)
	for _, t := range targets {
		d, err := CurvesOver(paths[t]...)
		if err != nil {
			return nil, err
		}
		d.Title = t
		list = append(list, d)
	}
	return list, err
}

// LabelsByTarget is [LabelsOver] with the targets side by side.
func LabelsByTarget(dirs ...string) (d plots.BudgetData, err error) {
	targets, paths, err := byTarget(dirs)
	if err != nil {
		return d, err
	}
	d.Ticks = map[float64]string{}
	for _, t := range targets {
		one, err := LabelsOver(paths[t]...)
		if err != nil {
			return d, err
		}
		d.XLabel, d.Note = one.XLabel, cmp.Or(d.Note, one.Note)
		d.Targets = append(d.Targets, plots.Target{Name: t, Curves: one.Targets[0].Curves})
		d.References = append(d.References, slices.Concat(one.References...))
		maps.Copy(d.Ticks, one.Ticks)
	}
	return d, nil
}
