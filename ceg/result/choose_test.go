package result

import (
	"errors"
	"fmt"
	"testing"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// history makes records from (validation of 8, target of 10) pairs: 12 labels in
// the first two epochs, 20 after that.
func history(tallies ...[2]int) []Record {
	var records []Record
	for e, t := range tallies {
		labels, queried := 20, 0
		if e < 2 {
			labels = 12
		}
		if e == 1 {
			queried = 8
		}
		records = append(records, sample(e, labels, queried, t[0], t[1]))
	}
	return records
}

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		name              string
		records           []Record
		last, val, target int
	}{
		{"one epoch", history([2]int{3, 4}), 0, 0, 0},
		{"three answers", history([2]int{3, 9}, [2]int{7, 5}, [2]int{6, 8}), 2, 1, 0},
		{"ties go to the earliest", history([2]int{3, 2}, [2]int{7, 9}, [2]int{7, 9}, [2]int{1, 1}), 3, 1, 1},
		{"all zero", history([2]int{0, 0}, [2]int{0, 0}), 1, 0, 0},
	} {
		for _, rule := range []struct {
			name string
			pick func([]Record) (int, error)
			want int
		}{{"LastEpoch", LastEpoch, tt.last}, {"BestSourceVal", BestSourceVal, tt.val}, {"BestTarget", BestTarget, tt.target}} {
			if got, err := rule.pick(tt.records); err != nil || got != rule.want {
				t.Errorf("%s: %s = %d, %v; want %d", tt.name, rule.name, got, err, rule.want)
			}
			if got, err := rule.pick(nil); err == nil {
				t.Errorf("%s of no records = %d", rule.name, got)
			}
		}
	}
}

// The rule pools examples: a large domain counts more than a small one.
func TestBestSourceValPools(t *testing.T) {
	records := history([2]int{0, 0}, [2]int{0, 0})
	records[0].Accuracy[0].Tally, records[0].Accuracy[1].Tally = Tally{Correct: 1, Total: 1}, Tally{Correct: 50, Total: 100}
	records[1].Accuracy[0].Tally, records[1].Accuracy[1].Tally = Tally{Correct: 0, Total: 1}, Tally{Correct: 60, Total: 100}
	if got, err := BestSourceVal(records); err != nil || got != 1 {
		t.Errorf("BestSourceVal = %d, %v; want 1 (60 of 101 above 51 of 101)", got, err)
	}
}

func TestChooseWithoutValidation(t *testing.T) {
	records := history([2]int{3, 9}, [2]int{7, 5})
	for i := range records {
		records[i].Accuracy = records[i].Accuracy[2:]
	}
	if _, err := BestSourceVal(records); !errors.Is(err, ErrNoValidation) {
		t.Errorf("BestSourceVal: %v", err)
	}
	c, err := Choose(records)
	if err != nil || c.BestSourceVal != nil || c.LastEpoch.Epoch != 1 || c.BestTarget.Epoch != 0 {
		t.Errorf("Choose = %+v, %v", c, err)
	}
	records[1] = history([2]int{3, 9}, [2]int{7, 5})[1]
	if _, err := Choose(records); err == nil || errors.Is(err, ErrNoValidation) {
		t.Errorf("records of which some have validation give %v", err)
	}
}

// Rules choose among the epochs that were evaluated.
func TestRulesSkipEpochsWithoutAccuracies(t *testing.T) {
	records := history([2]int{8, 9}, [2]int{3, 0}, [2]int{7, 9}, [2]int{2, 0}, [2]int{1, 1})
	for _, e := range []int{0, 2} {
		records[e].Accuracy = []Accuracy{}
		if err := records[e].Validate(); err != nil {
			t.Errorf("a record without accuracies: %v", err)
		}
	}
	c, err := Choose(records)
	if err != nil || c.LastEpoch.Epoch != 4 || c.BestTarget.Epoch != 4 || c.BestSourceVal == nil || c.BestSourceVal.Epoch != 1 {
		t.Errorf("Choose = %+v, %v; want epochs 4, 1 and 4", c, err)
	}
	if c, err := Choose(records[:3]); err == nil {
		t.Errorf("a last epoch without accuracies gives %+v", c)
	}
	if _, err := BestTarget(records[:1]); err == nil {
		t.Error("BestTarget chooses an epoch without accuracies")
	}
}

// A run without a target, or without any label of it, has a result with nothing in it.
func TestRulesWithNothingToMeasureWith(t *testing.T) {
	records := history([2]int{3, 4}, [2]int{7, 9}, [2]int{6, 8})
	for i := range records {
		records[i].Accuracy[len(records[i].Accuracy)-1].Tally = Tally{Unknown: 20}
	}
	c, err := Choose(records)
	if err != nil || c.Measured() || c.LastEpoch.Epoch != 2 || c.LastEpoch.Target != (Tally{Unknown: 20}) || c.BestSourceVal == nil || c.BestSourceVal.Epoch != 1 {
		t.Errorf("unknown: %+v, %v", c, err)
	}
	if rules := c.Rules(); rules[2].Choice != nil || rules[0].Choice == nil {
		t.Errorf("rules %+v", rules)
	}
	if _, err := BestTarget(records); !errors.Is(err, ErrNoTarget) {
		t.Errorf("best target: %v", err)
	}
	r := sampleResult(t)
	r.Accuracy = c
	fatal.Says(t, fatal.Err(r.JSON()), "no note")
	r.Note = "nobody knows"
	if _, err := r.JSON(); err != nil || r.Verify(records) != nil {
		t.Errorf("a result with a note: %v, %v", err, r.Verify(records))
	}
	for i := range records {
		records[i].Accuracy = records[i].Accuracy[:len(records[i].Accuracy)-1]
	}
	r.Accuracy = fatal.Get(Choose(records))(t)
	fatal.Says(t, r.Verify(records), "the target is")
	if r.Target = config.NoTarget; r.Verify(records) != nil {
		t.Errorf("no target: %v", r.Verify(records))
	}
	for i := range records {
		records[i].Accuracy = []Accuracy{}
	}
	if c, err := Choose(records); err != nil || c.LastEpoch.Epoch != 2 || c.BestSourceVal != nil {
		t.Errorf("nothing evaluated: %+v, %v", c, err)
	}
}

func ExampleChoose() {
	// Validation and target accuracy of three epochs; the last 8 of 20 labels were queried after
	// the second.
	records := history([2]int{3, 4}, [2]int{7, 9}, [2]int{6, 8})
	choices, err := Choose(records)
	if err != nil {
		panic(err)
	}
	for _, rule := range choices.Rules() {
		c := rule.Choice
		fmt.Printf("%s: %v right in epoch %d, with %d labels\n", rule.Title, c.Target, c.Epoch, c.Labels)
	}
	// Output:
	// last epoch: 8/10 right in epoch 2, with 20 labels
	// best source val: 9/10 right in epoch 1, with 12 labels
	// best target (oracle): 9/10 right in epoch 1, with 12 labels
}
