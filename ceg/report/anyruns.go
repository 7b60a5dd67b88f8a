package report

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/plots"
)

// anyRuns are runs of one data set, finished or not; each argument is a run or a folder of runs. Budgets tell
// methods apart or, as on an axis of labels, do not.
func anyRuns(dirs []string, budgets bool) (s selection, err error) {
	runs, err := readRuns(dirs)
	if err != nil {
		return s, err
	}
	if len(runs) == 0 {
		return s, fmt.Errorf("no runs in %s", strings.Join(dirs, ", "))
	}
	for _, run := range runs {
		if of, d := runs[0].dataset(), run.dataset(); d != of {
			return s, fmt.Errorf("%s is of the data set %s and %s of %s: they do not share an axis", runs[0].Path, of, run.Path, d)
		}
	}
	s.targets = slices.Sorted(slices.Values(distinct(runs, func(r *RecordedRun) string { return r.Config.Data.Target })))
	names := namingBy(runs, budgets)
	s.methods, s.note, s.inLabels = methodsBy(runs, names.called), names.note(runs), true
	s.title, s.chance = TitleOfRun(runs[0].Run, s.targets...), chances(runs[0].dataset(), runs[0].Run)
	return s, nil
}

// CurvesOver returns accuracy over epochs of runs, finished or not; each argument is a run or a
// folder of runs. There is a curve per method, named as in [Compare], with values by seed. The targets are
// averaged over, or have a panel each. Without target labels the accuracies are on the sources' validation
// images. A method is drawn up to the epoch that all of its runs have reached. The measure is one of
// [MeasureNames], with counts by class at every epoch; empty means accuracy. It is the same in [LabelsOver] and
// [DotsOver].
func CurvesOver(each bool, measure string, dirs ...string) (list []plots.EpochsData, err error) {
	all, err := anyRuns(dirs, true)
	if err != nil {
		return nil, err
	}
	for _, panel := range all.panels(each) {
		s := all
		s.methods, s.targets = slices.Clone(all.methods), panel
		for i, a := range s.methods {
			s.methods[i].runs = only(a.runs, func(r *RecordedRun) bool { return slices.Contains(panel, r.Config.Data.Target) })
		}
		d, err := s.epochs(measure)
		if err != nil {
			return nil, err
		}
		if each {
			d.Title = panelName(panel)
		}
		list = append(list, d)
	}
	return list, nil
}

// panels are the targets together, or each.
func (s selection) panels(each bool) [][]string {
	if each {
		return apart(s.targets)
	}
	return [][]string{s.targets}
}

// LabelsOver returns accuracy at the last epoch over the number of labels, a curve per method as
// in [CurvesOver]. Runs of one budget are placed at their mean number of labels. The targets are averaged
// over, or have a panel each.
func LabelsOver(each bool, measure string, dirs ...string) (d plots.BudgetData, err error) {
	s, err := anyRuns(dirs, false)
	if err != nil {
		return d, err
	}
	if d, err = s.budgets(s.panels(each), lastEpoch(measure), true); err == nil && !each {
		d.Targets[0].Name = onTargets(s.title, s.targets)
	}
	if label := ValueLabel(measure); label != "" {
		d.ValueLabel, d.References = label, nil
	}
	return d, err
}

// DotsOver returns the accuracy on the target at the last epoch of finished runs, by target and
// method; each argument is a run or a folder of runs. With several targets there is a group for
// their average, over the seeds that have all of them. Where a method has several budgets, each budget has groups of its own.
func DotsOver(measure string, dirs ...string) (d plots.DotsData, err error) {
	s, err := anyRuns(dirs, false)
	if err != nil {
		return d, err
	}
	budget := func(r *RecordedRun) string { return r.Config.Exploration.Budget }
	budgets, several := []string{""}, false // all
	var runs []*RecordedRun
	for _, a := range s.methods {
		if err := allFinished(a.runs); err != nil {
			return d, err
		}
		runs, several = append(runs, a.runs...), several || len(distinct(a.runs, budget)) > 1
	}
	if several {
		budgets = distinct(runs, budget)
	}
	if budgets[0] == "" { // names tell budgets apart
		if s, err = anyRuns(dirs, true); err != nil {
			return d, err
		}
	}
	for _, panel := range withAverage(s.targets) {
		for _, b := range budgets {
			one := s
			one.methods = slices.Clone(s.methods)
			for i, a := range one.methods {
				one.methods[i].runs = only(a.runs, func(r *RecordedRun) bool { return b == "" || budget(r) == b })
			}
			group, err := one.dots([][]string{panel}, lastEpoch(measure))
			if errors.Is(err, errNoSeed) {
				continue
			} else if err != nil {
				return d, err
			}
			if name := &group.Groups[0].Name; b != "" {
				if !strings.HasSuffix(b, "%") {
					b += " labels"
				}
				if len(s.targets) > 1 {
					b = *name + " " + b
				}
				*name = b
			}
			group.Groups = append(d.Groups, group.Groups...)
			d = group
		}
	}
	if len(d.Groups) == 0 {
		return d, errNoSeed
	}
	if label := ValueLabel(measure); label != "" {
		d.ValueLabel, d.References = label, nil
	}
	return d, nil
}

// lastEpoch reads a run's measure on the target at the last epoch, in percent.
func lastEpoch(measure string) value { return TableOptions{Measure: measure}.withDefaults().percent }
