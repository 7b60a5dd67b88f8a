package plots

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ReliabilityData is the input of Reliability: a panel for each set of images.
type ReliabilityData struct {
	Panels []ReliabilityPanel
	Note   string
}

// ReliabilityPanel compares a network's confidence with its accuracy.
type ReliabilityPanel struct {
	Title string
	// Curves have a point for each non-empty bin: X is the mean confidence, Y the accuracy, both
	// in [0, 1].
	Curves []ReliabilityCurve
}

// ReliabilityCurve is one line of a panel.
type ReliabilityCurve struct {
	Name   string
	Points []XY
}

// XY is a point.
type XY = plotter.XY

// Reliability plots accuracy over confidence with the diagonal of perfect calibration; a network
// below it is overconfident.
func Reliability(t Theme, d ReliabilityData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(d.Panels) == 0 {
		return nil, errors.New("plots: a reliability figure without panels")
	}
	g := t.figure(len(d.Panels), min(len(d.Panels), 2), 1)
	looks := &looks{theme: t}
	ideal := draw.LineStyle{Color: t.Muted, Width: 0.6, Dashes: []vg.Length{2, 2}}
	for _, panel := range d.Panels {
		p := t.NewPlot("Confidence", "Accuracy")
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
		p.Add(&plotter.Line{XYs: plotter.XYs{{X: 0, Y: 0}, {X: 1, Y: 1}}, LineStyle: ideal})
		for _, c := range panel.Curves {
			for _, at := range c.Points {
				if !(at.X >= 0 && at.X <= 1 && at.Y >= 0 && at.Y <= 1) {
					return nil, fmt.Errorf("plots: %s, %s: confidence %v and accuracy %v, want 0 to 1", panel.Title, c.Name, at.X, at.Y)
				}
			}
			look := looks.of(c.Name)
			line := &plotter.Line{XYs: c.Points, LineStyle: look.line}
			dots := draw.GlyphStyle{Color: look.line.Color, Radius: 1.6, Shape: draw.CircleGlyph{}}
			p.Add(line, &plotter.Scatter{XYs: c.Points, GlyphStyle: dots})
			looks.enter(c.Name, line)
		}
		g.Panels = append(g.Panels, Panel{Title: panel.Title, Plot: p})
	}
	g.Legend = append(looks.entries, Entry{"perfect calibration", []plot.Thumbnailer{&plotter.Line{LineStyle: ideal}}, 0})
	g.Note = d.Note
	return g, nil
}
