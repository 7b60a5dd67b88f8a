package plots

import (
	"errors"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// SavingsData is the input of Savings.
type SavingsData struct {
	// Method and Other are the names of the two arms.
	Method, Other string
	// Curves are one per target domain: X is the number of labels of Method, the only value the
	// number with which Other has the same mean accuracy.
	Curves []Curve
	// Ticks are the names of Method's budgets by their X, such as "106 (5%)"; others are numbers.
	Ticks map[float64]string
}

// Savings plots label savings: how many labels one method needs for the accuracy of another. Points
// above the diagonal are labels saved.
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
	p, err := t.panel(lines{
		xLabel: "Labels for " + d.Method, yLabel: "Labels for " + d.Other, curves: d.Curves, markers: true, tickEvery: d.Ticks != nil, ticks: d.Ticks, ends: len(d.Curves) <= labelled,
	}, targets, targets)
	if err != nil {
		return nil, err
	}
	equal := draw.LineStyle{Color: t.Muted, Width: 0.75 * t.LineWidth, Dashes: t.scaled(dashes[1])}
	p.Plot.Y.Min = min(p.Plot.Y.Min, p.Plot.X.Min)
	p.Plot.Y.Max = max(p.Plot.Y.Max, p.Plot.X.Max)
	p.Plot.Add(diagonal{equal})
	g.Panels = []Panel{p}
	g.Legend = append(targets.entries, Entry{"equally many", []plot.Thumbnailer{stroke(equal)}, 0})
	g.Note = "Above the diagonal: labels saved at equal mean accuracy, without interval."
	return g, nil
}

// diagonal is the line y = x.
type diagonal struct{ line draw.LineStyle }

// Plot implements plot.Plotter.
func (d diagonal) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	lo, hi := math.Max(p.X.Min, p.Y.Min), math.Min(p.X.Max, p.Y.Max)
	c.StrokeLine2(d.line, x(lo), y(lo), x(hi), y(hi))
}
