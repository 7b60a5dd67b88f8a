package plots

import (
	"errors"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Grid is a figure: panels in rows and columns with equal, aligned data areas, above the legend
// and a note. Its height follows from its width.
type Grid struct {
	// Theme provides fonts and colours.
	Theme Theme
	// Title stands above all panels, over the whole width; empty for none.
	Title string
	// Panels are drawn row by row, Columns in a row.
	Panels  []Panel
	Columns int
	// Width is the width of the figure, Aspect the ratio of height to width of a data area.
	Width  vg.Length
	Aspect float64
	// Legend is shared by all panels; Note is small text at the bottom.
	Legend []Entry
	Note   string
	// Aside is information to show near the figure but not in it, such as program versions.
	Aside string
}

// Panel is one set of axes. Its Plot has neither a title nor a legend of its own. An axis label
// that equals the label of the next panel to the left, or below, is drawn only there.
type Panel struct {
	Title  string
	Plot   *plot.Plot
	Legend []Entry // drawn below this panel only
	bar    *colorBar
	names  []string // in the plot
	grid   bool     // grid lines below the plot
	values bool     // on the vertical axis
}

// Entry is a legend entry, drawn by all thumbnailers into a space of Width, or two letters wide
// if Width is zero.
type Entry struct {
	Name   string
	Thumbs []plot.Thumbnailer
	Width  vg.Length
}

// Distances within a figure.
const (
	margin     = vg.Length(3)
	panelGap   = vg.Length(9)
	titleGap   = vg.Length(3)
	legendGap  = vg.Length(4)
	entryGap   = vg.Length(8)
	dotWidth   = vg.Length(6)
	thumbGap   = vg.Length(3)
	lineHeight = 1.35 // of a text line, by its font size
)

// sides are what a panel needs around its data area.
type sides struct{ left, right, bottom, top vg.Length }

func (s *sides) grow(o sides) {
	s.left, s.right = max(s.left, o.left), max(s.right, o.right)
	s.bottom, s.top = max(s.bottom, o.bottom), max(s.top, o.top)
}

// layout is where everything goes, from the top left corner down.
type layout struct {
	width, height vg.Length
	title         vg.Length // height of the figure's title
	data          vg.Point  // size of every data area
	columns       []sides   // left and right used
	rows          []sides   // bottom and top used
	label         vg.Point  // longest axis labels on one line
	legends       []vg.Length
	spare         bool      // the legend stands in the empty cells of the last row
	beside        vg.Length // the legend's width at the right
	inside        vg.Point  // its size within a data area
}

// Size returns the width and the height of the figure.
func (g *Grid) Size() (width, height vg.Length, err error) {
	g, err = g.dressed()
	if err != nil {
		return 0, 0, err
	}
	l, err := g.layout()
	return l.width, l.height, err
}

func (g *Grid) layout() (layout, error) {
	if err := g.Theme.check(); err != nil {
		return layout{}, err
	}
	if len(g.Panels) == 0 {
		return layout{}, errors.New("plots: a figure without panels")
	}
	if g.Columns < 1 || !(g.Aspect > 0) || !(g.Width > 0) {
		return layout{}, fmt.Errorf("plots: a figure of %d columns, width %v and aspect %v, want all above zero", g.Columns, g.Width, g.Aspect)
	}
	if place := g.Theme.Legend; place != "" && !slices.Contains(LegendPlaces(), place) {
		return layout{}, fmt.Errorf("plots: legend %q, want one of %s", place, strings.Join(LegendPlaces(), ", "))
	}
	columns := min(g.Columns, len(g.Panels))
	l := layout{
		width:   g.Width,
		columns: make([]sides, columns),
		rows:    make([]sides, (len(g.Panels)+columns-1)/columns),
	}
	l.legends = make([]vg.Length, len(l.rows))
	if g.Theme.Legend == legendRight && len(g.Legend) > 0 {
		l.beside = panelGap + g.columnSize(g.Legend, 0.34*g.Width).X
	}
	// The space for tick labels depends slightly on the size of the panel, so the second round
	// starts from the result of the first.
	l.data = vg.Point{X: g.Width / vg.Length(columns), Y: g.Width / vg.Length(columns) * vg.Length(g.Aspect)}
	tops := make([]vg.Length, len(g.Panels)) // without titles
	for range 2 {
		l.label = vg.Point{X: 0.85 * (g.Width - l.beside) / vg.Length(columns), Y: l.data.Y}
		clear(l.columns)
		clear(l.rows)
		for i, p := range g.Panels {
			p.Plot = g.shared(i, l)
			s := g.sides(p, l.data)
			l.columns[i%columns].grow(s)
			l.rows[i/columns].grow(s)
			tops[i] = s.top
		}
		free := g.Width - 2*margin - vg.Length(columns-1)*panelGap - l.beside
		for _, c := range l.columns {
			free -= c.left + c.right
		}
		l.data.X = free / vg.Length(columns)
		l.data.Y = l.data.X * vg.Length(g.Aspect)
		if !(l.data.X >= 20) { // NaN where labels leave no room
			return layout{}, fmt.Errorf("plots: %v wide is too narrow for %d columns", g.Width, columns)
		}
	}
	for i, p := range g.Panels {
		l.rows[i/columns].grow(sides{top: tops[i] + g.titleHeight(g.titleLines(p.Title, l.titleWidth(i)))})
		s := l.columns[i%columns]
		h := g.legendHeight(p.Legend, s.left+l.data.X+s.right)
		l.legends[i/columns] = max(l.legends[i/columns], h)
	}
	l.spare = g.Theme.Legend == "" && len(g.Panels)%columns != 0 && g.columnFits(g.Legend, l.data)
	l.height = 2*margin + g.noteHeight()
	l.title = g.titleHeight(g.titleLines(g.Title, g.Width-2*margin))
	l.height += l.title
	if g.Theme.Legend == legendInside && len(g.Legend) > 0 {
		if l.inside = g.columnSize(g.Legend, 0.55*l.data.X); l.inside.X > 0.7*l.data.X || l.inside.Y > 0.7*l.data.Y {
			return l, fmt.Errorf("plots: the legend has %.0f x %.0f points, too many inside a panel of %.0f x %.0f; put it %s or %s, or give shorter names",
				l.inside.X, l.inside.Y, l.data.X, l.data.Y, legendBelow, legendRight)
		}
	}
	if l.below() {
		l.height += g.legendHeight(g.Legend, g.Width-2*margin)
	}
	panels := vg.Length(0)
	for i, r := range l.rows {
		panels += r.top + l.data.Y + r.bottom + l.legends[i]
		if i > 0 {
			panels += panelGap
		}
	}
	if l.beside > 0 {
		panels = max(panels, l.rows[0].top+g.columnSize(g.Legend, 0.34*g.Width).Y)
	}
	l.height += panels
	return l, nil
}

// below reports whether the legend stands below the panels.
func (l layout) below() bool { return !l.spare && l.beside == 0 && l.inside.X == 0 }

// titleWidth is the space of a panel's title. It may be wider than the data area, but not than the figure.
func (l layout) titleWidth(panel int) vg.Length {
	overhang := titleOverhang
	if i := panel % len(l.columns); i == len(l.columns)-1 {
		overhang = min(overhang, l.columns[i].right+l.beside)
	}
	return l.data.X + overhang
}

// shared returns the plot of a panel without the labels that a neighbour has, and with long ones
// on several lines.
func (g *Grid) shared(i int, l layout) *plot.Plot {
	if g.Panels[i].Plot == nil {
		return nil
	}
	p, columns := *g.Panels[i].Plot, len(l.columns)
	p.X.Tick.Marker, p.Y.Tick.Marker = apart{&g.Panels[i].Plot.X, l.data.X, true, p.X.Tick.Marker}, apart{&g.Panels[i].Plot.Y, l.data.Y, false, p.Y.Tick.Marker}
	p.X.Label.Text = strings.Join(wrapped(p.X.Label.TextStyle, p.X.Label.Text, l.label.X), "\n")
	p.Y.Label.Text = strings.Join(wrapped(p.Y.Label.TextStyle, p.Y.Label.Text, l.label.Y), "\n")
	if i%columns > 0 {
		if left := g.Panels[i-1].Plot; left != nil && left.Y.Label.Text == g.Panels[i].Plot.Y.Label.Text {
			p.Y.Label.Text = ""
		}
	}
	if i+columns < len(g.Panels) {
		if below := g.Panels[i+columns].Plot; below != nil && below.X.Label.Text == g.Panels[i].Plot.X.Label.Text {
			p.X.Label.Text = ""
		}
	}
	return &p
}

// sides measures the axes and the colour bar of a panel whose data area has the
// given size.
func (g *Grid) sides(p Panel, data vg.Point) sides {
	var s sides
	if p.Plot != nil {
		// Grow the canvas until its data area has the requested size.
		c := draw.Canvas{Rectangle: vg.Rectangle{Max: data}}
		for range 2 {
			d := p.Plot.DataCanvas(c)
			s = sides{left: d.Min.X - c.Min.X, right: c.Max.X - d.Max.X, bottom: d.Min.Y - c.Min.Y, top: c.Max.Y - d.Max.Y}
			c.Rectangle = vg.Rectangle{Max: data.Add(vg.Point{X: s.left + s.right, Y: s.bottom + s.top})}
		}
	}
	if p.bar != nil {
		s.right += p.bar.width(g.Theme)
	}
	return s
}

// Draw draws the figure into the canvas's upper left corner at its own size, with a background
// margin of two points.
func (g *Grid) Draw(c draw.Canvas) error {
	g, err := g.dressed()
	if err != nil {
		return err
	}
	l, err := g.layout()
	if err != nil {
		return err
	}
	c.Canvas = outlined{c.Canvas, g.Theme.Text}
	corner := vg.Point{X: c.Min.X, Y: c.Max.Y}
	// Beyond the edges, so that no pixel at the rim of an image is half covered.
	const bleed = 2
	fill(c, g.Theme.Background, vg.Rectangle{
		Min: corner.Add(vg.Point{X: -bleed, Y: -l.height - bleed}), Max: corner.Add(vg.Point{X: l.width + bleed, Y: bleed})})
	cells, y := l.cells(corner)
	g.drawTitle(c, g.titleLines(g.Title, g.Width-2*margin), vg.Point{X: corner.X + margin, Y: corner.Y - margin - l.title}, g.Width-2*margin)
	for i, cell := range cells {
		if i >= len(g.Panels) {
			if l.spare {
				g.drawColumn(c, g.Legend, cell.data.Min.X, cell.data.Max.Y, cell.data.Size().X)
			}
			break
		}
		p := g.Panels[i]
		p.Plot = g.shared(i, l)
		g.drawPanel(c, p, cell.data, l.titleWidth(i))
		g.drawLegend(c, g.Panels[i].Legend, cell.left, cell.legend, cell.width)
	}
	switch {
	case l.beside > 0:
		g.drawColumn(c, g.Legend, corner.X+l.width-margin-l.beside+panelGap, cells[0].data.Max.Y, l.beside-panelGap+1)
		y = corner.Y - l.height + margin + g.noteHeight()
	case l.inside.X > 0:
		g.inside(c, l, cells)
	}
	if l.below() {
		g.drawLegend(c, g.Legend, corner.X+margin, y, g.Width-2*margin)
		y -= g.legendHeight(g.Legend, g.Width-2*margin)
	}
	g.drawNote(c, corner.X+margin, y)
	return nil
}

// cell is a place for a panel: its data area, the left end and the width of
// all that belongs to it, and the upper end of its legend.
type cell struct {
	data                vg.Rectangle
	left, width, legend vg.Length
}

// cells returns all places, row by row, when the figure's upper left corner
// lies at corner, and the y coordinate below them.
func (l layout) cells(corner vg.Point) ([]cell, vg.Length) {
	var out []cell
	y := corner.Y - margin - l.title
	for r, row := range l.rows {
		if r > 0 {
			y -= panelGap
		}
		x := corner.X + margin
		for _, column := range l.columns {
			at := vg.Point{X: x + column.left, Y: y - row.top - l.data.Y}
			width := column.left + l.data.X + column.right
			out = append(out, cell{vg.Rectangle{Min: at, Max: at.Add(l.data)}, x, width, at.Y - row.bottom})
			x += width + panelGap
		}
		y -= row.top + l.data.Y + row.bottom + l.legends[r]
	}
	return out, y
}

func (g *Grid) drawPanel(c draw.Canvas, p Panel, data vg.Rectangle, width vg.Length) {
	if p.grid {
		gridLines{g.Theme.Faint}.Plot(draw.Canvas{Canvas: c.Canvas, Rectangle: data}, p.Plot)
	}
	g.drawTitle(c, g.titleLines(p.Title, width), vg.Point{X: data.Min.X, Y: data.Max.Y}, width)
	if p.Plot != nil {
		bare := p
		bare.bar = nil
		s := g.sides(bare, data.Size())
		c.Rectangle = vg.Rectangle{
			Min: vg.Point{X: data.Min.X - s.left, Y: data.Min.Y - s.bottom},
			Max: vg.Point{X: data.Max.X + s.right, Y: data.Max.Y + s.top},
		}
		p.Plot.Draw(c)
	}
	if p.bar != nil {
		p.bar.draw(c, g.Theme, data)
	}
}

// titleOverhang is how much wider than a panel's data area its title may be.
const titleOverhang = vg.Length(20)

// titleLines breaks a title into lines of at most a width.
func (g *Grid) titleLines(title string, width vg.Length) []string {
	return wrapped(g.Theme.bold(g.Theme.TitleSize, g.Theme.Ink), title, width)
}

func (g *Grid) titleHeight(lines []string) vg.Length {
	if len(lines) == 0 {
		return 0
	}
	return vg.Length(len(lines))*g.Theme.TitleSize*lineHeight + titleGap
}

// drawTitle draws the lines of a title above a point.
func (g *Grid) drawTitle(c draw.Canvas, lines []string, at vg.Point, width vg.Length) {
	sty := g.Theme.bold(g.Theme.TitleSize, g.Theme.Ink)
	sty.YAlign = draw.YBottom
	at.Y += titleGap + sty.FontExtents().Descent + vg.Length(len(lines)-1)*g.Theme.TitleSize*lineHeight
	for _, line := range lines {
		c.FillText(sty, at, shorten(sty, line, width))
		at.Y -= g.Theme.TitleSize * lineHeight
	}
}

// noteLines breaks the note into lines that fit the width.
func (g *Grid) noteLines() []string {
	return wrapped(g.Theme.style(g.Theme.NoteSize, g.Theme.Muted), Symbols(g.Note), g.Width-2*margin)
}

// wrapped breaks a text between words into lines of at most a width; a longer word is a line, and so
// is an equation such as "n = 10".
func wrapped(sty draw.TextStyle, s string, width vg.Length) (lines []string) {
	for word := range strings.FieldsSeq(strings.ReplaceAll(s, " = ", "\x00")) {
		word = strings.ReplaceAll(word, "\x00", " = ")
		last := len(lines) - 1
		if last >= 0 && sty.Width(lines[last]+" "+word) <= width {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

func (g *Grid) noteHeight() vg.Length {
	n := len(g.noteLines())
	if n == 0 {
		return 0
	}
	return legendGap + vg.Length(n)*g.Theme.NoteSize*lineHeight
}

func (g *Grid) drawNote(c draw.Canvas, x, y vg.Length) {
	sty := g.Theme.style(g.Theme.NoteSize, g.Theme.Muted)
	sty.YAlign = draw.YTop
	y -= legendGap
	for i, line := range g.noteLines() {
		c.FillText(sty, vg.Point{X: x, Y: y - vg.Length(i)*g.Theme.NoteSize*lineHeight}, line)
	}
}

func fill(c draw.Canvas, col color.Color, r vg.Rectangle) {
	c.SetColor(col)
	c.Fill(r.Path())
}

// shorten cuts s with an ellipsis to the given width.
func shorten(sty draw.TextStyle, s string, width vg.Length) string {
	if sty.Width(s) <= width {
		return s
	}
	r := []rune(s)
	for len(r) > 0 && sty.Width(string(r)+"…") > width {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ") + "…"
}
