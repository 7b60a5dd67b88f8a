package plots

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// EpochsData is the input of Epochs.
type EpochsData struct {
	Title  string
	Curves []Curve // X and Queried are numbers of trained epochs
	// References are drawn as dashed lines.
	References []Reference
	// XLabel and ValueLabel label the axes. Empty means "Epoch" and "Accuracy (%)".
	XLabel, ValueLabel string
}

// Epochs plots results over training epochs, one line per method, with rings at query rounds
// (figure "Accuracy curve" of Yuan et al. 2022: uniform, active exploration, full CEG).
func Epochs(t Theme, d EpochsData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if d.XLabel == "" {
		d.XLabel = "Epoch"
	}
	if d.ValueLabel == "" {
		d.ValueLabel = accuracyLabel
	}
	g := t.figure(1, 1, 0.62)
	methods, refs := &looks{theme: t}, &looks{theme: t, dash: true}
	p, err := t.panel(lines{
		title: d.Title, xLabel: d.XLabel, yLabel: d.ValueLabel, curves: d.Curves,
		references: d.References, whole: true,
	}, methods, refs)
	if err != nil {
		return nil, err
	}
	g.Panels = []Panel{p}
	methods.byEnds(d.Curves)
	g.Legend = append(methods.entries, refs.entries...)
	if slices.ContainsFunc(d.Curves, func(c Curve) bool { return len(c.Queried) > 0 }) {
		g.Legend = append(g.Legend, Entry{"query round", []plot.Thumbnailer{asked{draw.LineStyle{Color: t.Muted}, t}}, 0})
	}
	g.Note = t.runsNote(true, d.Curves...)
	return g, nil
}
