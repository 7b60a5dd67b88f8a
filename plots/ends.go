package plots

import (
	"cmp"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// labelled is the largest number of curves that are labelled at their ends; more have a legend.
const labelled = 4

// ends labels curves to the right of the data area, beside a piece of their line. A thin line joins it to the end
// of a curve that reaches the area's edge.
type ends struct {
	curves []drawn
	of     []Curve
	theme  Theme
}

// endJoin is the distance of a label from the data area, with the piece of line.
const endJoin = vg.Length(17)

func (e ends) style(i int) draw.TextStyle {
	sty := e.theme.style(e.theme.NoteSize, mix(e.curves[i].look.line.Color, e.theme.Ink, 0.35))
	sty.YAlign = draw.YCenter
	return sty
}

// lines breaks the name of a curve into lines of at most a quarter of the figure's width.
func (e ends) lines(i int) []string {
	return wrapped(e.style(i), e.theme.named(Symbols(e.of[i].title())), e.theme.ColumnWidth/4)
}

func (e ends) pitch() vg.Length { return e.theme.NoteSize * 1.15 }

// GlyphBoxes implements plot.GlyphBoxer: the space of the labels.
func (e ends) GlyphBoxes(p *plot.Plot) (boxes []plot.GlyphBox) {
	for i := range e.curves {
		widest := vg.Length(0)
		for _, line := range e.lines(i) {
			widest = max(widest, e.style(i).Width(line))
		}
		boxes = append(boxes, plot.GlyphBox{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: endJoin + 4 + widest}}})
	}
	return boxes
}

func (e ends) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	type label struct {
		curve         int
		at, y, height vg.Length
	}
	var list []label
	for i, d := range e.curves {
		at := min(max(y(d.mean[len(d.mean)-1]), c.Min.Y), c.Max.Y)
		list = append(list, label{i, at, at, vg.Length(len(e.lines(i)))*e.pitch() + 1.5})
	}
	slices.SortStableFunc(list, func(a, b label) int { return cmp.Compare(b.at, a.at) })
	// From the top down each label is below the one before, and then from the bottom up none is
	// below the axis.
	for i := range list {
		top := c.Max.Y + e.pitch()
		if i > 0 {
			top = list[i-1].y - list[i-1].height/2
		}
		list[i].y = min(list[i].y, top-list[i].height/2)
	}
	for i := len(list) - 1; i >= 0; i-- {
		bottom := c.Min.Y
		if i < len(list)-1 {
			bottom = list[i+1].y + list[i+1].height/2
		}
		list[i].y = max(list[i].y, bottom+list[i].height/2)
	}
	for _, l := range list {
		d := e.curves[l.curve]
		if x(d.x[len(d.x)-1]) > c.Max.X-1 { // within the data area a line would look like data
			c.StrokeLine2(draw.LineStyle{Color: e.theme.Muted, Width: 0.4}, c.Max.X+1, l.at, c.Max.X+4, l.y)
		}
		c.StrokeLine2(d.look.line, c.Max.X+4, l.y, c.Max.X+endJoin, l.y)
		sty, lines := e.style(l.curve), e.lines(l.curve)
		for k, line := range lines {
			c.FillText(sty, vg.Point{X: c.Max.X + endJoin + 2, Y: l.y + (vg.Length(len(lines)-1)/2-vg.Length(k))*e.pitch()}, line)
		}
	}
}

// endBars draws the intervals of curves at their last x, beside one another to the right of the data
// area, where bands would hide each other.
type endBars []drawn

// endBarGap is the distance between bars.
const endBarGap = vg.Length(6)

// GlyphBoxes implements plot.GlyphBoxer: the space of the bars.
func (e endBars) GlyphBoxes(*plot.Plot) []plot.GlyphBox {
	return []plot.GlyphBox{{X: 1, Y: 0.5, Rectangle: vg.Rectangle{Max: vg.Point{X: endBarGap * vg.Length(len(e)+1)}}}}
}

func (e endBars) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	for i, d := range e {
		last := len(d.x) - 1
		if !d.several[last] {
			continue
		}
		at := vg.Point{X: c.Max.X + endBarGap*vg.Length(i+1), Y: y(d.mean[last])}
		line := d.look.line
		line.Dashes = nil
		c.StrokeLine2(line, at.X, max(y(d.low[last]), c.Min.Y), at.X, min(y(d.high[last]), c.Max.Y))
		c.SetColor(line.Color)
		c.Fill(circle.path(at, 1.6*d.theme.mark()))
	}
}

// Published holds results of a publication at values of a setting, drawn as open markers.
type Published struct {
	Name   string
	Points []PublishedPoint
}

// PublishedPoint is one of them.
type PublishedPoint struct{ X, Y float64 }

// open draws published points.
type open struct {
	points []PublishedPoint
	shape  shape
	theme  Theme
}

func (o open) draw(c *draw.Canvas, at vg.Point) {
	c.SetLineStyle(draw.LineStyle{Color: o.theme.Ink, Width: 0.6 * o.theme.LineWidth})
	c.Stroke(o.shape.path(at, 2.6*o.theme.mark()))
}

func (o open) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, pt := range o.points {
		o.draw(&c, vg.Point{X: x(pt.X), Y: y(pt.Y)})
	}
}

func (o open) Thumbnail(c *draw.Canvas) { o.draw(c, c.Center()) }
