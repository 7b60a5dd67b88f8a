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
	// Measure is the measure of the second table, one of [MeasureNames], which is then there; empty means accuracy.
	Measure string
}

// OptionError is the error of an invalid option.
type OptionError struct {
	Option string
	Err    error
}

func (e *OptionError) Error() string { return e.Option + " " + e.Err.Error() }

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
	o.Rule = cmp.Or(o.Rule, "last_epoch")
	if !slices.ContainsFunc(runs[0].Choices.Rules(), func(r result.Rule) bool { return r.Name == o.Rule }) {
		return nil, &OptionError{"rule", fmt.Errorf("%q: want last_epoch, best_source_val or best_target", o.Rule)}
	}
	if _, err := findMeasure(o.Measure); err != nil {
		return nil, err
	}
	tables := []*result.Table{runsTable(runs)}
	if o.Measure != "" || o.Baseline != "" || measured(runs) && len(methodsBy(runs, newNaming(runs).called)) < len(runs) {
		summary, err := summaryTable(runs, o)
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
	for _, run := range runs {
		t.Notes = append(t.Notes, notes("rules", run.Result)...)
	}
	t.Notes = distinct(t.Notes, func(note string) string { return note })
	return t
}

// average is the target of averages over targets.
const average = "average"

// find returns the names of the method that a person means: by its name or its short name, or by the one that
// is typed if no other has it.
func (n naming) find(runs []*RecordedRun, meant string) (name, short string, err error) {
	var typed []string
	for _, m := range methodsBy(runs, n.called) {
		long, brief, own := n.name(m.runs[0])
		switch {
		case strings.EqualFold(long, meant), strings.EqualFold(brief, meant):
			return long, brief, nil
		case strings.EqualFold(own, meant):
			typed, name, short = append(typed, fmt.Sprintf("%q", long)), long, brief
		}
	}
	switch len(typed) {
	case 0:
		return "", "", &OptionError{"baseline", fmt.Errorf("%q: none of the runs is of this method", meant)}
	case 1:
		return name, short, nil
	}
	return "", "", &OptionError{"baseline", fmt.Errorf("%q: it may be %s", meant, strings.Join(typed, " or "))}
}

// summaryTable has a row per target and method: mean, standard deviation and
// interval, and the paired difference to the baseline unless that is empty. The averages are over the targets
// of one data set.
func summaryTable(runs []*RecordedRun, o CompareOptions) (*result.Table, error) {
	rule, baseline, shown := o.Rule, o.Baseline, TableOptions{Rule: o.Rule, Measure: o.Measure}.withDefaults()
	names, base, short := newNaming(runs), "", ""
	if baseline != "" {
		var err error
		if base, short, err = names.find(runs, baseline); err != nil {
			return nil, err
		}
	}
	t := &result.Table{
		Title: fmt.Sprintf("%s %s, %%", upperFirst(shown.measureTitle()), atRule(rule)),
		Columns: []result.Column{
			{Name: "target"}, {Name: "method"}, {Name: "n", Right: true}, {Name: "mean", Right: true},
			{Name: "sd", Right: true}, {Name: "95% interval", Right: true},
		},
	}
	if baseline != "" {
		t.Columns = append(t.Columns, claimColumns(short, false)...)
	}
	warned := map[string][]string{} // the rows of a warning
	var claims []*claim             // of the rows; nil for the baseline, and without one
	d := summaryNotes{Settings: names.note(runs), Minus: short, Baseline: base}
	for _, set := range methodsBy(runs, (*RecordedRun).dataset) {
		g := &grid{targets: distinct(set.runs, func(r *RecordedRun) string { return r.Config.Data.Target })}
		for _, m := range methodsBy(set.runs, names.called) {
			cells, err := m.cells(shown.value)
			if err != nil {
				return nil, err
			}
			r := &row{name: m.name, cells: cells}
			r.cells[overall] = result.OverTargets(cells, g.targets)
			if g.rows = append(g.rows, r); m.name == base {
				g.baseline = r
			}
		}
		d.Average = d.Average || len(g.targets) > 1
		for _, column := range g.columns() {
			target := cmp.Or(column, average)
			if names.dataset {
				target = set.name + " " + target
			}
			for _, r := range g.rows {
				sum := summary(r.cells[column])
				if sum == nil {
					continue
				}
				cells := []string{target, r.name, fmt.Sprint(sum.N), fmt.Sprintf("%.2f", 100*sum.Mean), "-", "-"}
				if sum.HasInterval() {
					cells[4], cells[5] = fmt.Sprintf("%.2f", 100*sum.SD), fmt.Sprintf("%.2f to %.2f", 100*sum.Low, 100*sum.High)
					if sum.Low < 0 || sum.High > 1 {
						values := values(r.cells[column])
						cells[5], d.Beyond = fmt.Sprintf("seeds: %.2f to %.2f", 100*slices.Min(values), 100*slices.Max(values)), true
					}
				}
				t.AddRow(cells...)
				claims = append(claims, nil)
				if g.baseline != nil && r != g.baseline && len(g.baseline.cells[column]) > 0 {
					c, err := result.Paired(r.cells[column], g.baseline.cells[column])
					if err != nil {
						return nil, fmt.Errorf("%s and %s on %s: %w", r.name, base, target, err)
					}
					claims[len(claims)-1] = &claim{Difference: c}
					d.Undecided = d.Undecided || c.HasInterval() && !c.ExcludesZero()
					for _, w := range c.Warnings {
						if !slices.Contains(sum.Warnings, w) { // such as n = 2
							sum.Warnings = append(sum.Warnings, "difference: "+w)
						}
					}
				}
				for _, w := range sum.Warnings {
					d.Warnings = append(d.Warnings, w)
					warned[w] = append(warned[w], target+", "+r.name)
				}
			}
		}
	}
	d.Claims = correct(only(claims, func(c *claim) bool { return c != nil }))
	if baseline != "" {
		for i, c := range claims {
			t.Rows[i] = append(t.Rows[i], claimCells(c, false)...)
		}
	}
	d.Warnings = distinct(d.Warnings, func(w string) string { return w })
	for i, w := range d.Warnings {
		switch rows := warned[w]; len(rows) {
		case 1:
			d.Warnings[i] = rows[0] + ": " + w + "."
		case len(t.Rows):
			d.Warnings[i] = "All rows: " + w + "."
		default:
			d.Warnings[i] = w + ": " + strings.Join(rows, "; ") + "."
		}
	}
	t.Notes = notes("summary", d)
	return t, nil
}

// summaryNotes is what the notes below a summary say.
type summaryNotes struct {
	Settings, Minus, Baseline  string
	Average, Undecided, Beyond bool
	Claims, Warnings           []string
}
