package result

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Splits of an Accuracy.
const (
	// TrainSplit is a source domain's training split: the pool.
	TrainSplit = "train"
	// ValSplit is a source domain's validation split.
	ValSplit = "val"
	// TestSplit is every example of the target domain, and of no other.
	TestSplit = "test"
	// HeldOutSplit is a source domain's own test split, where its data set has one.
	HeldOutSplit = "held-out"
)

// Record is the result of one epoch: a line of records.jsonl. Unless noted otherwise it
// describes the epoch's training state.
type Record struct {
	// Epoch counts from 0 without gaps.
	Epoch int `json:"epoch"`
	// Steps is the number of training steps in this epoch, StepsTotal the number since the start
	// of the run, including this epoch.
	Steps      int `json:"steps"`
	StepsTotal int `json:"steps_total"`
	// Labels is the number of labels that the epoch was trained with. Queried is the number of
	// labels queried after its evaluation. The next record has Labels + Queried labels, plus its
	// Changed: labels added without a query minus withdrawn ones.
	Labels  int `json:"labels"`
	Queried int `json:"queried"`
	Changed int `json:"changed,omitempty"`
	// Loss holds means over the epoch's steps.
	Loss Losses `json:"loss"`
	// LearningRate holds the epoch's learning rates.
	LearningRate LearningRates `json:"learning_rate"`
	// Accuracy of the model after the epoch, per domain and split; empty if it was not
	// evaluated.
	Accuracy []Accuracy `json:"accuracy"`
	// PseudoLabel counts confident and correct pseudo-labels.
	PseudoLabel PseudoLabel `json:"pseudo_label"`
	// Reliable counts correct pseudo-labels in the reliable set that MixUp sampled from; empty
	// if none was in use.
	Reliable Tally `json:"reliable"`
	// Time is the only part of a Record that differs between repeated runs.
	Time Time `json:"time"`
}

// LearningRates are the learning rates of the three optimizers.
type LearningRates struct {
	Backbone   float64 `json:"backbone"`
	ClassHead  float64 `json:"class_head"`
	DomainHead float64 `json:"domain_head"`
}

// Accuracy counts correct predictions on one split of one domain.
type Accuracy struct {
	Domain string `json:"domain"`
	// Split is TrainSplit, ValSplit, TestSplit or HeldOutSplit.
	Split string `json:"split"`
	Tally Tally  `json:"tally"`
	// Classes counts predictions by class, in the order of the data set. Records of older
	// versions have none, and neither have some collected ones; see [Omit].
	Classes ClassTallies `json:"classes,omitempty"`
	// Confusion is the confusion matrix, in the last epoch's record if any.
	Confusion Confusion `json:"confusion,omitempty"`
}

// PseudoLabel counts an epoch's pseudo-labels of unlabelled examples by weak views: Total of
// them, Accepted with confidence of at least tau, and Correct among the accepted. Unknown counts
// accepted ones whose true class is unknown.
type PseudoLabel struct {
	Correct  int `json:"correct"`
	Accepted int `json:"kept"`
	Total    int `json:"total"`
	Unknown  int `json:"unknown,omitempty"`
}

// Accuracy returns the share of correct ones among accepted pseudo-labels of known class, in [0, 1];
// 0 if there are none.
func (p PseudoLabel) Accuracy() float64 {
	return Tally{Correct: p.Correct, Total: p.Accepted - p.Unknown}.Share()
}

// KeepRate returns the share of pseudo-labels above the threshold, in [0, 1]; 0 if there are
// none.
func (p PseudoLabel) KeepRate() float64 { return Tally{Correct: p.Accepted, Total: p.Total}.Share() }

// Time breaks down an epoch's wall-clock time, in seconds.
type Time struct {
	// Seconds is the whole epoch, the other fields parts of it.
	Seconds float64 `json:"seconds"`
	// Train is the time of training steps, Wait the part of it spent waiting for batches.
	Train float64 `json:"train"`
	Wait  float64 `json:"wait"`
	// Eval is the time of evaluation, Query the time of selecting labels and the reliable set.
	Eval  float64 `json:"eval"`
	Query float64 `json:"query"`
}

// Evaluated reports whether the model was evaluated after the epoch.
func (r Record) Evaluated() bool { return len(r.Accuracy) > 0 }

// Target returns the tally on the target domain, TestSplit.
func (r Record) Target() Tally { return r.pooled(TestSplit) }

// SourceVal returns the tally on the validation splits of all source domains, pooled over
// examples; it is empty if there are none.
func (r Record) SourceVal() Tally { return r.pooled(ValSplit) }

// HeldOut returns the tally on the test splits of all source domains; empty if there are none.
func (r Record) HeldOut() Tally { return r.pooled(HeldOutSplit) }

// ByClass returns counts by class on a split, pooled over its domains; nil in records of older
// versions.
func (r Record) ByClass(split string) (c ClassTallies) {
	for _, a := range r.Accuracy {
		if a.Split == split {
			c = c.Add(a.Classes)
		}
	}
	return c
}

func (r Record) pooled(split string) (t Tally) {
	for _, a := range r.Accuracy {
		if a.Split == split {
			t = t.Add(a.Tally)
		}
	}
	return t
}

// Line returns the record as one line of records.jsonl, with newline. Equal records give equal
// bytes: floats have the shortest form that reads back as the same number. An invalid record is
// an error, and so is NaN or infinity.
func (r Record) Line() ([]byte, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return encode(r, "")
}

// Validate returns an error for the first invalid field.
func (r Record) Validate() error {
	counts := []struct {
		name string
		n    int
	}{
		{"epoch", r.Epoch}, {"steps", r.Steps}, {"labels", r.Labels}, {"queried", r.Queried},
	}
	for _, c := range counts {
		if c.n < 0 {
			return fmt.Errorf("%s is %d, want 0 or more", c.name, c.n)
		}
	}
	if r.StepsTotal < r.Steps {
		return fmt.Errorf("steps_total is %d, want at least steps, %d", r.StepsTotal, r.Steps)
	}
	if p := r.PseudoLabel; p.Correct < 0 || p.Unknown < 0 || p.Accepted < p.Correct+p.Unknown || p.Total < p.Accepted {
		return fmt.Errorf("pseudo_label is %d correct and %d unknown of %d kept of %d, want 0 <= correct + unknown <= kept <= total",
			p.Correct, p.Unknown, p.Accepted, p.Total)
	}
	seen := map[[2]string]bool{}
	for _, a := range r.Accuracy {
		key := [2]string{a.Domain, a.Split}
		switch {
		case a.Domain == "":
			return fmt.Errorf("accuracy has an entry without a domain")
		case a.Split != TrainSplit && a.Split != ValSplit && a.Split != TestSplit && a.Split != HeldOutSplit:
			return fmt.Errorf("accuracy of %s has split %q, want %s, %s, %s or %s", a.Domain, a.Split, TrainSplit, ValSplit, TestSplit, HeldOutSplit)
		case seen[key]:
			return fmt.Errorf("accuracy has %s %s twice", a.Domain, a.Split)
		case a.Tally.All() == 0:
			return fmt.Errorf("accuracy of %s %s counts no examples", a.Domain, a.Split)
		}
		if err := a.validate(); err != nil {
			return err
		}
		seen[key] = true
	}
	return nil
}

// follows reports what keeps r from being the record after prev.
func (r Record) follows(prev Record) error {
	switch {
	case r.Epoch != prev.Epoch+1:
		return fmt.Errorf("epoch is %d, want %d", r.Epoch, prev.Epoch+1)
	case r.Labels != prev.Labels+prev.Queried+r.Changed:
		return fmt.Errorf("labels is %d, want the %d of epoch %d and the %d queried after it, changed by %d",
			r.Labels, prev.Labels, prev.Epoch, prev.Queried, r.Changed)
	case r.StepsTotal != prev.StepsTotal+r.Steps:
		return fmt.Errorf("steps_total is %d, want %d+%d", r.StepsTotal, prev.StepsTotal, r.Steps)
	}
	return nil
}

// encode returns v as JSON with a final newline, on one line if indent is empty, without HTML
// escapes.
func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
