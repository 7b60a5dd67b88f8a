package site

import (
	"fmt"
	"slices"

	"github.com/ledg-go/ledg/ceg/active/head"
	"github.com/ledg-go/ledg/ceg/evaluate/audit"
)

// NamesReport compares class names alone, without a label, with the run on an audit.
type NamesReport struct {
	// Accuracy is that of names alone, Gain what the head in use adds to it; Pairs are the paired
	// counts, names first.
	Accuracy audit.Interval `json:"accuracy"`
	Gain     audit.Interval `json:"gain"`
	Pairs    audit.Paired   `json:"pairs"`
}

// MeasureNames evaluates names on the labelled audit images of a visit; names are their logits [n, C] for
// the images of part. It is nil without labels.
func (v *Visit) MeasureNames(classes []string, part Part, names head.Matrix, adapted *head.Linear, label func(id string) Label) *NamesReport {
	alone := part
	alone.Logits = names
	byNames, named := v.labelled(alone, label)
	if len(named) == 0 {
		return nil
	}
	byRun, _ := v.labelled(part, label)
	r := &NamesReport{}
	own, now := Best(byNames.Logits), Best(LogitsOf(byRun, adapted))
	for k, class := range named {
		at := slices.Index(classes, class)
		r.Pairs.Add(own[k] == at, now[k] == at)
	}
	r.Accuracy, r.Gain = audit.Wilson(r.Pairs.Before()), audit.Gain(r.Pairs)
	return r
}

// String is the row of the report, and what it says about labels.
func (r *NamesReport) String() string {
	line := fmt.Sprintf("names alone      %v   %v right; the network in use gains %+.0f points, %+.0f to %+.0f", r.Accuracy, r.Pairs.Before(), 100*r.Gain.Share, 100*r.Gain.Low, 100*r.Gain.High)
	if says := r.Gain.OverNames(); says != "" {
		line += " (" + says + ")"
	}
	return line
}
