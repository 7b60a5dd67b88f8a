package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
)

// EpochsData is the input of Epochs.
type EpochsData struct {
	Title  string
	Curves []Curve // X and Queried are numbers of trained epochs
	// References are drawn as dashed lines, but for those that would flatten the only panel's curves:
	// the note has their values.
	References []Reference
	// XLabel and ValueLabel label the axes. Empty means "Epoch" and "Accuracy (%)".
	XLabel, ValueLabel string
	// Note is the first sentence of the figure's note; it may be empty.
	Note string
}

// Epochs plots results over training epochs, one line per method, with rings at query rounds
// (figure "Accuracy curve" of Yuan et al. 2022: uniform, active exploration, full CEG). The intervals
// of more than four methods stand at their ends, as bands would hide each other.
func Epochs(t Theme, d EpochsData) (*Grid, error) { return EpochsPanels(t, []EpochsData{d}) }

// EpochsPanels is [Epochs] with a panel for each of several data, such as one per target domain.
func EpochsPanels(t Theme, list []EpochsData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, errors.New("plots: curves over epochs without panels")
	}
	g := t.figure(len(list), 3, 0.85)
	if len(list) == 1 {
		g.Aspect = 0.62
	}
	methods, refs := &looks{theme: t, apart: true}, &looks{theme: t, dash: true}
	var curves []Curve
	bars := len(list) == 1 && len(list[0].Curves) > labelled
	var off []Reference
	for _, d := range list {
		if len(list) == 1 {
			d.References, off = within(d.Curves, d.References)
		}
		p, err := t.panel(lines{
			title: d.Title, xLabel: cmp.Or(d.XLabel, "Epoch"), yLabel: cmp.Or(d.ValueLabel, accuracyLabel), curves: d.Curves,
			references: d.References, whole: true, ends: t.Legend == "" && len(list) == 1 && len(d.Curves) <= labelled, bars: bars,
		}, methods, refs)
		if err != nil {
			return nil, err
		}
		g.Panels = append(g.Panels, p)
		curves = append(curves, d.Curves...)
	}
	if len(list) > 1 {
		shareY(g.Panels)
	}
	methods.byEnds(list[len(list)-1].Curves)
	g.Legend = append(methods.entries, refs.entries...)
	if slices.ContainsFunc(curves, func(c Curve) bool { return len(c.Queried) > 0 }) {
		g.Legend = append(g.Legend, Entry{"query round", []plot.Thumbnailer{queried{draw.LineStyle{Color: t.Muted}, t}}, 0})
	}
	band := "band"
	if bars {
		band = "bars at the right, of the last epoch"
	}
	first := ""
	for _, d := range list {
		first = cmp.Or(first, d.Note)
	}
	g.Note = firstNote(first) + t.note(true, band, curves)
	for _, r := range off {
		g.Note += fmt.Sprintf(" Beyond the axis: %s (%s).", r.Name, number(r.Y, 2))
	}
	return g, nil
}

// firstNote is a note that others follow.
func firstNote(text string) string {
	if text == "" {
		return ""
	}
	return text + " "
}

// within divides references into those that are at most as far from the values of curves as these
// span, and others.
func within(curves []Curve, references []Reference) (near, off []Reference) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, c := range curves {
		for _, p := range c.Points {
			for _, v := range p.Values {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	for _, r := range references {
		if r.Y < lo-(hi-lo) || r.Y > hi+(hi-lo) {
			off = append(off, r)
		} else {
			near = append(near, r)
		}
	}
	return near, off
}
