package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// DotsData is the input of Dots.
type DotsData struct {
	Title string
	// Groups are drawn side by side, such as target domains. Name is the group's; the X of its
	// curves' single points does not matter.
	Groups []Target
	// References are drawn as dashed lines.
	References []Reference
	// ValueLabel labels the y axis. Empty means "Accuracy (%)".
	ValueLabel string
	// Note is the first sentence of the figure's note; it may be empty.
	Note string
}

// Dots plots results of methods, grouped by target domain: the mean with its band as a bar, and small
// dots for single runs where there are several.
func Dots(t Theme, d DotsData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(d.Groups) == 0 {
		return nil, fmt.Errorf("plots: dots without groups")
	}
	d.ValueLabel = cmp.Or(d.ValueLabel, accuracyLabel)
	p := t.NewPlot("", Symbols(d.ValueLabel))
	p.Add(gridLines{t.Faint})
	if err := checkReferences(d.References); err != nil {
		return nil, err
	}
	methods, refs := &looks{theme: t}, &looks{theme: t, dash: true}
	var all []Curve
	for _, g := range d.Groups {
		if err := checkCurves(g.Curves); err != nil {
			return nil, fmt.Errorf("%w (group %q)", err, g.Name)
		}
		for _, c := range g.Curves {
			if len(c.Points) != 1 {
				return nil, fmt.Errorf("plots: %q has %d points in group %q, want one", c.Name, len(c.Points), g.Name)
			}
			if !slices.ContainsFunc(all, func(o Curve) bool { return o.title() == c.title() }) {
				all = append(all, c)
			}
		}
	}
	methods.meet(all)
	low, high := math.Inf(1), math.Inf(-1)
	for _, r := range d.References {
		line := refs.of(r.Name).line
		refs.enter(r.Name, stroke(line))
		p.Add(level{r.Y, line})
		low, high = min(low, r.Y), max(high, r.Y)
	}
	var curves []Curve
	var ticks []plot.Tick
	var names []string
	for i, g := range d.Groups {
		names = append(names, Symbols(g.Name))
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: t.named(Symbols(g.Name))})
		for _, c := range g.Curves {
			// The methods of a group share 0.7 of the space to the next one.
			place := slices.IndexFunc(all, func(o Curve) bool { return o.title() == c.title() })
			c.Points = []Point{{X: float64(i) + 0.7*(float64(place)+0.5)/float64(len(all)) - 0.35, Values: c.Points[0].Values}}
			dot := methods.draw(c, true)
			if d.ValueLabel == accuracyLabel {
				dot.clip()
			}
			low, high = min(low, dot.low[0], slices.Min(c.Points[0].Values)), max(high, dot.high[0], slices.Max(c.Points[0].Values))
			methods.enter(c.title(), dotted(dot))
			p.Add(dotted(dot))
			curves = append(curves, c)
		}
	}
	pad := max(0.06*(high-low), 0.5)
	p.Y.Min, p.Y.Max = low-pad, high+pad
	p.X.Min, p.X.Max = -0.5, float64(len(d.Groups))-0.5
	p.X.Tick.Marker = plot.ConstantTicks(ticks)
	p.X.Tick.Length = 0
	columns := 1
	if len(d.Groups)*len(all) > 12 {
		columns = 2 // as wide as a page
	}
	g := t.figure(columns, columns, 0.62)
	if columns > 1 {
		g.Aspect = 0.4
	}
	for i, tick := range ticks { // the data area has most of the width
		ticks[i].Label = folded(p.X.Tick.Label, tick.Label, 0.85*g.Width/vg.Length(len(ticks)))
	}
	g.Columns, g.Panels = 1, []Panel{{Title: Symbols(d.Title), Plot: p, names: names, values: true}}
	for i := range methods.entries {
		methods.entries[i].Width = dotWidth
	}
	g.Legend = append(methods.entries, refs.entries...)
	g.Note = firstNote(d.Note) + t.note(true, "bar", curves)
	if slices.ContainsFunc(curves, func(c Curve) bool { return len(c.Points[0].Values) > 1 }) {
		g.Note += " Small dots: single runs."
	}
	return g, nil
}

// folded breaks a name after spaces, underscores and hyphens into lines of at most a width, where it is
// wider. The underscore of an index, "_{", stays with it.
func folded(sty draw.TextStyle, name string, width vg.Length) string {
	if sty.Width(name) <= width {
		return name
	}
	var lines []string
	for _, part := range strings.SplitAfter(strings.NewReplacer("_{", "_{", "_", "_\n", "-", "-\n", " ", " \n").Replace(name), "\n") {
		part = strings.TrimSuffix(part, "\n")
		if n := len(lines) - 1; n >= 0 && sty.Width(lines[n]+part) <= width {
			lines[n] += part
		} else {
			lines = append(lines, part)
		}
	}
	for i, line := range lines {
		lines[i] = shorten(sty, strings.TrimSpace(line), width)
	}
	return strings.Join(lines, "\n")
}

// dotted is the mean of runs with its band as a bar, beside the runs.
type dotted drawn

func (d dotted) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := x(d.x[0])
	if d.several[0] && d.theme.Band != None {
		low, high := max(y(d.low[0]), c.Min.Y), min(y(d.high[0]), c.Max.Y)
		c.StrokeLine2(draw.LineStyle{Color: d.look.line.Color, Width: d.look.line.Width}, at, low, at, max(low, high))
	}
	for _, v := range d.values[0] {
		if len(d.values[0]) == 1 {
			break // the mean is the run
		}
		c.SetColor(fade(d.look.line.Color, 0.45))
		if one := (vg.Point{X: at + 4*d.theme.mark(), Y: y(v)}); c.Contains(one) {
			c.Fill(circle.path(one, d.theme.mark()))
		}
	}
	drawn(d).marker(&c, vg.Point{X: at, Y: y(d.mean[0])})
}

func (d dotted) Thumbnail(c *draw.Canvas) { drawn(d).marker(c, c.Center()) }
