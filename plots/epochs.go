package plots

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// EpochsData is what Epochs draws.
type EpochsData struct {
	Title  string
	Curves []Curve // X is the number of epochs trained
	// Queries are the numbers of epochs after which labels were asked for.
	Queries []float64
	// References are drawn as dashed lines.
	References []Reference
	// XLabel and ValueLabel name the axes. Empty means "Epoch" and "Accuracy (%)".
	XLabel, ValueLabel string
}

// Epochs shows a result over the epochs of training, one line per method, with
// the query rounds marked by vertical lines (figure "Accuracy curve" of Yuan et
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
	query := draw.LineStyle{Color: mix(t.Muted, t.Background, 0.4), Width: 0.6, Dashes: []vg.Length{1, 1.8}}
	p, err := t.panel(lines{
		title: d.Title, xLabel: d.XLabel, yLabel: d.ValueLabel, curves: d.Curves,
		references: d.References, marks: d.Queries, markStyle: query, whole: true,
	}, methods, refs)
	if err != nil {
		return nil, err
	}
	g.Panels = []Panel{p}
	g.Legend = append(methods.entries, refs.entries...)
	if len(d.Queries) > 0 {
		g.Legend = append(g.Legend, Entry{"query round", []plot.Thumbnailer{upright{line: query}}, dotWidth})
	}
	g.Note = runsNote(true, d.Curves...)
	return g, nil
}
