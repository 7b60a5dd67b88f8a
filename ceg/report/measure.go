package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/ceg/rundir/calibration"
)

// measure is what a table can show of a run at an epoch, all in [0, 1]. One of its functions is set, none for
// the accuracy.
type measure struct {
	name, title string
	classes     func(result.ClassTallies) float64 // from counts by class
	confusion   func(result.Confusion) float64    // of the last epoch
	run         func(run *RecordedRun, epoch int) (float64, error)
}

// measures are the built-in measures, by the names in [TableOptions].Measure, and then those of [RegisterMeasure].
var measures = []measure{
	{name: "accuracy", title: "accuracy"},
	{name: "macro-f1", title: "macro-F1", classes: result.ClassTallies.MacroF1},
	{name: "mean-recall", title: "mean accuracy of the classes", classes: result.ClassTallies.MeanRecall},
	{name: "worst-domain", title: "lowest accuracy of a domain", run: worstDomain},
	{name: "ece", title: "expected calibration error", run: calibrationError},
}

// RegisterMeasure adds a measure of confusion matrices: of the target's at the last epoch, which is the only one
// that runs record. A name that is taken is an error.
func RegisterMeasure(name string, of func(result.Confusion) float64) error {
	if name == "" || of == nil {
		return errors.New("a measure needs a name and a function")
	}
	if slices.Contains(MeasureNames(), name) {
		return fmt.Errorf("the measure %q is there already; choose another name", name)
	}
	measures = append(measures, measure{name: name, title: name, confusion: of})
	return nil
}

// worstDomain is the lowest accuracy at an epoch on a domain: the target, or a source's validation images.
func worstDomain(run *RecordedRun, epoch int) (float64, error) {
	worst := 2.0
	for _, a := range run.Records[epoch].Accuracy {
		if (a.Split == result.TestSplit || a.Split == result.ValSplit) && a.Tally.Total > 0 {
			worst = min(worst, a.Tally.Share())
		}
	}
	if worst > 1 {
		return 0, errors.New("no domain was evaluated")
	}
	return worst, nil
}

// calibrationError is the expected calibration error on the target before calibration, in 15 bins.
func calibrationError(run *RecordedRun, _ int) (float64, error) {
	c, err := calibration.Of(run.Run)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, fmt.Errorf("no calibration error: run ledg calibrate %s first", run.Path)
	case err != nil:
		return 0, err
	case !c.HasTarget():
		return 0, result.ErrNoTarget
	}
	return c.Source.Target.Before.ECE, nil
}

// MeasureNames lists the evaluation measures of tables.
func MeasureNames() []string {
	var names []string
	for _, m := range measures {
		names = append(names, m.name)
	}
	return names
}

// findMeasure returns a measure by its name; empty is the accuracy.
func findMeasure(name string) (measure, error) {
	for _, m := range measures {
		if m.name == cmp.Or(name, measures[0].name) {
			return m, nil
		}
	}
	return measure{}, fmt.Errorf("no measure %q, want one of %s", name, strings.Join(MeasureNames(), ", "))
}

// ValueLabel names a measure on an axis; empty for the accuracy.
func ValueLabel(name string) string {
	m, err := findMeasure(name)
	if err != nil || m.name == measures[0].name {
		return ""
	}
	return upperFirst(m.title) + " (%)"
}

// at is the measure of a run at an epoch, on the target or on the sources' validation images.
func (m measure) at(run *RecordedRun, epoch int, split string) (float64, error) {
	rec := run.Records[epoch]
	switch {
	case m.run != nil:
		if m.name == "ece" && epoch != len(run.Records)-1 {
			return 0, fmt.Errorf("the %s is known at the last epoch alone", m.title)
		}
		return m.run(run, epoch)
	case m.confusion != nil:
		var sum result.Confusion
		for _, a := range rec.Accuracy {
			if a.Split == split && a.Confusion != nil { // the target is one domain
				sum = a.Confusion
			}
		}
		if sum == nil {
			return 0, fmt.Errorf("there is no %s: the confusion matrix is recorded at the last epoch, and on images whose classes are known", m.title)
		}
		v := m.confusion(sum)
		if v-v != 0 {
			return 0, fmt.Errorf("the %s is %v, want a finite number", m.title, v)
		}
		return v, nil
	case m.classes != nil:
		classes := rec.ByClass(split)
		if classes == nil {
			return 0, fmt.Errorf("its records, by an older version of ledg, do not count by class: there is no %s", m.title)
		}
		return m.classes(classes), nil
	}
	if split == result.ValSplit {
		return rec.SourceVal().Share(), nil
	}
	return rec.Target().Share(), nil
}

// measureTitle is what a reader calls the measure, and what it is of.
func (o TableOptions) measureTitle() string {
	m, _ := findMeasure(o.Measure) // an unknown one has been an error before
	of := "the target domain"
	switch {
	case o.SourceVal:
		of = "source validation"
	case m.name == "worst-domain":
		return m.title
	}
	return m.title + " on " + of
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
	m, err := findMeasure(o.Measure)
	if err != nil {
		return 0, err
	}
	if m.name == measures[0].name {
		return tally.Share(), nil
	}
	return m.at(run, c.Epoch, split)
}

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

// MeasureOf is a measure of a finished run at its last epoch, on the target, in [0, 1]; empty means accuracy.
func MeasureOf(run *result.Run, measure string) (float64, error) {
	recorded, err := readRuns([]string{run.Path})
	if err != nil {
		return 0, err
	}
	return TableOptions{Measure: measure}.withDefaults().value(recorded[0])
}

// upperFirst is a text with a capital.
func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
