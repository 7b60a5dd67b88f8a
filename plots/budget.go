package plots

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Target holds the curves of one target domain.
type Target struct {
	Name   string
	Curves []Curve
}

// BudgetData is the input of Budget.
type BudgetData struct {
	Targets []Target
	// XLabel labels the x axis. Empty means "Labelled images (%)".
	XLabel string
	// Ticks are the names of budgets by their X, such as "5%"; others are numbers.
	Ticks map[float64]string
	// ValueLabel labels the y axis. Empty means "Accuracy (%)".
	ValueLabel string
	// References are, for each target in the order of Targets, results to compare with, such as
	// training with all labels. Nil for none. The average panel shows the mean of those that
	// every target has.
	References [][]Reference
	// Note is the first sentence of the figure's note; it may be empty.
	Note string
}

// Budget plots results over the annotation budget, one line per method: a panel per target
// domain and, with several, their average (figure "Increasing budget" of Yuan et al. 2022). The
// x axis is logarithmic if budgets span a factor of five or more. [Average] defines the average
// panel.
func Budget(t Theme, d BudgetData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(d.Targets) == 0 {
		return nil, errors.New("plots: budget curves without targets")
	}
	if d.References != nil {
		if err := sameLength("lists of references", len(d.References), len(d.Targets)); err != nil {
			return nil, err
		}
	}
	d.XLabel = cmp.Or(d.XLabel, "Labelled images (%)")
	d.ValueLabel = cmp.Or(d.ValueLabel, accuracyLabel)
	targets, references := slices.Clone(d.Targets), slices.Clone(d.References)
	note := ""
	if len(targets) > 1 {
		for _, g := range targets {
			if err := checkCurves(g.Curves); err != nil {
				return nil, fmt.Errorf("%w (target %q)", err, g.Name)
			}
		}
		if curves := Average(d.Targets); len(curves) > 0 {
			targets = append(targets, Target{"Average", curves})
			references = append(references, averageReferences(d.References))
			if missing := countPoints(d.Targets) - len(d.Targets)*countPoints(targets[len(targets)-1:]); missing > 0 {
				note = " Average: only where all targets have the same number of runs."
			}
		} else {
			note = " No average: no budget has the same number of runs for all targets."
		}
	}
	g := t.figure(len(targets), 3, 0.85)
	if len(targets) == 1 {
		g.Aspect = 0.62
	}
	methods, refs := &looks{theme: t}, &looks{theme: t, dash: true}
	var curves []Curve
	log := logarithmic(targets)
	for i, target := range targets {
		l := lines{
			title: target.Name, xLabel: d.XLabel, yLabel: d.ValueLabel, curves: target.Curves,
			tickEvery: true, markers: true, log: log, ticks: d.Ticks, ends: t.Legend == "" && len(targets) == 1 && len(target.Curves) <= labelled,
		}
		if d.References != nil {
			l.references = references[i]
		}
		p, err := t.panel(l, methods, refs)
		if err != nil {
			return nil, err
		}
		g.Panels = append(g.Panels, p)
		curves = append(curves, target.Curves...)
	}
	shareY(g.Panels)
	methods.byEnds(targets[len(targets)-1].Curves)
	g.Legend = append(methods.entries, refs.entries...)
	g.Note = firstNote(d.Note) + t.runsNote(true, curves...) + note
	return g, nil
}

// Average returns, for every method that all targets have, its mean over targets run by run:
// value s of a point is the mean of the targets' values s. Points without equally many values
// for every target are left out, since their runs cannot be paired, and so are methods without
// points.
func Average(targets []Target) []Curve {
	var out []Curve
	if len(targets) == 0 {
		return nil
	}
	for _, c := range targets[0].Curves {
		mean := Curve{Name: c.Name, Title: c.Title}
	points:
		for _, p := range c.Points {
			values := make([]float64, len(p.Values))
			for _, g := range targets {
				v := valuesAt(g.Curves, c.Name, p.X)
				if len(v) != len(values) || len(v) == 0 {
					continue points
				}
				for s := range values {
					values[s] += v[s] / float64(len(targets))
				}
			}
			mean.Points = append(mean.Points, Point{X: p.X, Values: values})
		}
		if len(mean.Points) > 0 {
			out = append(out, mean)
		}
	}
	return out
}

func valuesAt(curves []Curve, name string, x float64) []float64 {
	for _, c := range curves {
		for _, p := range c.Points {
			if c.Name == name && p.X == x {
				return p.Values
			}
		}
	}
	return nil
}

// averageReferences returns the means of the references that all lists have.
func averageReferences(lists [][]Reference) []Reference {
	var out []Reference
	if len(lists) == 0 {
		return nil
	}
	for _, r := range lists[0] {
		sum, n := 0.0, 0
		for _, list := range lists {
			if i := slices.IndexFunc(list, func(o Reference) bool { return o.Name == r.Name }); i >= 0 {
				sum, n = sum+list[i].Y, n+1
			}
		}
		if n == len(lists) {
			out = append(out, Reference{r.Name, sum / float64(n)})
		}
	}
	return out
}

func countPoints(targets []Target) (n int) {
	for _, g := range targets {
		for _, c := range g.Curves {
			n += len(c.Points)
		}
	}
	return n
}

func logarithmic(targets []Target) bool {
	var xs []float64
	for _, g := range targets {
		for _, c := range g.Curves {
			for _, p := range c.Points {
				xs = append(xs, p.X)
			}
		}
	}
	return len(xs) > 0 && slices.Min(xs) > 0 && slices.Max(xs) >= 5*slices.Min(xs)
}
