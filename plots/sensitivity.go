package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sweep is one setting varied by itself: a panel of curves, usually one per data set.
type Sweep struct {
	Title  string
	XLabel string // the setting, such as "weight δ"
	Curves []Curve
	// References are other methods' results, drawn as dashed lines.
	References []Reference
	// Chosen is the method's default value, or nil.
	Chosen *float64
	// Published are results of the paper, on other data.
	Published []Published
}

// SensitivityData is the input of Sensitivity: sweeps, then surfaces.
type SensitivityData struct {
	Sweeps   []Sweep
	Surfaces []Surface
	// ValueLabel labels the values. Empty means "Accuracy (%)".
	ValueLabel string
	// Changes draws changes from the usual setting, so that results of ours and of the paper share a
	// scale. Values at the same index of a curve's points, and of a surface's cells, are of the same
	// seed.
	Changes bool
}

const accuracyLabel = "Accuracy (%)"

// wide reports whether the values of a sweep span more than a factor of thirty: their axis is
// logarithmic then.
func (s Sweep) wide() bool {
	least, most := math.Inf(1), 0.0
	for _, c := range s.Curves {
		for _, p := range c.Points {
			least, most = min(least, p.X), max(most, p.X)
		}
	}
	return least > 0 && most > 30*least
}

// changes returns the sweep's differences from the usual setting: of a curve value by value, of
// references from the first curve's mean, of the paper's results from its own.
func (s Sweep) changes() (Sweep, error) {
	if s.Chosen == nil {
		return s, fmt.Errorf("plots: changes of %q without a usual setting", s.XLabel)
	}
	at := func(c Curve) []float64 {
		for _, p := range c.Points {
			if p.X == *s.Chosen {
				return p.Values
			}
		}
		return nil
	}
	out := s
	out.Curves, out.References, out.Published = nil, nil, nil
	for _, c := range s.Curves {
		usual, points := at(c), []Point(nil)
		for _, p := range c.Points {
			if len(p.Values) != len(usual) {
				return out, fmt.Errorf("plots: changes of %q at %g: %d values, want %d as at the usual setting", c.Name, p.X, len(p.Values), len(usual))
			}
			q := Point{X: p.X}
			for i, v := range p.Values {
				q.Values = append(q.Values, v-usual[i])
			}
			points = append(points, q)
		}
		c.Points = points
		out.Curves = append(out.Curves, c)
	}
	if len(s.Curves) > 0 {
		mean := stat.Mean(at(s.Curves[0]), nil)
		for _, r := range s.References {
			out.References = append(out.References, Reference{r.Name, r.Y - mean})
		}
	}
	for _, p := range s.Published {
		i := slices.IndexFunc(p.Points, func(q PublishedPoint) bool { return q.X == *s.Chosen })
		if i < 0 {
			continue
		}
		change := Published{Name: p.Name}
		for _, q := range p.Points {
			change.Points = append(change.Points, PublishedPoint{q.X, q.Y - p.Points[i].Y})
		}
		out.Published = append(out.Published, change)
	}
	return out, nil
}

// changes returns the surface's differences from the chosen cell, value by value, and the
// references' from its mean.
func (s Surface) changes() (Surface, error) {
	var usual []float64
	for _, c := range s.Cells {
		if s.Chosen != nil && *s.Chosen == [2]float64{c.X, c.Y} {
			usual = c.Values
		}
	}
	if usual == nil {
		return s, fmt.Errorf("plots: changes of %q without a usual setting", s.Title)
	}
	out := s
	out.Cells, out.References = nil, nil
	for _, c := range s.Cells {
		if len(c.Values) != len(usual) {
			return out, fmt.Errorf("plots: changes of %q at %g, %g: %d values, want %d as at the usual setting", s.Title, c.X, c.Y, len(c.Values), len(usual))
		}
		d := Cell{X: c.X, Y: c.Y}
		for i, v := range c.Values {
			d.Values = append(d.Values, v-usual[i])
		}
		out.Cells = append(out.Cells, d)
	}
	mean := stat.Mean(usual, nil)
	for _, r := range s.References {
		out.References = append(out.References, Reference{r.Name, r.Y - mean})
	}
	return out, nil
}

// Sensitivity plots how results depend on settings: a panel of lines per swept setting and a
// heat map per pair of settings, with other methods as reference lines (figure "Sensitivity" of
// Yuan et al. 2022: delta, T and gamma1 x gamma2). Two panels form a row, a single one a column.
func Sensitivity(t Theme, d SensitivityData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(d.Sweeps)+len(d.Surfaces) == 0 {
		return nil, errors.New("plots: sensitivity without sweeps and surfaces")
	}
	if d.ValueLabel == "" {
		d.ValueLabel = accuracyLabel
	}
	g := t.figure(len(d.Sweeps)+len(d.Surfaces), 2, 0.75)
	methods, refs := &looks{theme: t}, &looks{theme: t, dash: true}
	var curves []Curve
	framed := false
	chosen := draw.LineStyle{Color: t.Muted, Width: 0.8, Dashes: []vg.Length{1, 2}}
	marked := false
	label := d.ValueLabel
	if d.Changes {
		label = "Change (pp)"
	}
	for _, s := range d.Sweeps {
		if d.Changes {
			var err error
			if s, err = s.changes(); err != nil {
				return nil, err
			}
		}
		l := lines{
			title: s.Title, xLabel: s.XLabel, yLabel: label, curves: s.Curves, references: s.References,
			markStyle: chosen, tickEvery: true, markers: true, published: s.Published, log: s.wide(),
		}
		if s.Chosen != nil {
			l.marks = []float64{*s.Chosen}
			marked = true
		}
		p, err := t.panel(l, methods, refs)
		if err != nil {
			return nil, err
		}
		g.Panels = append(g.Panels, p)
		curves = append(curves, s.Curves...)
	}
	shareY(g.Panels)
	var notes []string
	for _, s := range d.Surfaces {
		if d.Changes {
			var err error
			if s, err = s.changes(); err != nil {
				return nil, err
			}
		}
		p, note, err := t.heatMap(s, label, refs)
		if err != nil {
			return nil, err
		}
		g.Panels = append(g.Panels, p)
		notes = append(notes, note)
		for _, c := range s.Cells {
			curves = append(curves, Curve{Points: []Point{{Values: c.Values}}})
		}
		framed = framed || s.Chosen != nil
	}
	g.Legend = append(methods.entries, refs.entries...)
	if marked {
		g.Legend = append(g.Legend, Entry{"usual setting", []plot.Thumbnailer{upright{line: chosen}}, dotWidth})
	}
	g.Note = t.runsNote(len(d.Sweeps) > 0, curves...)
	if d.Changes {
		g.Note += " Changes are from the usual setting, paired by seed; the paper's from its own."
	}
	if framed {
		g.Note += " Frame: usual setting."
	}
	g.Note += strings.Join(notes, "")
	return g, nil
}

// figure returns an empty grid that is a column wide for one panel a row and a
// page wide for more.
func (t Theme) figure(panels, columns int, aspect float64) *Grid {
	g := &Grid{Theme: t, Columns: min(columns, panels), Width: t.ColumnWidth, Aspect: aspect}
	if g.Columns > 1 {
		g.Width = t.PageWidth
	}
	return g
}

// sameLength checks lists that describe the same items.
func sameLength(what string, got, want int) error {
	if got != want {
		return fmt.Errorf("plots: %d %s, want %d", got, what, want)
	}
	return nil
}
