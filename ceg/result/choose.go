package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ErrNoValidation says that the records have no source validation split.
var ErrNoValidation = errors.New("no accuracy on a source validation split")

// ErrNoTarget says that the records know nothing of a target: there is none, or no
// label of it.
var ErrNoTarget = errors.New("no label of a target domain is known: there is nothing to measure with")

var errNoRecords = errors.New("no records of evaluated epochs")

// LastEpoch chooses the last record: the rule that looks at nothing. Like the
// other rules it returns an index into records, and fails when there are none. It
// fails, too, if that epoch was not evaluated but others were; the other rules choose
// among those.
func LastEpoch(records []Record) (int, error) {
	last := len(records) - 1
	if last < 0 {
		return 0, errNoRecords
	}
	if !records[last].Evaluated() && slices.ContainsFunc(records, Record.Evaluated) {
		return 0, fmt.Errorf("the last epoch, %d, was not evaluated", records[last].Epoch)
	}
	return last, nil
}

// BestSourceVal chooses the record with the highest accuracy on the source
// domains' validation splits, pooled over their examples; the earliest of equal
// ones. It needs the labels of those splits. It fails with ErrNoValidation when
// no record has them, and otherwise if some record has not.
func BestSourceVal(records []Record) (int, error) {
	evaluated, without := 0, 0
	for _, r := range records {
		if !r.Evaluated() {
			continue
		}
		evaluated++
		if r.SourceVal().Total == 0 {
			without++
		}
	}
	switch {
	case len(records) == 0:
		return 0, errNoRecords
	case evaluated > 0 && without == 0:
		return best(records, Record.SourceVal)
	case without == evaluated:
		return 0, ErrNoValidation
	}
	return 0, fmt.Errorf("%d of %d records have no accuracy on a source validation split", without, evaluated)
}

// BestTarget chooses the record with the highest accuracy on the target domain;
// the earliest of equal ones. It looks at the test labels, so it is an upper
// bound and no result: it is here to compare with papers that report it. It fails
// with ErrNoTarget when no record knows any.
func BestTarget(records []Record) (int, error) {
	if len(records) == 0 {
		return 0, errNoRecords
	}
	if !slices.ContainsFunc(records, func(r Record) bool { return r.Target().Total > 0 }) {
		return 0, ErrNoTarget
	}
	return best(records, Record.Target)
}

// best returns the index of the first evaluated record with the highest tally.
func best(records []Record, of func(Record) Tally) (int, error) {
	chosen := -1
	for i, r := range records {
		if r.Evaluated() && (chosen < 0 || of(r).Compare(of(records[chosen])) > 0) {
			chosen = i
		}
	}
	if chosen < 0 {
		return 0, errNoRecords
	}
	return chosen, nil
}

// Choice is the epoch that a rule chose, and how good the model was then.
type Choice struct {
	// Epoch counts from 0.
	Epoch int `json:"epoch"`
	// Labels is the number of labels that the chosen epoch had trained with. It
	// is below the number spent when the rule chose an epoch before the last query.
	Labels int `json:"labels"`
	// Target and SourceVal are the tallies at that epoch; SourceVal is [0,0] in a
	// run without validation splits.
	Target    Tally `json:"target"`
	SourceVal Tally `json:"source_val"`
	// TargetAccuracy is Target's share, in [0, 1]; in JSON null if Target counts
	// nothing, which is read as 0, as some files have it.
	TargetAccuracy float64 `json:"target_accuracy"`
}

// MarshalJSON writes the fields, without an accuracy where there is none.
func (c Choice) MarshalJSON() ([]byte, error) {
	type plain Choice // without this method
	if c.Target.Total > 0 {
		return json.Marshal(plain(c))
	}
	return json.Marshal(struct {
		plain
		TargetAccuracy *float64 `json:"target_accuracy"`
	}{plain: plain(c)})
}

// Choices are one run's numbers by the three rules, side by side.
type Choices struct {
	// LastEpoch is the headline.
	LastEpoch Choice `json:"last_epoch"`
	// BestSourceVal is nil in a run without validation splits.
	BestSourceVal *Choice `json:"best_source_val"`
	// BestTarget has seen the test labels: only for comparison. It is LastEpoch where
	// there are none.
	BestTarget Choice `json:"best_target"`
}

// Measured reports whether any label of the target is known.
func (c Choices) Measured() bool { return c.LastEpoch.Target.Total > 0 }

// Choose applies the three rules to the records of one run. Records without
// validation splits leave BestSourceVal nil; no records are an error.
func Choose(records []Record) (Choices, error) {
	last, err := LastEpoch(records)
	if err != nil {
		return Choices{}, err
	}
	target, err := BestTarget(records)
	if errors.Is(err, ErrNoTarget) {
		target, err = last, nil
	}
	if err != nil {
		return Choices{}, err
	}
	c := Choices{LastEpoch: choice(records[last]), BestTarget: choice(records[target])}
	switch val, err := BestSourceVal(records); {
	case err == nil:
		v := choice(records[val])
		c.BestSourceVal = &v
	case !errors.Is(err, ErrNoValidation):
		return Choices{}, err
	}
	return c, nil
}

func choice(r Record) Choice {
	return Choice{
		Epoch:          r.Epoch,
		Labels:         r.Labels,
		Target:         r.Target(),
		SourceVal:      r.SourceVal(),
		TargetAccuracy: r.Target().Share(),
	}
}

// Rule is the name of a selection rule beside what it chose in one run.
type Rule struct {
	// Name is the rule's key in result.json, Title its name to a reader.
	Name, Title string
	// Choice is nil when the rule does not apply to the run.
	Choice *Choice
}

// Rules lists the choices under the names of their rules, the headline first,
// the oracle last.
func (c Choices) Rules() []Rule {
	list := []Rule{
		{"last_epoch", "last epoch", &c.LastEpoch},
		{"best_source_val", "best source val", c.BestSourceVal},
		{"best_target", "best target (oracle)", nil},
	}
	if c.BestTarget.Target.Total > 0 {
		list[2].Choice = &c.BestTarget
	}
	return list
}
