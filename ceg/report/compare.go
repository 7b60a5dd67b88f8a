package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// CompareOptions are the settings of [Compare].
type CompareOptions struct {
	// Rule is the model selection rule of the second table: last_epoch, best_source_val or
	// best_target; empty means last_epoch.
	Rule string
	// Baseline is the method to compare with, by its name in the second table or in its config;
	// empty means none.
	Baseline string
}

// OptionError is the error of an invalid option.
type OptionError struct {
	Option string
	Err    error
}

func (e *OptionError) Error() string { return e.Option + " " + e.Err.Error() }

// Unwrap returns Err.
func (e *OptionError) Unwrap() error { return e.Err }

// Compare returns tables of finished runs; each element of dirs is a run or a folder of runs.
// The first has a row per run with its target accuracy by the three model selection rules. If no
// run has one, it has the source validation accuracy, and there is no second table. A
// second follows if a method has several runs or there is a baseline: mean, standard deviation
// and 95% Student-t interval over seeds per method, for each target and their average. It has the
// differences to the baseline, paired by seed. An unfinished run is an error, and so are two
// runs of one method with the same target and seed.
func Compare(dirs []string, o CompareOptions) ([]*result.Table, error) {
	runs, err := readRuns(dirs)
	if err != nil {
		return nil, err
	}
	if err := allFinished(runs); err != nil {
		return nil, err
	}
	tables := []*result.Table{runsTable(runs)}
	if o.Baseline != "" || measured(runs) && hasSeveral(runs) {
		summary, err := summaryTable(runs, cmp.Or(o.Rule, "last_epoch"), o.Baseline)
		if err != nil {
			return nil, err
		}
		tables = append(tables, summary)
	}
	return tables, nil
}

// allFinished is the error of the first run that is not finished.
func allFinished(runs []*RecordedRun) error {
	for _, run := range runs {
		if run.Result == nil {
			return fmt.Errorf("%s: the run is unfinished: %d epochs are recorded", run.Path, len(run.Records))
		}
	}
	return nil
}

func measured(runs []*RecordedRun) bool {
	return slices.ContainsFunc(runs, func(r *RecordedRun) bool { return r.Choices.Measured() })
}

// runsTable has a row per run. Settings that are equal in all runs are in its title.
func runsTable(runs []*RecordedRun) *result.Table {
	t := &result.Table{Columns: []result.Column{{Name: "run"}}}
	var title []string
	names := newNaming(runs)
	// A column for what differs, a word of the title for what does not.
	fields := []struct {
		name  string
		right bool
		of    func(*RecordedRun) string
	}{
		{"data set", false, func(r *RecordedRun) string { return r.Result.Dataset }},
		{"preset", false, func(r *RecordedRun) string { return r.Result.Preset }},
		{"weights", false, func(r *RecordedRun) string { return cmp.Or(r.weights(), "none") }},
		{"method", false, func(r *RecordedRun) string { return names.ofRow(r) }},
		{"target", false, func(r *RecordedRun) string { return r.Result.Target }},
		{"seed", true, func(r *RecordedRun) string { return fmt.Sprint(r.Result.Seed) }},
		{"labels", true, func(r *RecordedRun) string { return fmt.Sprint(r.Result.Labels) }},
	}
	columns := fields[:0:0]
	for _, f := range fields {
		first := f.of(runs[0])
		same := !slices.ContainsFunc(runs, func(run *RecordedRun) bool { return f.of(run) != first })
		if same && f.name == "weights" && first == "none" {
			continue
		}
		if same && f.name != "method" {
			title = append(title, f.name+" "+first)
			continue
		}
		columns = append(columns, f)
		t.Columns = append(t.Columns, result.Column{Name: f.name, Right: f.right})
	}
	t.Title = "Accuracy on the target domain, %"
	of, rules := func(c *result.Choice) result.Tally { return c.Target }, 3
	if !measured(runs) {
		t.Title, rules = "Accuracy on source validation images, %", 2
		of = func(c *result.Choice) result.Tally { return c.SourceVal }
		if !slices.ContainsFunc(runs, func(r *RecordedRun) bool { return r.Choices.LastEpoch.SourceVal.Total > 0 }) {
			t.Title, rules = "Runs", 0
		}
	}
	if len(title) > 0 {
		t.Title += " (" + strings.Join(title, ", ") + ")"
	}
	for _, rule := range runs[0].Choices.Rules()[:rules] {
		t.Columns = append(t.Columns, result.Column{Name: rule.Title, Right: true})
	}
	t.Columns = append(t.Columns, result.Column{Name: "seconds", Right: true})
	for _, run := range runs {
		row := []string{run.Path}
		for _, f := range columns {
			row = append(row, f.of(run))
		}
		for _, rule := range run.Choices.Rules()[:rules] {
			if rule.Choice == nil {
				row = append(row, "-")
				continue
			}
			row = append(row, percent(of(rule.Choice)))
		}
		t.AddRow(append(row, fmt.Sprintf("%.0f", run.Result.Timing.Seconds))...)
	}
	if note := names.note(runs); note != "" {
		t.Notes = append(t.Notes, note)
	}
	t.Notes = append(t.Notes, "Every row is one run (n = 1).")
	for _, run := range runs { // each thing once, in the order of the runs
		for _, note := range notes("rules", run.Result) {
			if !slices.Contains(t.Notes, note) {
				t.Notes = append(t.Notes, note)
			}
		}
	}
	return t
}

// series is the runs of one method on one target by seed, or their averages over
// the targets. The method is its identity, name and short are for readers.
type series struct {
	method, name, short, target string
	trials                      []result.Trial
}

// is reports whether a person means the series by a name: as it is shown, in short, or as it
// is typed.
func (s series) is(name string) bool {
	return slices.ContainsFunc([]string{s.method, s.name, s.short}, func(own string) bool { return strings.EqualFold(own, name) })
}

// average is the target of series that are averages over targets.
const average = "average"

// hasSeveral reports whether a method has more than one run.
func hasSeveral(runs []*RecordedRun) bool {
	names, seen := newNaming(runs), map[string]bool{}
	for _, run := range runs {
		name := names.method(run)
		if seen[name] {
			return true
		}
		seen[name] = true
	}
	return false
}

// groupRuns collects the trials of each method, per target and averaged over the
// targets of a data set that has several, in the order in which these and the
// methods first occur. Two runs of one method with the same target and seed are an
// error.
func groupRuns(runs []*RecordedRun, rule string) ([]series, error) {
	trials := map[[2]string][]result.Trial{} // by method and target
	targets := map[string][]string{}         // by the name of their average
	names, dirs := newNaming(runs), map[string]string{}
	shown := map[string][2]string{} // by method, its display name and its short name
	var methods, averages []string
	for _, run := range runs {
		r := run.Result
		rules := run.Choices.Rules()
		i := slices.IndexFunc(rules, func(c result.Rule) bool { return c.Name == rule })
		if i < 0 {
			return nil, &OptionError{"rule", fmt.Errorf("%q: want last_epoch, best_source_val or best_target", rule)}
		}
		if rules[i].Choice == nil {
			why := "the run has no validation splits"
			if !run.Choices.Measured() {
				why = "no label of a target is known"
			}
			return nil, fmt.Errorf("%s: nothing to choose by %s: %s", run.Path, rule, why)
		}
		if rules[i].Choice.Target.Total == 0 {
			return nil, fmt.Errorf("%s: %w", run.Path, result.ErrNoTarget)
		}
		method, target, all := names.method(run), names.target(r, r.Target), names.target(r, average)
		name := fmt.Sprintf("%s on %s, seed %d", method, target, r.Seed)
		if dirs[name] != "" {
			return nil, fmt.Errorf("%s and %s are both %s", dirs[name], run.Path, name)
		}
		dirs[name] = run.Path
		key := [2]string{method, target}
		trials[key] = append(trials[key], result.Trial{Key: fmt.Sprint(r.Seed), Value: rules[i].Choice.TargetAccuracy})
		if !slices.Contains(methods, method) {
			name, short := names.display(run)
			shown[method] = [2]string{name, short}
			methods = append(methods, method)
		}
		if !slices.Contains(averages, all) {
			averages = append(averages, all)
		}
		if !slices.Contains(targets[all], target) {
			targets[all] = append(targets[all], target)
		}
	}
	var list []series
	add := func(method, target string, t []result.Trial) {
		if len(t) > 0 {
			list = append(list, series{method, shown[method][0], shown[method][1], target, t})
		}
	}
	for _, all := range averages {
		for _, target := range targets[all] {
			for _, method := range methods {
				add(method, target, trials[[2]string{method, target}])
			}
		}
		if len(targets[all]) < 2 {
			continue
		}
		for _, method := range methods {
			byTarget := map[string][]result.Trial{}
			for _, target := range targets[all] {
				byTarget[target] = trials[[2]string{method, target}]
			}
			add(method, all, result.OverTargets(byTarget, targets[all]))
		}
	}
	return list, nil
}

// summaryTable has a row per target and method: mean, standard deviation and
// interval, and the paired difference to the baseline unless that is empty.
func summaryTable(runs []*RecordedRun, rule, baseline string) (*result.Table, error) {
	list, err := groupRuns(runs, rule)
	if err != nil {
		return nil, err
	}
	var short, name string
	if baseline != "" {
		i := slices.IndexFunc(list, func(s series) bool { return s.is(baseline) })
		if i < 0 {
			return nil, &OptionError{"baseline", fmt.Errorf("%q: none of the runs is of this method", baseline)}
		}
		baseline, short, name = list[i].method, list[i].short, list[i].name
	}
	t := &result.Table{
		Title: fmt.Sprintf("Accuracy on the target domain %s, %%", atRule(rule)),
		Columns: []result.Column{
			{Name: "target"}, {Name: "method"}, {Name: "n", Right: true}, {Name: "mean", Right: true},
			{Name: "sd", Right: true}, {Name: "95% interval", Right: true},
		},
		Notes: []string{"n: number of seeds. sd: standard deviation with divisor n - 1. 95% interval: of the mean, by Student's t."},
	}
	if note := newNaming(runs).note(runs); note != "" {
		t.Notes = slices.Insert(t.Notes, 0, note)
	}
	if slices.ContainsFunc(list, func(s series) bool { return strings.HasSuffix(s.target, average) }) {
		t.Notes = append(t.Notes, "average: for each seed finished on all targets, the mean over targets.")
	}
	if baseline != "" {
		t.Columns = append(t.Columns, claimColumns(short)...)
		t.Notes = append(t.Notes, fmt.Sprintf("minus %s: differences to %s, paired by seed, with a 95%% interval.", short, name))
	}
	claims, notes, err := claimsOver(list, baseline)
	if err != nil {
		return nil, err
	}
	t.Notes = append(t.Notes, notes...)
	if slices.ContainsFunc(claims, func(c *claim) bool { return c != nil && c.HasInterval() && !c.ExcludesZero() }) {
		t.Notes = append(t.Notes, undecided)
	}
	warn := func(s series, warnings []string) {
		for _, w := range warnings {
			t.Notes = append(t.Notes, fmt.Sprintf("%s, %s: %s.", s.target, s.name, w))
		}
	}
	beyond := false
	for i, s := range list {
		values := make([]float64, len(s.trials))
		for i, trial := range s.trials {
			values[i] = trial.Value
		}
		sum, err := result.Summarize(values)
		if err != nil {
			return nil, err
		}
		row := []result.Cell{{Text: s.target}, {Text: s.name}, {Text: fmt.Sprint(sum.N)}, {Text: fmt.Sprintf("%.2f", 100*sum.Mean)}, {Text: "-"}, {Text: "-"}}
		if sum.HasInterval() {
			row[4].Text = fmt.Sprintf("%.2f", 100*sum.SD)
			row[5].Text = fmt.Sprintf("%.2f to %.2f", 100*sum.Low, 100*sum.High)
			if sum.Low < 0 || sum.High > 1 {
				row[5].Text = fmt.Sprintf("seeds: %.2f to %.2f", 100*slices.Min(values), 100*slices.Max(values))
				beyond = true
			}
		}
		warn(s, sum.Warnings)
		if baseline != "" {
			row = append(row, claimCells(claims[i])...)
			if c := claims[i]; c != nil {
				for _, w := range c.Warnings {
					warn(s, []string{"difference: " + w})
				}
			}
		}
		t.Rows = append(t.Rows, row)
	}
	if beyond {
		t.Notes = append(t.Notes, "seeds: the lowest and the highest seed, where Student's interval would leave 0 to 100%.")
	}
	return t, nil
}
