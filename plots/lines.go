package plots

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// lines describes one panel of curves.
type lines struct {
	title, xLabel, yLabel string
	curves                []Curve
	references            []Reference
	marks                 []float64 // places on the x axis
	markStyle             draw.LineStyle
	tickEvery             bool // a tick label at every x of a curve
	whole                 bool // tick labels at whole numbers of x only
	markers               bool
	log                   bool
	ticks                 map[float64]string // names of x values, in place of their numbers
	ends                  bool               // names of curves at their ends, not in the legend
	published             []Published
	bars                  bool // intervals at the last x alone, beside the data area
}

// panel draws the curves and references of l and adds a legend entry for every
// name that is new.
func (t Theme) panel(l lines, methods, refs *looks) (Panel, error) {
	if err := checkCurves(l.curves); err != nil {
		return Panel{}, fmt.Errorf("%w (panel %q)", err, l.title)
	}
	if err := checkReferences(l.references); err != nil {
		return Panel{}, fmt.Errorf("%w (panel %q)", err, l.title)
	}
	p := t.NewPlot(Symbols(l.xLabel), Symbols(l.yLabel))
	p.Add(gridLines{t.Faint})
	for _, x := range l.marks {
		if err := finite("mark", x); err != nil {
			return Panel{}, err
		}
		p.Add(upright{x: x, line: l.markStyle})
	}
	for _, r := range l.references {
		line := refs.of(r.Name).line
		refs.enter(r.Name, stroke(line))
		p.Add(level{r.Y, line})
	}
	methods.meet(l.curves)
	var all []drawn
	for _, c := range l.curves {
		d := methods.draw(c, l.markers)
		if l.yLabel == accuracyLabel { // an interval of few runs knows no bounds
			d.clip()
		}
		if !l.ends {
			methods.enter(c.title(), d)
		}
		if t.Band != None && !l.bars {
			p.Add(band(d))
		}
		all = append(all, d)
	}
	for _, d := range slices.Backward(all) { // the first method on top
		p.Add(d)
	}
	for i, o := range l.published {
		mark := open{o.Points, shape(i+1) % shapes, t}
		refs.enter(o.Name, mark)
		p.Add(mark)
	}
	var names []string
	if l.ends {
		p.Add(ends{all, l.curves, t})
		for _, c := range l.curves {
			names = append(names, Symbols(c.title()))
		}
	}
	if t.Band != None && l.bars {
		p.Add(endBars(all))
	}
	l.setRanges(p, all)
	return Panel{Title: Symbols(l.title), Plot: p, names: names, values: true}, nil
}

// shareY gives panels of the same values one vertical axis.
func shareY(panels []Panel) {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, p := range panels {
		lo, hi = min(lo, p.Plot.Y.Min), max(hi, p.Plot.Y.Max)
	}
	for _, p := range panels {
		p.Plot.Y.Min, p.Plot.Y.Max = lo, hi
	}
}

// setRanges makes room for all values and, up to once their span on either
// side, for the intervals: the interval of two runs can be a hundred times
// wider than what there is to see. Bands are cut at the frame.
func (l lines) setRanges(p *plot.Plot, all []drawn) {
	xmin, xmax := math.Inf(1), math.Inf(-1)
	ymin, ymax := math.Inf(1), math.Inf(-1)
	low, high := ymin, ymax
	var xs []float64
	for i, c := range l.curves {
		for k, pt := range c.Points {
			xs = append(xs, pt.X)
			xmin, xmax = min(xmin, pt.X), max(xmax, pt.X)
			ymin, ymax = min(ymin, slices.Min(pt.Values)), max(ymax, slices.Max(pt.Values))
			low, high = min(low, all[i].low[k]), max(high, all[i].high[k])
		}
	}
	for _, r := range l.references {
		ymin, ymax = min(ymin, r.Y), max(ymax, r.Y)
	}
	for _, x := range l.marks {
		xmin, xmax = min(xmin, x), max(xmax, x)
	}
	for _, o := range l.published {
		for _, pt := range o.Points {
			ymin, ymax = min(ymin, pt.Y), max(ymax, pt.Y)
		}
	}
	span := ymax - ymin
	if span == 0 {
		span = max(1, math.Abs(ymax)/50)
		ymin, ymax, low, high = ymin-span, ymax+span, low-span, high+span // flat, and so it looks
	}
	ymin, ymax = min(ymin, max(low, ymin-span)), max(ymax, min(high, ymax+span))
	pad := 0.06 * max(ymax-ymin, span)
	p.Y.Min, p.Y.Max = ymin-pad, ymax+pad

	if l.log && xmin > 0 {
		p.X.Scale = plot.LogScale{}
		f := math.Pow(max(xmax/xmin, 1.5), 0.06)
		p.X.Min, p.X.Max = xmin/f, xmax*f
	} else {
		pad := 0.05 * (xmax - xmin)
		if xmax == xmin {
			pad = max(0.5, math.Abs(xmax)/10)
		}
		if !l.markers && xmax > xmin {
			pad /= 3
		}
		p.X.Min, p.X.Max = xmin-pad, xmax+pad
	}
	if l.tickEvery {
		slices.Sort(xs)
		xs = slices.Compact(xs)
		ticks := valueTicks(xs)
		for i, t := range ticks {
			ticks[i].Label = cmp.Or(l.ticks[t.Value], t.Label)
		}
		p.X.Tick.Marker = spaced{ticks, p.X}
	}
	if l.whole {
		p.X.Tick.Marker = wholeTicks{}
	}
}

// wholeTicks are at most eight whole numbers.
type wholeTicks struct{}

func (wholeTicks) Ticks(lo, hi float64) (ticks []plot.Tick) {
	step := 1.0
	for next := []float64{2, 2.5, 2}; (hi-lo)/step > 8; next = append(next[1:], next[0]) { // 1, 2, 5, 10, ...
		step *= next[0]
	}
	for v := math.Ceil(lo/step) * step; v <= hi; v += step {
		ticks = append(ticks, plot.Tick{Value: v, Label: fmt.Sprint(v)})
	}
	return ticks
}

// spaced drops labels that would come too close to the one before.
type spaced struct {
	all  plot.ConstantTicks
	axis plot.Axis
}

func (s spaced) Ticks(lo, hi float64) []plot.Tick {
	const closest = 0.09 // of the axis
	out := slices.Clone(s.all)
	last := math.Inf(-1)
	for i, t := range out {
		at := s.axis.Scale.Normalize(lo, hi, t.Value)
		if at-last < closest || i > 0 && t.Label == s.all[i-1].Label {
			out[i].Label = ""
			continue
		}
		last = at
	}
	return out
}

// upright is a vertical line through the data area.
type upright struct {
	x    float64
	line draw.LineStyle
}

func (u upright) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	c.StrokeLine2(u.line, x(u.x), c.Min.Y, x(u.x), c.Max.Y)
}

func (u upright) Thumbnail(c *draw.Canvas) {
	c.StrokeLine2(u.line, c.Center().X, c.Center().Y-vg.Length(4), c.Center().X, c.Center().Y+vg.Length(4))
}

// byEnds orders the legend as the curves end, the highest first.
func (l *looks) byEnds(curves []Curve) {
	end := map[string]float64{}
	for _, c := range curves {
		if n := len(c.Points); n > 0 {
			end[Symbols(c.title())] = stat.Mean(c.Points[n-1].Values, nil)
		}
	}
	slices.SortStableFunc(l.entries, func(a, b Entry) int { return cmp.Compare(end[b.Name], end[a.Name]) })
}

// runsNote states how many runs the curves are means of, and what their bands are.
func (t Theme) runsNote(bands bool, curves ...Curve) string { return t.note(bands, "band", curves) }

func (t Theme) note(bands bool, band string, curves []Curve) string {
	least, most := math.MaxInt, 0
	for _, c := range curves {
		for _, p := range c.Points {
			least, most = min(least, len(p.Values)), max(most, len(p.Values))
		}
	}
	if most == 1 {
		return "n = 1: no interval."
	}
	if t.ErrorBars && band == "band" {
		band = "bars"
	}
	note := fmt.Sprintf("Mean of n = %d runs", most)
	if least < most {
		note = fmt.Sprintf("Mean of n = %d to %d runs", least, most)
	}
	if enough := t.enough(); bands && t.Band != None {
		switch {
		case most < enough:
			note += ", shown as points"
		case least < enough:
			note += fmt.Sprintf("; %s: %s, or the runs as points where n < %d", band, t.Band.words(), enough)
		default:
			note += "; " + band + ": " + t.Band.words()
		}
	}
	return note + "."
}
