package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// ErrNoValidation is the error of records without a source validation split.
var ErrNoValidation = errors.New("no accuracy on a source validation split")

// WithoutTarget is the note of a result without a target domain.
const WithoutTarget = "there is no target domain, so there is nothing to measure with"

// ErrNoTarget is the error of records without labelled target images.
var ErrNoTarget = errors.New("no label of a target domain is known: there is nothing to measure with")

var errNoRecords = errors.New("no records of evaluated epochs")

// LastEpoch selects the last record, without looking at accuracies. Like the other rules it
// returns an index into records; no records are an error. It is an error if the last epoch was
// not evaluated but others were; the other rules select among those.
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

// BestSourceVal selects the record with the highest source validation accuracy, pooled over the
// source domains' examples; the earliest of equal ones. It uses the labels of those splits. The
// error is ErrNoValidation if no record has labels of these splits. It is also an error if only some
// records have them.
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

// BestTarget selects the record with the highest target accuracy; the earliest of equal ones. It
// is the oracle rule: it uses test labels and gives an upper bound, for comparison with papers
// that report it. The error is ErrNoTarget if no record has a target accuracy.
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

// Choice is the epoch that a model selection rule selected, with the model's accuracy.
type Choice struct {
	// Epoch counts from 0.
	Epoch int `json:"epoch"`
	// Labels is the number of labels that the epoch was trained with. It is below the number
	// spent if the rule selected an epoch before the last query.
	Labels int `json:"labels"`
	// Target and SourceVal are the tallies at that epoch; SourceVal is [0,0] in a
	// run without validation splits.
	Target    Tally `json:"target"`
	SourceVal Tally `json:"source_val"`
	// TargetAccuracy is Target's share, in [0, 1]. If Target is empty it is null in JSON, which
	// is read as 0.
	TargetAccuracy float64 `json:"target_accuracy"`
}

// MarshalJSON writes the fields; the accuracy of an empty Target is null.
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

// Choices are the results of one run by the three model selection rules.
type Choices struct {
	// LastEpoch is the headline result.
	LastEpoch Choice `json:"last_epoch"`
	// BestSourceVal is nil in a run without validation splits.
	BestSourceVal *Choice `json:"best_source_val"`
	// BestTarget is the oracle, which uses test labels: for comparison only. It equals LastEpoch
	// if there are none.
	BestTarget Choice `json:"best_target"`
}

// Measured reports whether the target has labelled images.
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

// Rule is a model selection rule with its result in one run.
type Rule struct {
	// Name is the rule's key in result.json, Title its display name.
	Name, Title string
	// Choice is nil when the rule does not apply to the run.
	Choice *Choice
}

// Rules lists the results by rule, the headline first, the oracle last.
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
