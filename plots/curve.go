package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
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

// Point holds the runs' values at one x.
type Point struct {
	X      float64
	Values []float64 // one per run, in the same order of seeds everywhere
}

// Curve is one method's results, with points by increasing X.
type Curve struct {
	// Name identifies the curve in its panel.
	Name string
	// Title is the display name of the curve's arm, which determines its colour, dash and marker
	// in every figure; empty for the name.
	Title  string
	Points []Point
	// Queried holds the x values of query rounds, marked by Epochs.
	Queried []float64
}

// Reference is a horizontal line, such as the accuracy of a method that does not depend on x.
type Reference struct {
	Name string
	Y    float64
}

// title is what the legend calls the curve.
func (c Curve) title() string { return cmp.Or(c.Title, c.Name) }

func (c Curve) check() error {
	if c.Name == "" {
		return fmt.Errorf("plots: a curve without a name")
	}
	if len(c.Points) == 0 {
		return fmt.Errorf("plots: curve %q has no points", c.Name)
	}
	if err := finite("query round", c.Queried...); err != nil {
		return fmt.Errorf("%w (curve %q)", err, c.Name)
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

// looks assigns looks by name: arms have the looks of the theme, other names get the remaining
// ones in order of first appearance. Where two would have one colour, the later name gets a free
// one. It also collects the legend.
type looks struct {
	theme   Theme
	places  map[string]int   // in the theme's list, or what was free
	dashOf  map[string]int   // index in dashes
	shapeOf map[string]shape // different ones while there are any
	apart   bool             // no two names have one dash, for curves without markers
	dash    bool             // for references: one colour, distinguished by dashes
	entries []Entry
}

// enter adds a name to the legend unless it is there already.
func (l *looks) enter(name string, thumb plot.Thumbnailer) {
	name = Symbols(name)
	if !slices.ContainsFunc(l.entries, func(e Entry) bool { return e.Name == name }) {
		l.entries = append(l.entries, Entry{Name: name, Thumbs: []plot.Thumbnailer{thumb}})
	}
}

var dashes = [][]vg.Length{nil, {4, 1.6}, {1.4, 1.4}, {6, 1.5, 1.4, 1.5}, {2.6, 1}, {8, 2}, {4, 1.3, 1.2, 1.3, 1.2, 1.3}}

// meet gives arms their places before any other name gets one: first arms of the theme in its
// order, then their variants, which share an arm's look if nothing else in the figure has it. Others
// have what follows from their names, unless that is taken.
func (l *looks) meet(curves []Curve) {
	for _, free := range []bool{true, false} { // those that can keep their colours first
		for i, arm := range l.theme.Arms {
			if named := func(c Curve) bool { return c.title() == arm }; slices.ContainsFunc(curves, named) {
				if place := l.nearest(i); place == i || !free {
					l.take(arm, place)
				}
			}
		}
	}
	for _, c := range curves {
		if i := l.baseOf(c.title()); i >= 0 && !slices.Contains(slices.Collect(maps.Values(l.places)), i) {
			l.take(c.title(), i)
		}
	}
	for _, c := range curves {
		if c.Title != "" {
			l.take(c.Title, l.nearest(l.placeOf(c.Title)))
		}
	}
}

// nearest returns the first place, from one on, whose colour is unused and not kept for others, or
// else that is unused.
func (l *looks) nearest(place int) int {
	colors, places := map[int]bool{}, map[int]bool{}
	n := len(l.theme.Methods)
	for _, p := range l.places {
		colors[p%n], places[p] = true, true
	}
	for p := place; p < place+n; p++ {
		if !colors[p%n] && (place < maxArms || !slices.Contains(keptColours, p%n)) {
			return p
		}
	}
	for places[place] {
		place++
	}
	return place
}

func (l *looks) take(name string, place int) {
	if l.places == nil {
		l.places, l.dashOf, l.shapeOf = map[string]int{}, map[string]int{}, map[string]shape{}
	}
	if _, ok := l.places[name]; ok {
		return
	}
	n := len(l.theme.Methods)
	l.shapeOf[name] = l.freeShape(shape(place+place/n) % shapes)
	dash := (place + place/n) % len(dashes)
	used := func(dash int, color bool) bool {
		for other, p := range l.places {
			if l.dashOf[other] == dash && (!color || p%n == place%n) {
				return true
			}
		}
		return false
	}
	// A dash that no other name has, or else no other of this colour.
	for _, color := range []bool{!l.apart, true} {
		for i := range dashes {
			if d := (dash + i) % len(dashes); !used(d, color) {
				l.places[name], l.dashOf[name] = place, d
				return
			}
		}
	}
	l.places[name], l.dashOf[name] = place, dash
}

func (l *looks) of(name string) look {
	if _, ok := l.places[name]; !ok {
		if l.dash {
			l.take(name, len(l.places))
		} else {
			l.meet([]Curve{{Name: name}})
			l.take(name, l.nearest(0))
		}
	}
	i, n := l.places[name], len(l.theme.Methods)
	if l.dash {
		col := mix(l.theme.Muted, l.theme.Background, 0.25)
		return look{line: draw.LineStyle{Color: col, Width: 0.75 * l.theme.LineWidth, Dashes: l.theme.scaled(dashes[1+i%(len(dashes)-1)])}}
	}
	return look{
		line:  draw.LineStyle{Color: l.theme.Methods[i%n], Width: l.theme.LineWidth, Dashes: l.theme.scaled(dashes[l.dashOf[name]])},
		shape: l.shapeOf[name],
	}
}

// freeShape returns the first shape, from one on, that no name has; that one if all are taken.
func (l *looks) freeShape(first shape) shape {
	taken := slices.Collect(maps.Values(l.shapeOf))
	for i := range shapes {
		if s := (first + i) % shapes; !slices.Contains(taken, s) {
			return s
		}
	}
	return first
}

// scaled are lengths that go with the width of lines, as they are in print.
func (t Theme) scaled(lengths []vg.Length) []vg.Length {
	out := slices.Clone(lengths)
	for i := range out {
		out[i] *= t.mark()
	}
	return out
}

// mark is how much larger marks are than in print.
func (t Theme) mark() vg.Length { return t.LineWidth / 1.2 }

// drawn is a curve as a gonum plotter: first the bands of all curves are added
// to a plot, then the lines.
type drawn struct {
	x, mean, low, high []float64
	several            []bool // enough runs for a band
	values             [][]float64
	queried            []float64
	look               look
	markers            bool
	theme              Theme
}

// enough is the smallest number of runs for which a band is drawn.
func (t Theme) enough() int { return cmp.Or(t.BandFrom, 5) }

func (l *looks) draw(c Curve, markers bool) drawn {
	d := drawn{look: l.of(c.title()), markers: markers, theme: l.theme, queried: c.Queried}
	enough := l.theme.enough()
	for _, p := range c.Points {
		mean, low, high := l.theme.Band.interval(p.Values)
		if len(p.Values) < enough {
			low, high = mean, mean
		}
		d.x, d.several, d.values = append(d.x, p.X), append(d.several, len(p.Values) >= enough), append(d.values, p.Values)
		d.mean, d.low, d.high = append(d.mean, mean), append(d.low, low), append(d.high, high)
	}
	return d
}

// clip ends the intervals of accuracies at 0 and at 100%.
func (d drawn) clip() {
	for i := range d.x {
		d.low[i], d.high[i] = max(d.low[i], 0), min(d.high[i], 100)
	}
}

// band is the interval of a drawn curve.
type band drawn

// Plot implements plot.Plotter. A point of fewer runs than enough has no interval: the
// band stops at the points beside it, and one between two of them has a bar.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	if b.theme.ErrorBars {
		b.bars(c, x, y)
		return
	}
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

func (d drawn) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	pts := make([]vg.Point, len(d.x))
	for i := range pts {
		pts[i] = vg.Point{X: x(d.x[i]), Y: y(d.mean[i])}
	}
	c.StrokeLines(d.look.line, c.ClipLinesXY(pts)...)
	if d.markers || len(pts) == 1 {
		for _, pt := range pts {
			d.marker(&c, pt)
		}
	}
	if d.theme.Band != None { // few runs are shown one by one
		size := 1.2 * d.theme.mark()
		if !d.markers { // points are dense
			size = 0.8 * d.theme.mark()
		}
		for i, values := range d.values {
			for _, v := range values {
				if len(values) > 1 && !d.several[i] {
					c.SetColor(fade(d.look.line.Color, 0.6))
					if at := (vg.Point{X: pts[i].X, Y: y(v)}); c.Contains(at) {
						c.Fill(circle.path(at, size))
					}
				}
			}
		}
	}
	for _, at := range d.queried {
		if v, ok := d.at(at); ok {
			queried{d.look.line, d.theme}.draw(&c, vg.Point{X: x(at), Y: y(v)})
		}
	}
}

// at is the height of the line at x; ok is false beyond its ends.
func (d drawn) at(x float64) (y float64, ok bool) {
	i, found := slices.BinarySearch(d.x, x)
	switch {
	case found:
		return d.mean[i], true
	case i == 0 || i == len(d.x):
		return 0, false
	}
	share := (x - d.x[i-1]) / (d.x[i] - d.x[i-1])
	return d.mean[i-1] + share*(d.mean[i]-d.mean[i-1]), true
}

// queried marks query rounds by a ring on the curve.
type queried struct {
	line  draw.LineStyle
	theme Theme
}

func (a queried) draw(c *draw.Canvas, at vg.Point) {
	c.SetColor(a.line.Color)
	c.Fill(circle.path(at, 2.4*a.theme.mark()))
	c.SetColor(a.theme.Background)
	c.Fill(circle.path(at, 1.4*a.theme.mark()))
}

func (a queried) Thumbnail(c *draw.Canvas) { a.draw(c, c.Center()) }

// marker has a thin edge in the background's colour, so that the markers of crossing curves stay
// distinct.
func (d drawn) marker(c *draw.Canvas, at vg.Point) {
	if !c.Contains(at) {
		return // beyond a range that was set
	}
	c.SetColor(d.theme.Background)
	c.Fill(d.look.shape.path(at, 2.6*d.theme.mark()))
	c.SetColor(d.look.line.Color)
	c.Fill(d.look.shape.path(at, 2*d.theme.mark()))
}

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

func (l level) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	if at := y(l.y); at >= c.Min.Y && at <= c.Max.Y {
		c.StrokeLine2(l.line, c.Min.X, at, c.Max.X, at)
	}
}

// gridLines are horizontal lines of a colour at the ticks.
type gridLines struct{ color color.Color }

func (g gridLines) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for _, t := range p.Y.Tick.Marker.Ticks(p.Y.Min, p.Y.Max) {
		c.StrokeLine2(draw.LineStyle{Color: g.color, Width: 0.5}, c.Min.X, y(t.Value), c.Max.X, y(t.Value))
	}
}
