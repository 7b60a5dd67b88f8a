package plots

import "errors"

// SavingsData is the input of Savings.
type SavingsData struct {
	// Method and Other are the names of the two arms.
	Method, Other string
	// Curves are one per target domain: X is the number of labels of Method, the only value the
	// number with which Other has the same mean accuracy, divided by X.
	Curves []Curve
	// Ticks are the names of Method's budgets by their X, such as "106 (5%)"; others are numbers.
	Ticks map[float64]string
}

// Savings plots label savings: how many times as many labels one method needs for the accuracy of
// another. Points above 1 are labels saved.
func Savings(t Theme, d SavingsData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(d.Curves) == 0 {
		return nil, errors.New("plots: savings without targets")
	}
	g := t.figure(1, 1, 0.8)
	domains := t
	domains.Methods = t.Domains // as in an embedding
	targets := &looks{theme: domains}
	for i, c := range d.Curves {
		targets.take(c.Name, i)
	}
	refs := &looks{theme: t, dash: true}
	p, err := t.panel(lines{
		title:  "Labels that " + d.Other + " needs for the accuracy of " + d.Method,
		xLabel: "Labels for " + d.Method, yLabel: "Times as many labels", curves: d.Curves, markers: true, log: true,
		references: []Reference{{"equally many labels", 1}}, tickEvery: d.Ticks != nil, ticks: d.Ticks, ends: t.Legend == "" && len(d.Curves) <= labelled,
	}, targets, refs)
	if err != nil {
		return nil, err
	}
	g.Panels = []Panel{p}
	g.Legend = append(targets.entries, refs.entries...)
	g.Note = "Above 1: labels saved at equal mean accuracy, without interval."
	return g, nil
}
