package plots

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// TrainingData is the input of Training: a run so far. X is the number of trained epochs.
type TrainingData struct {
	Title, Note string
	// Epochs is the length of the whole run, above zero, and the end of the x axes.
	Epochs float64
	// Loss holds means over epochs; Source and Target are accuracies in percent, on the sources'
	// validation images and on the target. Unknown ones are empty.
	Loss, Source, Target []Point
	// Queried holds the x values of query rounds.
	Queried []float64
	// Chance is the accuracy of guessing, in percent; nil if it is unknown.
	Chance *Reference
}

// Training plots a run's loss and its accuracies from 0 to 100%, with rings at query rounds.
func Training(t Theme, d TrainingData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	g := &Grid{Theme: t, Columns: 2, Width: t.ColumnWidth, Aspect: 0.6, Title: Symbols(d.Title), Note: d.Note}
	shown := &looks{theme: t}
	var accuracies []Curve
	for _, c := range []Curve{{Name: "target", Points: d.Target}, {Name: "source validation", Points: d.Source}} {
		shown.of(c.title()) // has its colour whether or not it is known
		if len(c.Points) > 0 {
			accuracies = append(accuracies, Curve{Name: c.Name, Title: c.Title, Points: c.Points, Queried: d.Queried})
		}
	}
	var chance []Reference
	if d.Chance != nil {
		chance = append(chance, *d.Chance)
	}
	refs := &looks{theme: t, dash: true}
	ink := t
	ink.Methods = []color.Color{t.Ink}
	for _, l := range []struct {
		lines
		looks *looks
	}{
		{lines{xLabel: "Epoch", yLabel: "Loss", curves: []Curve{{Name: "loss", Points: d.Loss}}, whole: true}, &looks{theme: ink}},
		{lines{xLabel: "Epoch", yLabel: accuracyLabel, curves: accuracies, references: chance, whole: true}, shown},
	} {
		p := Panel{Plot: t.NewPlot(l.xLabel, l.yLabel)}
		if len(l.curves) > 0 {
			var err error
			if p, err = t.panel(l.lines, l.looks, refs); err != nil {
				return nil, err
			}
		}
		if l.yLabel == accuracyLabel {
			p.Plot.Y.Min, p.Plot.Y.Max = 0, 100 // so that a point does not look like ten
		}
		p.Plot.X.Min, p.Plot.X.Max = 0, 1.02*d.Epochs
		p.Plot.X.Tick.Marker = wholeTicks{}
		g.Panels = append(g.Panels, p)
	}
	g.Legend = append(shown.entries, refs.entries...)
	if len(d.Queried) > 0 && len(accuracies) > 0 {
		g.Legend = append(g.Legend, Entry{"query round", []plot.Thumbnailer{queried{draw.LineStyle{Color: t.Muted}, t}}, 0})
	}
	return g, nil
}
