package result

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/config"
)

// Verify returns an error for the first field of the result that does not follow from the run's
// records: an accuracy by one of the three rules, the number of epochs, or of labels.
func (r Result) Verify(records []Record) error {
	choices, err := Choose(records)
	if err != nil {
		return err
	}
	last := records[len(records)-1]
	for _, c := range []struct {
		name      string
		got, want int
	}{
		{"epochs", r.Epochs, len(records)},
		{"labels", r.Labels, last.Labels + last.Queried},
		{"val_labels", r.ValLabels, last.SourceVal().Total},
	} {
		if c.got != c.want {
			return fmt.Errorf("%s is %d, the records give %d", c.name, c.got, c.want)
		}
	}
	if err := r.hasTarget(records); err != nil {
		return err
	}
	want := choices.Rules()
	for i, rule := range r.Accuracy.Rules() {
		got, want := rule.Choice, want[i].Choice
		at := "accuracy." + rule.Name
		switch {
		case got == nil && want == nil:
		case got == nil || want == nil:
			return fmt.Errorf("%s is %s, the records give %s", at, presence(got), presence(want))
		case got.Epoch != want.Epoch:
			return fmt.Errorf("%s.epoch is %d, the records give %d", at, got.Epoch, want.Epoch)
		case got.Labels != want.Labels:
			return fmt.Errorf("%s.labels is %d, the records give %d", at, got.Labels, want.Labels)
		case got.Target != want.Target:
			return fmt.Errorf("%s.target is %v, the records give %v", at, got.Target, want.Target)
		case got.SourceVal != want.SourceVal:
			return fmt.Errorf("%s.source_val is %v, the records give %v", at, got.SourceVal, want.SourceVal)
		}
	}
	return nil
}

func presence(c *Choice) string {
	if c == nil {
		return "null"
	}
	return fmt.Sprintf("epoch %d", c.Epoch)
}

// hasTarget returns an error for a record without accuracies on a target that there
// is.
func (r Result) hasTarget(records []Record) error {
	for _, rec := range records {
		tested := slices.ContainsFunc(rec.Accuracy, func(a Accuracy) bool { return a.Split == TestSplit })
		if rec.Evaluated() && tested != (r.Target != config.NoTarget) {
			return fmt.Errorf("epoch %d: accuracy on the %q split is there: %v; the target is %s", rec.Epoch, TestSplit, tested, r.Target)
		}
	}
	return nil
}
