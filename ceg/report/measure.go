package report

import (
	"fmt"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// measures are what tables can show of a run, by the names in [TableOptions].Measure.
// The first needs no counts by class.
var measures = []struct {
	name, title string
	of          func(result.ClassTallies) float64
}{
	{"accuracy", "accuracy", nil},
	{"macro-f1", "macro-F1", result.ClassTallies.MacroF1},
	{"mean-recall", "mean accuracy of the classes", result.ClassTallies.MeanRecall},
}

// MeasureNames lists the evaluation measures of tables.
func MeasureNames() []string {
	var names []string
	for _, m := range measures {
		names = append(names, m.name)
	}
	return names
}

// measureTitle is what a reader calls the measure, and what it is of.
func (o TableOptions) measureTitle() string {
	title, of := "", "the target domain"
	for _, m := range measures {
		if m.name == o.Measure {
			title = m.title
		}
	}
	if o.SourceVal {
		of = "source validation"
	}
	return title + " on " + of
}

// value returns a run's measure at the epoch that the rule chooses.
func (o TableOptions) value(run *RecordedRun) (float64, error) {
	c, err := choiceBy(run.Choices, o.Rule)
	if err != nil {
		return 0, err
	}
	split, tally := result.TestSplit, c.Target
	if o.SourceVal {
		if split, tally = result.ValSplit, c.SourceVal; tally.Total == 0 {
			return 0, fmt.Errorf("there are no validation images")
		}
	}
	for _, m := range measures {
		if m.name != o.Measure {
			continue
		}
		if m.of == nil {
			return tally.Share(), nil
		}
		classes := run.Records[c.Epoch].ByClass(split)
		if classes == nil {
			return 0, fmt.Errorf("its records, by an older version of ledg, do not count by class: there is no %s", m.title)
		}
		return m.of(classes), nil
	}
	return 0, fmt.Errorf("no measure %q, want one of %s", o.Measure, strings.Join(MeasureNames(), ", "))
}

// percent is [TableOptions.value] in percent.
func (o TableOptions) percent(run *RecordedRun) (float64, error) {
	v, err := o.value(run)
	return 100 * v, err
}

// choiceBy returns what the rule chose in a run.
func choiceBy(of result.Choices, rule string) (*result.Choice, error) {
	var names []string
	for _, r := range of.Rules() {
		switch {
		case r.Name != rule:
			names = append(names, r.Name)
		case !of.Measured():
			return nil, result.ErrNoTarget
		case r.Choice == nil:
			return nil, fmt.Errorf("nothing to choose by %s: the run has no validation splits", rule)
		default:
			return r.Choice, nil
		}
	}
	return nil, fmt.Errorf("no rule %q, want one of %s", rule, strings.Join(names, ", "))
}
