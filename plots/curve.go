package plots

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	confidence = 0.95
	quarter    = math.Pi / 2
)

// Point is what the runs gave at one place of the x axis.
type Point struct {
	X      float64
	Values []float64 // one per run, in the same order of seeds everywhere
}

// Curve is one method's results, its points by rising X.
type Curve struct {
	Name   string
	Points []Point
}

// Reference is a number drawn as a horizontal line, such as the accuracy of a
// method that does not depend on what the x axis shows.
type Reference struct {
	Name string
	Y    float64
}

func (c Curve) check() error {
	if c.Name == "" {
		return fmt.Errorf("plots: a curve without a name")
	}
	if len(c.Points) == 0 {
		return fmt.Errorf("plots: curve %q has no points", c.Name)
	}
	for i, p := range c.Points {
		if err := finite("x of a point", p.X); err != nil {
			return fmt.Errorf("%w (curve %q)", err, c.Name)
		}
		if i > 0 && p.X <= c.Points[i-1].X {
			return fmt.Errorf("plots: curve %q has x = %v after %v, want rising values", c.Name, p.X, c.Points[i-1].X)
		}
		if len(p.Values) == 0 {
			return fmt.Errorf("plots: curve %q has no values at x = %v", c.Name, p.X)
		}
		if err := finite("value", p.Values...); err != nil {
			return fmt.Errorf("%w (curve %q, x = %v)", err, c.Name, p.X)
		}
	}
	return nil
}

func checkCurves(curves []Curve) error {
	if len(curves) == 0 {
		return fmt.Errorf("plots: no curves")
	}
	for i, c := range curves {
		if err := c.check(); err != nil {
			return err
		}
		for _, o := range curves[:i] {
			if o.Name == c.Name {
				return fmt.Errorf("plots: two curves are called %q", c.Name)
			}
		}
	}
	return nil
}

func checkReferences(refs []Reference) error {
	for _, r := range refs {
		if r.Name == "" {
			return fmt.Errorf("plots: a reference without a name")
		}
		if err := finite("reference", r.Y); err != nil {
			return fmt.Errorf("%w (%q)", err, r.Name)
		}
	}
	return nil
}

// look is how a method is drawn in all panels of a figure.
type look struct {
	line  draw.LineStyle
	shape shape
}

// looks hands out looks by name, in order of first appearance, and collects
// the legend.
type looks struct {
	theme   Theme
	names   []string
	dash    bool // for references: one colour, told apart by dashes
	entries []Entry
}

// enter adds a name to the legend unless it is there already.
func (l *looks) enter(name string, thumb plot.Thumbnailer) {
	if !slices.ContainsFunc(l.entries, func(e Entry) bool { return e.Name == name }) {
		l.entries = append(l.entries, Entry{Name: name, Thumbs: []plot.Thumbnailer{thumb}})
	}
}

var dashes = [][]vg.Length{nil, {4, 1.6}, {1.4, 1.4}, {6, 1.5, 1.4, 1.5}, {2.6, 1}, {8, 2}, {4, 1.3, 1.2, 1.3, 1.2, 1.3}}

func (l *looks) of(name string) look {
	i := slices.Index(l.names, name)
	if i < 0 {
		i = len(l.names)
		l.names = append(l.names, name)
	}
	if l.dash {
		col := mix(l.theme.Muted, l.theme.Background, 0.25)
		return look{line: draw.LineStyle{Color: col, Width: 0.9, Dashes: dashes[1+i%(len(dashes)-1)]}}
	}
	col := l.theme.Methods[i%len(l.theme.Methods)]
	return look{
		line:  draw.LineStyle{Color: col, Width: l.theme.LineWidth, Dashes: dashes[(i+i/len(l.theme.Methods))%len(dashes)]},
		shape: shape(i) % shapes,
	}
}

// drawn is a curve as a gonum plotter: first the bands of all curves are added
// to a plot, then the lines.
type drawn struct {
	x, mean, low, high []float64
	several            []bool // more than one run, so that there is an interval
	look               look
	markers            bool
	background         color.Color
}

func (l *looks) draw(c Curve, markers bool) (drawn, error) {
	d := drawn{look: l.of(c.Name), markers: markers, background: l.theme.Background}
	for _, p := range c.Points {
		iv, err := StudentT(p.Values, confidence)
		if err != nil {
			return drawn{}, err
		}
		d.x, d.several = append(d.x, p.X), append(d.several, len(p.Values) > 1)
		d.mean, d.low, d.high = append(d.mean, iv.Mean), append(d.low, iv.Low), append(d.high, iv.High)
	}
	return d, nil
}

// band is the interval of a drawn curve.
type band drawn

// Plot implements plot.Plotter. A point of one run has no interval: the band
// stops at the points beside it, and one between two of them has a bar.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	var upper, lower []vg.Point
	flush := func() {
		slices.Reverse(lower)
		outline := append(upper, lower...)
		switch {
		case len(upper) == 1:
			c.StrokeLines(draw.LineStyle{Color: fade(b.look.line.Color, 0.45), Width: 2.5}, c.ClipLinesY(outline)...)
		case len(upper) > 1:
			c.FillPolygon(fade(b.look.line.Color, 0.16), c.ClipPolygonY(outline))
		}
		upper, lower = nil, nil
	}
	for i := range b.x {
		if !b.several[i] {
			flush()
			continue
		}
		upper = append(upper, vg.Point{X: x(b.x[i]), Y: y(b.high[i])})
		lower = append(lower, vg.Point{X: x(b.x[i]), Y: y(b.low[i])})
	}
	flush()
}

// Plot implements plot.Plotter.
func (d drawn) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	pts := make([]vg.Point, len(d.x))
	for i := range pts {
		pts[i] = vg.Point{X: x(d.x[i]), Y: y(d.mean[i])}
	}
	c.StrokeLines(d.look.line, pts)
	if d.markers || len(pts) == 1 {
		for _, pt := range pts {
			d.marker(&c, pt)
		}
	}
}

// marker has a thin edge in the background's colour, so that those of several
// curves stay apart where they meet.
func (d drawn) marker(c *draw.Canvas, at vg.Point) {
	c.SetColor(d.background)
	c.Fill(d.look.shape.path(at, 2.6))
	c.SetColor(d.look.line.Color)
	c.Fill(d.look.shape.path(at, 2))
}

// Thumbnail implements plot.Thumbnailer.
func (d drawn) Thumbnail(c *draw.Canvas) {
	stroke(d.look.line).Thumbnail(c)
	if d.markers {
		d.marker(c, c.Center())
	}
}

// level is a horizontal line at a reference.
type level struct {
	y    float64
	line draw.LineStyle
}

// Plot implements plot.Plotter.
func (l level) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	c.StrokeLine2(l.line, c.Min.X, y(l.y), c.Max.X, y(l.y))
}

// gridLines are faint lines at the labelled ticks.
type gridLines struct {
	line       draw.LineStyle
	horizontal bool
	vertical   bool
}

// Plot implements plot.Plotter.
func (g gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if g.horizontal {
		for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
			c.StrokeLine2(g.line, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
		}
	}
	if g.vertical {
		for _, t := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
			c.StrokeLine2(g.line, x(t.Value), c.Min.Y, x(t.Value), c.Max.Y)
		}
	}
}
