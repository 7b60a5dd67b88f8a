package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Cell holds the runs' values at one combination of two settings.
type Cell struct {
	X, Y   float64
	Values []float64 // one per run
}

// Surface is a heat map over two settings. Rows and columns are the occurring values, equally
// spaced; combinations without a cell stay empty.
type Surface struct {
	Title          string
	XLabel, YLabel string
	Cells          []Cell
	// Chosen is the cell to frame, or nil.
	Chosen *[2]float64
	// References are marked on the colour bar.
	References []Reference
}

// cells is a heat map as a gonum plotter, mean by row and column.
type cells struct {
	means  [][]float64 // [y][x], NaN where empty
	lo, hi float64
	scale  []color.Color
	chosen [2]int // column and row, -1 for none
	theme  Theme
}

// heatMap returns the panel of s and what its note has to add.
func (t Theme) heatMap(s Surface, valueLabel string, refs *looks) (Panel, string, error) {
	fail := func(err error) (Panel, string, error) {
		return Panel{}, "", fmt.Errorf("%w (panel %q)", err, s.Title)
	}
	if len(s.Cells) == 0 {
		return fail(fmt.Errorf("plots: a heat map without cells"))
	}
	if err := checkReferences(s.References); err != nil {
		return fail(err)
	}
	var xs, ys []float64
	for _, c := range s.Cells {
		if err := finite("cell coordinate", c.X, c.Y); err != nil {
			return fail(err)
		}
		xs, ys = append(xs, c.X), append(ys, c.Y)
	}
	slices.Sort(xs)
	slices.Sort(ys)
	xs, ys = slices.Compact(xs), slices.Compact(ys)
	m := cells{lo: math.Inf(1), hi: math.Inf(-1), scale: t.Sequential, chosen: [2]int{-1, -1}, theme: t}
	for range ys {
		m.means = append(m.means, slices.Repeat([]float64{math.NaN()}, len(xs)))
	}
	for _, c := range s.Cells {
		err := finite("value", c.Values...)
		if len(c.Values) == 0 {
			err = errors.New("plots: mean of no values")
		}
		if err != nil {
			return fail(fmt.Errorf("%w (cell %v, %v)", err, c.X, c.Y))
		}
		x, y := slices.Index(xs, c.X), slices.Index(ys, c.Y)
		if !math.IsNaN(m.means[y][x]) {
			return fail(fmt.Errorf("plots: two cells at %v, %v", c.X, c.Y))
		}
		mean := stat.Mean(c.Values, nil)
		m.means[y][x] = mean
		m.lo, m.hi = min(m.lo, mean), max(m.hi, mean)
	}
	if s.Chosen != nil {
		m.chosen = [2]int{slices.Index(xs, s.Chosen[0]), slices.Index(ys, s.Chosen[1])}
		if m.chosen[0] < 0 || m.chosen[1] < 0 {
			return fail(fmt.Errorf("plots: no cell at the chosen %v, %v", s.Chosen[0], s.Chosen[1]))
		}
	}
	noise := noiseOf(s.Cells)
	wider := m.hi-m.lo < 4*noise
	if wider { // values within the seeds' noise look alike
		middle := (m.lo + m.hi) / 2
		m.lo, m.hi = middle-2*noise, middle+2*noise
		if valueLabel == accuracyLabel {
			m.lo, m.hi = max(m.lo, 0), min(m.hi, 100)
		}
	}
	if m.lo == m.hi { // one colour, in the middle
		m.lo, m.hi = m.lo-0.5, m.hi+0.5
	}
	p := t.NewPlot(Symbols(s.XLabel), Symbols(s.YLabel))
	p.Add(m)
	p.X.Min, p.X.Max = -0.5, float64(len(xs))-0.5
	p.Y.Min, p.Y.Max = -0.5, float64(len(ys))-0.5
	p.X.Tick.Marker, p.Y.Tick.Marker = indexTicks(xs), indexTicks(ys)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Tick.Length, a.Width, a.Padding = 0, 0, 1
	}
	bar := &colorBar{label: valueLabel, lo: m.lo, hi: m.hi, min: m.lo, max: m.hi, scale: t.Sequential}
	note := t.markReferences(bar, s.Title, s.References, refs)
	if wider {
		note += fmt.Sprintf(" Cells that differ by less than a mean's 95%% interval (±%s) have similar colours.", number(noise, 2))
	}
	if len(s.Cells) < len(xs)*len(ys) {
		note += " Empty cells of “" + s.Title + "”: no runs."
	}
	return Panel{Title: s.Title, Plot: p, bar: bar}, note, nil
}

// noiseOf returns half of the 95% Student-t interval of a cell's mean, with the standard deviation
// over runs pooled over all cells; 0 with fewer than five degrees of freedom.
func noiseOf(list []Cell) float64 {
	squares, free, runs := 0.0, 0.0, 0.0
	for _, c := range list {
		runs += float64(len(c.Values)) / float64(len(list))
		if n := len(c.Values); n > 1 {
			squares += float64(n-1) * stat.Variance(c.Values, nil)
			free += float64(n - 1)
		}
	}
	if free < 5 {
		return 0
	}
	t := distuv.StudentsT{Sigma: 1, Nu: free}.Quantile((1 + confidence) / 2)
	return t * math.Sqrt(squares/free/runs)
}

// markReferences extends the bar to references at most a span away and returns
// a sentence about the others, which would squeeze the colours.
func (t Theme) markReferences(b *colorBar, title string, references []Reference, refs *looks) string {
	var off []string
	span := b.hi - b.lo
	for _, r := range references {
		if r.Y < b.lo-span || r.Y > b.hi+span {
			off = append(off, Symbols(r.Name)+" "+number(r.Y, 4))
			continue
		}
		line := refs.of(r.Name).line
		refs.enter(r.Name, stroke(line))
		line.Width = 1.2
		b.min, b.max = min(b.min, r.Y), max(b.max, r.Y)
		b.marks = append(b.marks, mark{r.Y, line})
	}
	if len(b.marks) > 0 {
		pad := 0.04 * (b.max - b.min)
		if b.min < b.lo {
			b.min -= pad
		}
		if b.max > b.hi {
			b.max += pad
		}
	}
	if len(off) == 0 {
		return ""
	}
	return " Off the scale of “" + title + "”: " + strings.Join(off, ", ") + "."
}

// indexTicks labels 0, 1, 2, ... with values.
func indexTicks(values []float64) plot.ConstantTicks {
	out := valueTicks(values)
	for i := range out {
		out[i].Value = float64(i)
	}
	return out
}

func (m cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	const seam = 0.4
	var frame vg.Rectangle
	framed := false
	for j, row := range m.means {
		for i, v := range row {
			r := vg.Rectangle{
				Min: vg.Point{X: x(float64(i)-0.5) + seam, Y: y(float64(j)-0.5) + seam},
				Max: vg.Point{X: x(float64(i)+0.5) - seam, Y: y(float64(j)+0.5) - seam},
			}
			if math.IsNaN(v) {
				fill(c, m.theme.Faint, r)
				continue
			}
			col := shade(m.scale, (v-m.lo)/(m.hi-m.lo))
			fill(c, col, r)
			sty := m.theme.style(m.theme.NoteSize, onTop(col))
			sty.XAlign, sty.YAlign = draw.XCenter, draw.YCenter
			if s := minus(strconv.FormatFloat(v, 'f', 1, 64)); sty.Width(s) <= r.Size().X-2 && m.theme.NoteSize <= r.Size().Y {
				c.FillText(sty, vg.Point{X: (r.Min.X + r.Max.X) / 2, Y: (r.Min.Y+r.Max.Y)/2 + 0.06*m.theme.NoteSize}, s)
			}
			if m.chosen == [2]int{i, j} {
				frame, framed = r, true
			}
		}
	}
	if framed {
		// Two tones, so that it shows on any colour.
		for _, l := range []draw.LineStyle{{Color: color.White, Width: 2.6}, {Color: color.Black, Width: 1.2}} {
			c.StrokeLines(l, []vg.Point{frame.Min, {X: frame.Min.X, Y: frame.Max.Y}, frame.Max,
				{X: frame.Max.X, Y: frame.Min.Y}, frame.Min, {X: frame.Min.X, Y: frame.Max.Y}})
		}
	}
}
