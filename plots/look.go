package plots

import (
	"cmp"
	"fmt"
	"image/color"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unsafe"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// Look is what a figure shows in another way than by itself. The zero value changes nothing.
type Look struct {
	// Names replaces texts, or whole words of titles, notes and names: of methods, data sets and axes.
	Names map[string]string
	// Title replaces the title of the figure, or of its only panel; "" removes it. Nil keeps it.
	Title *string
	// Legend is a place of [LegendPlaces]; empty leaves it to the figure.
	Legend string
	// ErrorBars draws the intervals of curves as bars, not as bands.
	ErrorBars bool
	// YRange holds the lower and the upper end of axes of values. Nil: the data give the range.
	YRange *[2]float64
}

// LegendPlaces lists the places of legends: in the data area's emptiest corner, below or right of all panels.
func LegendPlaces() []string { return []string{legendInside, legendBelow, legendRight} }

const legendInside, legendBelow, legendRight = "inside", "below", "right"

// nameWord is a word of a name: "CEG" is none of "CEG+FM".
var nameWord = regexp.MustCompile(`[\p{L}\p{N}_{}+/-]+`)

// named returns a text by the look's names: as a whole, or word by word.
func (l Look) named(text string) string {
	to := func(word string) string {
		for name, other := range l.Names {
			if word == name || word == Symbols(name) {
				return Symbols(other)
			}
		}
		return word
	}
	if other := to(text); other != text || len(l.Names) == 0 {
		return other
	}
	return nameWord.ReplaceAllStringFunc(text, to)
}

// dressed returns the figure with the names, the title and the range of its theme's look. It is an error if the
// figure has none of the names.
func (g *Grid) dressed() (*Grid, error) {
	look := g.Theme.Look
	if len(look.Names) == 0 && look.Title == nil && look.YRange == nil {
		return g, nil
	}
	out, used := *g, len(look.Names) == 0
	var texts []string
	name := func(text *string) {
		if *text != "" && !slices.Contains(texts, *text) {
			texts = append(texts, *text)
		}
		other := look.named(*text)
		used, *text = used || other != *text, other
	}
	entries := func(list []Entry) []Entry {
		list = slices.Clone(list)
		for i := range list {
			name(&list[i].Name)
		}
		return list
	}
	name(&out.Title)
	out.Note, out.Legend, out.Panels = look.named(g.Note), entries(g.Legend), slices.Clone(g.Panels)
	for i := range out.Panels {
		p := &out.Panels[i]
		for _, text := range p.names { // which the plot renames
			name(&text)
		}
		name(&p.Title)
		if p.Legend = entries(p.Legend); p.Plot == nil {
			continue
		}
		axes := *p.Plot
		name(&axes.X.Label.Text)
		name(&axes.Y.Label.Text)
		if p.values && look.YRange != nil {
			axes.Y.Min, axes.Y.Max = look.YRange[0], look.YRange[1]
		}
		p.Plot = &axes
	}
	if title := look.Title; title != nil {
		out.Title = Symbols(*title)
		if len(out.Panels) == 1 {
			out.Title, out.Panels[0].Title = "", Symbols(*title)
		}
	}
	if !used {
		return nil, fmt.Errorf("plots: no text of the figure has a name to replace, such as %q; its texts are %q", slices.Sorted(maps.Keys(look.Names))[0], texts)
	}
	out.Theme.Look = Look{Legend: look.Legend}
	return &out, nil
}

// Own returns a figure of your own plots in the theme, in up to three columns: with its fonts, axes, margins, grid
// lines and legend. It changes the plots.
func (t Theme) Own(list ...*plot.Plot) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	g := t.figure(len(list), 3, 0.75)
	for i, p := range list {
		if p == nil {
			return nil, fmt.Errorf("plots: plot %d is nil", i)
		}
		style := t.NewPlot("", "")
		for _, a := range [][2]*plot.Axis{{&p.X, &style.X}, {&p.Y, &style.Y}} {
			text, marker := a[0].Label.Text, a[0].Tick.Marker
			a[0].Label, a[0].LineStyle, a[0].Tick, a[0].Padding = a[1].Label, a[1].LineStyle, a[1].Tick, a[1].Padding
			a[0].Label.Text = text
			if _, usual := marker.(plot.DefaultTicks); !usual && marker != nil {
				a[0].Tick.Marker = marker
			}
			lo, hi := &a[0].Min, &a[0].Max
			if _, linear := a[0].Scale.(plot.LinearScale); *lo > *hi {
				*lo, *hi = 0, 1 // no data
			} else if linear {
				pad := cmp.Or(0.04*(*hi-*lo), 0.5)
				*lo, *hi = *lo-pad, *hi+pad
			}
		}
		p.BackgroundColor = nil
		for _, e := range legendOf(&p.Legend) {
			if !slices.ContainsFunc(g.Legend, func(o Entry) bool { return o.Name == e.Name }) {
				g.Legend = append(g.Legend, e)
			}
		}
		g.Panels = append(g.Panels, Panel{Title: p.Title.Text, Plot: p, grid: true, values: true})
		p.Title.Text, p.Legend = "", style.Legend
	}
	return g, nil
}

// legendOf returns the entries of a plot's legend, which gonum (v0.17) does not tell.
func legendOf(l *plot.Legend) (list []Entry) {
	entries := reflect.ValueOf(l).Elem().FieldByName("entries")
	for i := range entries.Len() {
		thumbs := entries.Index(i).FieldByName("thumbs")
		list = append(list, Entry{
			Name:   entries.Index(i).FieldByName("text").String(),
			Thumbs: *(*[]plot.Thumbnailer)(unsafe.Pointer(thumbs.UnsafeAddr())),
		})
	}
	return list
}

// Side returns a figure of the panels of others, side by side from left to right. Titles of figures become those of
// their first panels. Legends that are not the same stand below their panels.
func Side(list ...*Grid) (*Grid, error) {
	if len(list) == 0 {
		return nil, fmt.Errorf("plots: no figures to draw side by side")
	}
	g := Grid{Theme: list[0].Theme, Width: list[0].Theme.PageWidth, Legend: list[0].Legend}
	rows := 0
	for _, f := range list {
		columns := min(f.Columns, len(f.Panels))
		rows, g.Columns, g.Aspect = max(rows, (len(f.Panels)+columns-1)/columns), g.Columns+columns, max(g.Aspect, f.Aspect)
		if !slices.EqualFunc(f.Legend, g.Legend, func(a, b Entry) bool { return a.Name == b.Name }) {
			g.Legend = nil
		}
		if !strings.Contains(g.Note, f.Note) {
			g.Note = strings.TrimSpace(g.Note + " " + f.Note)
		}
	}
	for i := range rows {
		for _, f := range list {
			for c := range min(f.Columns, len(f.Panels)) {
				var p Panel
				if k := i*f.Columns + c; k < len(f.Panels) {
					p = f.Panels[k]
				}
				if i == 0 && c == 0 {
					p.Title = cmp.Or(p.Title, f.Title)
					if g.Legend == nil {
						p.Legend = append(slices.Clone(p.Legend), f.Legend...)
					}
				}
				g.Panels = append(g.Panels, p)
			}
		}
	}
	return &g, nil
}

// inside draws the legend into the corner of a data area in which it hides the least of the plots.
func (g *Grid) inside(c draw.Canvas, l layout, cells []cell) {
	const pad = vg.Length(3)
	box := l.inside.Add(vg.Point{X: 2 * pad, Y: 2 * pad})
	least, from := math.MaxInt, vg.Point{} // the box's upper left corner
	for i, p := range g.Panels {
		if p.Plot == nil {
			continue
		}
		bare := *p.Plot
		bare.HideAxes()
		canvas := vgimg.NewWith(vgimg.UseWH(l.data.X, l.data.Y), vgimg.UseDPI(72), vgimg.UseBackgroundColor(color.Transparent))
		bare.Draw(draw.NewCanvas(canvas, l.data.X, l.data.Y))
		m := canvas.Image()
		for at := range 4 {
			left, top := vg.Length(at%2)*(l.data.X-box.X-2*pad)+pad, vg.Length(at/2)*(l.data.Y-box.Y-2*pad)+pad
			ink := 0
			for y := int(top); y < int(top+box.Y); y++ {
				for x := int(left); x < int(left+box.X); x++ {
					if _, _, _, opacity := m.At(x, y).RGBA(); opacity > 0 {
						ink++
					}
				}
			}
			if ink < least {
				least, from = ink, vg.Point{X: cells[i].data.Min.X + left, Y: cells[i].data.Max.Y - top}
			}
		}
	}
	fill(c, fade(g.Theme.Background, 0.8), vg.Rectangle{Min: vg.Point{X: from.X, Y: from.Y - box.Y}, Max: vg.Point{X: from.X + box.X, Y: from.Y}})
	g.drawColumn(c, g.Legend, from.X+pad, from.Y-pad, l.inside.X+1)
}

// columnSize is the space of entries below one another.
func (g *Grid) columnSize(entries []Entry, width vg.Length) (size vg.Point) {
	entries, widest := g.column(entries, width)
	for _, e := range entries {
		size.X = max(size.X, g.entryWidth(e)-g.thumbWidth(e)+widest)
		size.Y += g.rowHeight([]Entry{e})
	}
	return size
}
