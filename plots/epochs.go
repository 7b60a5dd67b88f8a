package plots

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// EpochsData is what Epochs draws.
type EpochsData struct {
	Title  string
	Curves []Curve // X and Asked are numbers of epochs trained
	// References are drawn as dashed lines.
	References []Reference
	// XLabel and ValueLabel name the axes. Empty means "Epoch" and "Accuracy (%)".
	XLabel, ValueLabel string
}

// Epochs shows a result over the epochs of training, one line per method, with
// rings on the curves where labels were asked for (figure "Accuracy curve" of Yuan et
// al. 2022: uniform, active exploration, full CEG).
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
	g.Legend = append(methods.entries, refs.entries...)
	if slices.ContainsFunc(d.Curves, func(c Curve) bool { return len(c.Asked) > 0 }) {
		g.Legend = append(g.Legend, Entry{"labels asked for", []plot.Thumbnailer{asked{draw.LineStyle{Color: t.Muted}, t}}, 0})
	}
	g.Note = runsNote(true, d.Curves...)
	return g, nil
}
