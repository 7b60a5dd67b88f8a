package plots

import (
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// legendRows breaks entries into as few rows as fit the width, in order, and
// then into rows as even as possible. The name of an entry that is wider gets several lines.
func (g *Grid) legendRows(entries []Entry, width vg.Length) [][]Entry {
	entries = g.narrowed(entries, width)
	rows := g.breakRows(entries, width)
	for narrower := width - 2; narrower > 0; narrower -= 2 {
		even := g.breakRows(entries, narrower)
		if len(even) > len(rows) {
			break
		}
		rows = even
	}
	return rows
}

// narrowed breaks the names of entries that are wider than the width into lines.
func (g *Grid) narrowed(entries []Entry, width vg.Length) []Entry {
	entries = slices.Clone(entries)
	for i, e := range entries {
		if g.entryWidth(e) > width {
			name := wrapped(g.Theme.style(g.Theme.LabelSize, g.Theme.Ink), e.Name, width-g.thumbWidth(e)-thumbGap)
			entries[i].Name = strings.Join(name, "\n")
		}
	}
	return entries
}

func (g *Grid) breakRows(entries []Entry, width vg.Length) [][]Entry {
	var rows [][]Entry
	var used vg.Length
	for _, e := range entries {
		w := g.entryWidth(e) + entryGap
		if len(rows) == 0 || used+w-entryGap > width {
			rows, used = append(rows, nil), 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], e)
		used += w
	}
	return rows
}

func (g *Grid) thumbWidth(e Entry) vg.Length {
	if e.Width > 0 {
		return e.Width
	}
	return 2 * g.Theme.LabelSize
}

func (g *Grid) entryWidth(e Entry) vg.Length {
	return g.thumbWidth(e) + thumbGap + g.Theme.style(g.Theme.LabelSize, g.Theme.Ink).Width(e.Name)
}

func (g *Grid) entryHeight() vg.Length { return g.Theme.LabelSize * lineHeight }

func (g *Grid) legendHeight(entries []Entry, width vg.Length) vg.Length {
	if len(entries) == 0 {
		return 0
	}
	height := legendGap
	for _, row := range g.legendRows(entries, width) {
		height += g.rowHeight(row)
	}
	return height
}

func (g *Grid) rowHeight(row []Entry) vg.Length {
	lines := 1
	for _, e := range row {
		lines = max(lines, 1+strings.Count(e.Name, "\n"))
	}
	return vg.Length(lines) * g.entryHeight()
}

// drawLegend draws entries in centred rows below y.
func (g *Grid) drawLegend(c draw.Canvas, entries []Entry, x, y, width vg.Length) {
	y -= legendGap
	for _, row := range g.legendRows(entries, width) {
		total := -entryGap
		for _, e := range row {
			total += g.entryWidth(e) + entryGap
		}
		at := x + max(0, (width-total)/2)
		for _, e := range row {
			g.drawEntry(c, e, at, y-(g.rowHeight(row)-g.entryHeight())/2, g.thumbWidth(e))
			at += g.entryWidth(e) + entryGap
		}
		y -= g.rowHeight(row)
	}
}

// column returns entries for a legend below one another, with one width of their pictures and names
// in lines that fit the width.
func (g *Grid) column(entries []Entry, width vg.Length) ([]Entry, vg.Length) {
	widest := vg.Length(0)
	for _, e := range entries {
		widest = max(widest, g.thumbWidth(e))
	}
	var list []Entry
	for _, e := range entries {
		list = append(list, g.narrowed([]Entry{e}, width-widest+g.thumbWidth(e))...)
	}
	return list, widest
}

// columnFits reports whether entries below one another fit a data area.
func (g *Grid) columnFits(entries []Entry, size vg.Point) bool {
	height := vg.Length(0)
	entries, widest := g.column(entries, size.X)
	for _, e := range entries {
		if g.entryWidth(e)-g.thumbWidth(e)+widest > size.X { // a word is wider
			return false
		}
		height += g.rowHeight([]Entry{e})
	}
	return height <= size.Y
}

// drawColumn draws entries below one another.
func (g *Grid) drawColumn(c draw.Canvas, entries []Entry, x, y, width vg.Length) {
	entries, widest := g.column(entries, width)
	for _, e := range entries {
		height := g.rowHeight([]Entry{e})
		g.drawEntry(c, e, x, y-(height-g.entryHeight())/2, widest)
		y -= height
	}
}

// drawEntry draws one entry below y, its picture in the middle of a width.
func (g *Grid) drawEntry(c draw.Canvas, e Entry, x, y, width vg.Length) {
	left := x + (width-g.thumbWidth(e))/2
	thumb := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
		Min: vg.Point{X: left, Y: y - g.entryHeight()}, Max: vg.Point{X: left + g.thumbWidth(e), Y: y}}}
	for _, t := range e.Thumbs {
		t.Thumbnail(&thumb)
	}
	sty := g.Theme.style(g.Theme.LabelSize, g.Theme.Ink)
	sty.YAlign = draw.YCenter
	// Centre the small letters, not the line with its descenders.
	c.FillText(sty, vg.Point{X: x + width + thumbGap, Y: y - g.entryHeight()/2 + 0.06*g.Theme.LabelSize}, e.Name)
}

// swatch is a filled box in a legend, with an outline when it has one.
type swatch struct {
	fill    color.Color
	outline draw.LineStyle
}

func (s swatch) Thumbnail(c *draw.Canvas) {
	r := vg.Rectangle{Min: vg.Point{X: c.Min.X + 2, Y: c.Center().Y - 3}, Max: vg.Point{X: c.Max.X - 2, Y: c.Center().Y + 3}}
	if s.fill != nil {
		fill(*c, s.fill, r)
	}
	if s.outline.Width > 0 {
		c.StrokeLines(s.outline, []vg.Point{r.Min, {X: r.Min.X, Y: r.Max.Y}, r.Max, {X: r.Max.X, Y: r.Min.Y}, r.Min})
	}
}

// stroke is a horizontal line in a legend.
type stroke draw.LineStyle

func (s stroke) Thumbnail(c *draw.Canvas) {
	c.StrokeLine2(draw.LineStyle(s), c.Min.X, c.Center().Y, c.Max.X, c.Center().Y)
}

// dot is a marker in a legend.
type dot struct {
	shape  shape
	color  color.Color
	radius vg.Length
}

func (d dot) Thumbnail(c *draw.Canvas) {
	c.SetColor(d.color)
	c.Fill(d.shape.path(c.Center(), d.radius))
}
