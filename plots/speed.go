package plots

import "errors"

// Growth is one panel of Speed: the time of a step as a function of one number.
type Growth struct {
	Title  string
	XLabel string
	// Curves are one per engine; values are seconds, one per measurement.
	Curves []Curve
}

// Speed plots the time of a training step, a panel per parameter and a line per engine. Axes are
// logarithmic if the numbers span a factor of eight or more.
func Speed(t Theme, panels []Growth) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(panels) == 0 {
		return nil, errors.New("plots: speed without panels")
	}
	g := t.figure(len(panels), 3, 0.85)
	engines := &looks{theme: t}
	var curves []Curve
	for _, p := range panels {
		drawn, err := t.panel(lines{
			title: p.Title, xLabel: p.XLabel, yLabel: "Seconds per step", curves: p.Curves,
			tickEvery: true, markers: true, log: logarithmic([]Target{{Curves: p.Curves}}),
		}, engines, engines)
		if err != nil {
			return nil, err
		}
		drawn.Plot.Y.Min = 0 // a share of a time can be seen only from zero
		g.Panels = append(g.Panels, drawn)
		curves = append(curves, p.Curves...)
	}
	g.Legend = engines.entries
	g.Note = t.runsNote(true, curves...)
	return g, nil
}
