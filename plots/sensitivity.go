package plots

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
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
	// Changes draws changes from the usual setting, so that results of ours and of the paper share a
	// scale. Values at the same index of a curve's points, and of a surface's cells, are of the same
	// seed.
	Changes bool
	// ValueLabel labels the axes of values. Empty means "Accuracy (%)".
	ValueLabel string
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

// changes returns the differences of values from the usual ones, value by value.
func changes(what string, values, usual []float64) ([]float64, error) {
	if len(usual) == 0 || len(values) != len(usual) {
		return nil, fmt.Errorf("plots: changes of %s: %d values, want %d as at the usual setting", what, len(values), len(usual))
	}
	return floats.SubTo(make([]float64, len(values)), values, usual), nil
}

// less are references less a value.
func less(references []Reference, by float64) (out []Reference) {
	for _, r := range references {
		out = append(out, Reference{r.Name, r.Y - by})
	}
	return out
}

// changes returns the sweep's differences from the usual setting: of a curve value by value, of
// references from the first curve's mean, of the paper's results from its own.
func (s Sweep) changes() (Sweep, error) {
	if s.Chosen == nil {
		return s, fmt.Errorf("plots: changes of %q without a usual setting", s.XLabel)
	}
	at := func(c Curve) (values []float64) {
		for _, p := range c.Points {
			if p.X == *s.Chosen {
				values = p.Values
			}
		}
		return values
	}
	out := s
	out.Curves, out.References, out.Published = nil, nil, nil
	for _, c := range s.Curves {
		points := slices.Clone(c.Points)
		for i, p := range points {
			var err error
			if points[i].Values, err = changes(fmt.Sprintf("%q at %g", c.Name, p.X), p.Values, at(c)); err != nil {
				return out, err
			}
		}
		c.Points = points
		out.Curves = append(out.Curves, c)
	}
	if len(s.Curves) > 0 {
		out.References = less(s.References, stat.Mean(at(s.Curves[0]), nil))
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
	out := s
	out.Cells = slices.Clone(s.Cells)
	for i, c := range s.Cells {
		var err error
		if out.Cells[i].Values, err = changes(fmt.Sprintf("%q at %g, %g", s.Title, c.X, c.Y), c.Values, usual); err != nil {
			return out, err
		}
	}
	out.References = less(s.References, stat.Mean(usual, nil))
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
	g := t.figureOf(len(d.Sweeps)+len(d.Surfaces), 2, 0.75, wideLetters)
	methods, refs := &looks{theme: t}, &looks{theme: t, dash: true}
	var curves []Curve
	framed := false
	chosen := draw.LineStyle{Color: t.Muted, Width: 0.8, Dashes: []vg.Length{1, 2}}
	marked := false
	label := cmp.Or(d.ValueLabel, accuracyLabel)
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

// figure returns an empty grid that is a column wide for one panel a row and a page wide for more. A panel is
// narrowLetters wide at least.
func (t Theme) figure(panels, columns int, aspect float64) *Grid {
	return t.figureOf(panels, columns, aspect, narrowLetters)
}

// narrowLetters and wideLetters are the least widths of panels, the latter for colour bars and long ticks, in sizes
// of labels.
const narrowLetters, wideLetters = 14, 19

// figureOf is [Theme.figure] with panels of a least width. A width for fewer columns has fewer; panels below one
// another are flatter.
func (t Theme) figureOf(panels, columns int, aspect float64, least int) *Grid {
	g := &Grid{Theme: t, Columns: min(columns, panels), Width: t.ColumnWidth, Aspect: aspect}
	if g.Columns > 1 {
		g.Width = t.PageWidth
	}
	for g.Columns > 1 && g.Width/vg.Length(g.Columns) < vg.Length(least)*t.LabelSize {
		if g.Columns--; g.Columns == 1 && aspect < 1 {
			g.Aspect = min(aspect, 0.5)
		}
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
