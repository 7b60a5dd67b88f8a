package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// EmbeddingData is the input of Embedding.
type EmbeddingData struct {
	// Points [n, 2] are coordinates of the examples, such as those of tsne.Embed.
	Points blas32.General
	// Classes and Domains [n] are indices into ClassNames and DomainNames.
	Classes, Domains        []int
	ClassNames, DomainNames []string
	// Target is the name of the held-out domain, whose points are hollow; empty for none.
	Target string
	// Selected are the indices of the queried examples, marked with crosses.
	Selected []int
}

// fewKinds is the largest number of kinds of points with markers of their own; more have their names in the map.
const fewKinds = 2 * int(shapes)

// legendLimit is the largest number of names that a legend lists.
const legendLimit = 20

// Embedding shows a 2D embedding, coloured by class and by domain, with queried examples
// as crosses, black in print, and target examples as hollow points (figure "t-SNE" of Yuan et
// al. 2022). Axes have no ticks, since an embedding has no units. Domains beyond the theme's
// colours repeat them with other markers; more than 20 classes differ only by hue, without a
// legend.
func Embedding(t Theme, d EmbeddingData) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	n := d.Points.Rows
	if n == 0 || d.Points.Cols != 2 || d.Points.Stride < 2 || len(d.Points.Data) < (n-1)*d.Points.Stride+2 {
		return nil, fmt.Errorf("plots: a map of [%d, %d] values, want [n, 2]", n, d.Points.Cols)
	}
	pts := make([][2]float64, n)
	for i := range pts {
		v := d.Points.Data[i*d.Points.Stride:]
		pts[i] = [2]float64{float64(v[0]), float64(v[1])}
		if err := finite("coordinate", pts[i][:]...); err != nil {
			return nil, fmt.Errorf("%w (point %d)", err, i)
		}
	}
	selected := make([]bool, n)
	for _, i := range d.Selected {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("plots: selected example %d of %d", i, n)
		}
		selected[i] = true
	}
	hollow, sources := make([]bool, n), n
	for i, k := range d.Domains {
		if k >= 0 && k < len(d.DomainNames) && i < n && d.DomainNames[k] == d.Target {
			hollow[i] = true
			sources--
		}
	}
	g := t.figure(2, 2, 1)
	for _, by := range []struct {
		title  string
		index  []int
		names  []string
		colors []color.Color
		what   string
	}{
		{"By class", d.Classes, d.ClassNames, t.Classes, "classes"},
		{"By domain", d.Domains, d.DomainNames, t.Domains, "domains"},
	} {
		if err := sameLength(by.what, len(by.index), n); err != nil {
			return nil, err
		}
		for i, k := range by.index {
			if k < 0 || k >= len(by.names) {
				return nil, fmt.Errorf("plots: point %d is number %d of %d %s", i, k, len(by.names), by.what)
			}
		}
		s := scatter{
			points: pts, index: by.index, hollow: hollow, selected: selected, theme: t,
			radius: vg.Length(min(max(2*math.Sqrt(1200/float64(n)), 0.8), 2.2)),
		}
		s.colors, s.shapes = t.points(by.colors, len(by.names))
		panel := Panel{Title: by.title, Plot: t.frame()}
		panel.Plot.Add(s)
		if n := len(by.names); n > fewKinds && n <= legendLimit {
			panel.Plot.Add(named{s, by.names})
		}
		g.Aspect = s.setRanges(panel.Plot)
		if len(by.names) <= legendLimit {
			for k, name := range by.names {
				mark := plot.Thumbnailer(dot{s.shapes[k], s.colors[k], 2.6})
				if by.what == "domains" && name == d.Target {
					mark, name = ring{s.shapes[k], s.colors[k]}, name+" (target)"
				}
				panel.Legend = append(panel.Legend, Entry{name, []plot.Thumbnailer{mark}, dotWidth})
			}
		} else {
			g.Note += fmt.Sprintf("%d %s, by hue. ", len(by.names), by.what)
		}
		g.Panels = append(g.Panels, panel)
	}
	if len(d.Selected) > 0 {
		g.Legend = []Entry{{fmt.Sprintf("selected (%d of %d)", len(d.Selected), sources), []plot.Thumbnailer{cross{theme: t}}, dotWidth}}
	}
	if sources < n {
		g.Legend = append(g.Legend, Entry{fmt.Sprintf("hollow: target, held out (%d)", n-sources), []plot.Thumbnailer{ring{circle, t.Muted}}, dotWidth})
	}
	return g, nil
}

// points returns the colours and markers of n kinds of points.
func (t Theme) points(colors []color.Color, n int) ([]color.Color, []shape) {
	marks := make([]shape, n)
	if n > legendLimit {
		return hues(n, t.Background), marks
	}
	cols := make([]color.Color, n)
	for i := range n {
		cols[i] = colors[i%len(colors)]
		if n <= fewKinds || n > len(colors) {
			marks[i] = shape(i) % shapes
		}
	}
	return cols, marks
}

// Mark is the look of a kind of points: a colour and a named shape.
type Mark struct {
	Color color.Color
	Shape string
}

// ClassMarks and DomainMarks return the looks of n classes or domains, the same in all figures.
func (t Theme) ClassMarks(n int) []Mark  { return t.kinds(t.Classes, n) }
func (t Theme) DomainMarks(n int) []Mark { return t.kinds(t.Domains, n) }

func (t Theme) kinds(colors []color.Color, n int) []Mark {
	list := make([]Mark, n)
	cols, marks := t.points(colors, n)
	for i := range list {
		list[i] = Mark{cols[i], shapeNames[marks[i]]}
	}
	return list
}

// frame returns axes without ticks, closed on all sides.
func (t Theme) frame() *plot.Plot {
	p := t.NewPlot("", "")
	p.HideAxes()
	p.X.Padding, p.Y.Padding = 0, 0
	p.Add(border{draw.LineStyle{Color: t.Muted, Width: 0.6}})
	return p
}

// border is a line around the data area.
type border struct{ line draw.LineStyle }

func (b border) Plot(c draw.Canvas, _ *plot.Plot) {
	r := c.Rectangle
	c.StrokeLines(b.line, []vg.Point{r.Min, {X: r.Min.X, Y: r.Max.Y}, r.Max, {X: r.Max.X, Y: r.Min.Y}, r.Min, {X: r.Min.X, Y: r.Max.Y}})
}

// scatter draws points in the colour of their index.
type scatter struct {
	points   [][2]float64
	index    []int
	colors   []color.Color
	shapes   []shape
	hollow   []bool
	selected []bool
	radius   vg.Length
	theme    Theme
}

// flattest and tallest bound the height of a map over its width.
const flattest, tallest = 0.6, 1.2

// setRanges gives both axes the same scale, with room for markers, and returns the height of the
// map over its width.
func (s scatter) setRanges(p *plot.Plot) (aspect float64) {
	lo, hi := s.points[0], s.points[0]
	for _, pt := range s.points {
		for k, v := range pt {
			lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
		}
	}
	x, y := 0.54*(hi[0]-lo[0]), 0.54*(hi[1]-lo[1])
	x = max(x, y/tallest)
	x = cmp.Or(x, 1)
	y = max(y, flattest*x)
	p.X.Min, p.X.Max = (lo[0]+hi[0])/2-x, (lo[0]+hi[0])/2+x
	p.Y.Min, p.Y.Max = (lo[1]+hi[1])/2-y, (lo[1]+hi[1])/2+y
	return y / x
}

// layers is the number of rounds in which points are drawn: every round holds
// every layers-th point, one path per colour, so that no class or domain lies
// on top of all others and a file has few paths.
const layers = 16

func (s scatter) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(i int) vg.Point { return vg.Point{X: x(s.points[i][0]), Y: y(s.points[i][1])} }
	for layer := range layers {
		paths, rings := make([]vg.Path, len(s.colors)), make([]vg.Path, len(s.colors))
		for i := layer; i < len(s.points); i += layers {
			of := paths
			if s.hollow[i] {
				of = rings
			}
			of[s.index[i]] = append(of[s.index[i]], s.shapes[s.index[i]].path(at(i), s.radius)...)
		}
		for k := range s.colors {
			c.SetColor(fade(s.colors[k], 0.85))
			if len(paths[k]) > 0 {
				c.Fill(paths[k])
			}
			if len(rings[k]) > 0 {
				c.SetLineStyle(draw.LineStyle{Color: fade(s.colors[k], 0.85), Width: 0.45 * s.radius})
				c.Stroke(rings[k])
			}
		}
	}
	for i, sel := range s.selected {
		if sel {
			cross{at: at(i), theme: s.theme}.draw(&c)
		}
	}
}

// named writes the name of each kind of points at its median, but not over another name.
type named struct {
	scatter
	names []string
}

func (s named) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	sty := s.theme.bold(s.theme.NoteSize, s.theme.Ink)
	sty.XAlign, sty.YAlign = draw.XCenter, draw.YCenter
	var taken []vg.Rectangle
	for k, name := range s.names {
		var at [2][]float64
		for i, of := range s.index {
			if of == k {
				at[0], at[1] = append(at[0], s.points[i][0]), append(at[1], s.points[i][1])
			}
		}
		if len(at[0]) == 0 {
			continue
		}
		slices.Sort(at[0])
		slices.Sort(at[1])
		half := vg.Point{X: sty.Width(name)/2 + 1, Y: 0.6 * s.theme.NoteSize}
		m := vg.Point{X: x(at[0][len(at[0])/2]), Y: y(at[1][len(at[1])/2])}
		m.X = min(max(m.X, c.Min.X+half.X), c.Max.X-half.X)
		box := vg.Rectangle{Min: m.Sub(half), Max: m.Add(half)}
		if slices.ContainsFunc(taken, func(r vg.Rectangle) bool {
			return box.Min.X < r.Max.X && r.Min.X < box.Max.X && box.Min.Y < r.Max.Y && r.Min.Y < box.Max.Y
		}) {
			continue // the legend has it
		}
		taken = append(taken, box)
		c.SetColor(fade(s.theme.Background, 0.75))
		c.Fill(box.Path())
		c.FillText(sty, m, name)
	}
}

// ring is the picture of a hollow point in a legend.
type ring struct {
	shape shape
	color color.Color
}

func (r ring) Thumbnail(c *draw.Canvas) {
	c.SetLineStyle(draw.LineStyle{Color: r.color, Width: 1})
	c.Stroke(r.shape.path(c.Center(), 2.4))
}

// cross marks a selected point: ink with an edge in the background's colour.
type cross struct {
	at    vg.Point
	theme Theme
}

func (x cross) draw(c *draw.Canvas) {
	const r, edge = 2.1, 2.6
	for _, l := range []struct {
		reach vg.Length
		style draw.LineStyle
	}{
		{edge, draw.LineStyle{Color: fade(x.theme.Background, 0.9), Width: 2}},
		{r, draw.LineStyle{Color: x.theme.Ink, Width: 1}},
	} {
		d := vg.Point{X: l.reach, Y: l.reach}
		e := vg.Point{X: l.reach, Y: -l.reach}
		c.StrokeLines(l.style, []vg.Point{x.at.Sub(d), x.at.Add(d)}, []vg.Point{x.at.Sub(e), x.at.Add(e)})
	}
}

func (x cross) Thumbnail(c *draw.Canvas) {
	x.at = c.Center()
	x.draw(c)
}
