package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ScoreGroup holds one score of all candidates and of the queried ones.
type ScoreGroup struct {
	Name    string    // such as "Uncertainty"
	Pool    []float64 // of every candidate, including queried ones
	Queried []float64
}

// Scores compares queried examples with the pool: a panel per score with normalised histograms
// of both in the same bins, with the means as lines. Few queried examples have a mark each. All
// panels must hold equally many examples.
func Scores(t Theme, groups []ScoreGroup) (*Grid, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(groups) == 0 {
		return nil, errors.New("plots: histograms without scores")
	}
	g := t.figureOf(len(groups), 3, 0.8, wideLetters)
	pool := histogramStyle{fill: mix(t.Muted, t.Background, 0.65), line: draw.LineStyle{Color: mix(t.Muted, t.Background, 0.3), Width: 0.6}}
	queried := histogramStyle{fill: fade(t.Methods[1%len(t.Methods)], 0.35), line: draw.LineStyle{Color: t.Methods[1%len(t.Methods)], Width: t.LineWidth}}
	for _, s := range groups {
		if len(s.Pool) == 0 || len(s.Queried) == 0 {
			return nil, fmt.Errorf("plots: %d values in the pool and %d queried (score %q), want at least 1", len(s.Pool), len(s.Queried), s.Name)
		}
		if err := errors.Join(
			sameLength("values in the pool", len(s.Pool), len(groups[0].Pool)),
			sameLength("queried values", len(s.Queried), len(groups[0].Queried)),
			finite("value in the pool", s.Pool...),
			finite("queried value", s.Queried...),
		); err != nil {
			return nil, fmt.Errorf("%w (score %q)", err, s.Name)
		}
		p := t.NewPlot(Symbols(s.Name), "Share (%)")
		p.Add(gridLines{t.Faint})
		edges := binEdges(s.Pool, s.Queried)
		p.Y.Min, p.Y.Max = 0, 0
		drawn := []histogram{{edges, shares(s.Pool, edges), stat.Mean(s.Pool, nil), pool}}
		if len(s.Queried) >= fewQueried {
			drawn = append(drawn, histogram{edges, shares(s.Queried, edges), stat.Mean(s.Queried, nil), queried})
		}
		for _, h := range drawn {
			p.Add(h)
			p.Y.Max = max(p.Y.Max, 1.06*slices.Max(h.shares))
		}
		if len(s.Queried) < fewQueried {
			p.Add(rug{s.Queried, queried.line})
		}
		p.X.Min, p.X.Max = edges[0], edges[len(edges)-1]
		p.X.Tick.Marker = ticks{5}
		g.Panels = append(g.Panels, Panel{Plot: p, values: true})
	}
	line := func(h histogramStyle) stroke { l := h.line; l.Dashes = meanDashes; l.Width = 1.2; return stroke(l) }
	marks, means := plot.Thumbnailer(swatch{queried.fill, queried.line}), queried
	if len(groups[0].Queried) < fewQueried {
		marks, means = upright{line: queried.line}, pool
	}
	g.Legend = []Entry{
		{fmt.Sprintf("pool (n = %d)", len(groups[0].Pool)), []plot.Thumbnailer{swatch{pool.fill, pool.line}}, 0},
		{fmt.Sprintf("queried (n = %d)", len(groups[0].Queried)), []plot.Thumbnailer{marks}, 0},
		{"mean", []plot.Thumbnailer{line(means)}, 0},
	}
	return g, nil
}

// fewQueried is the number of queried examples below which each has a mark of its own: a
// histogram of eight would show its bins.
const fewQueried = 30

// rug marks single values along the lower edge.
type rug struct {
	values []float64
	line   draw.LineStyle
}

func (r rug) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	for _, v := range r.values {
		c.StrokeLine2(r.line, x(v), c.Min.Y, x(v), c.Min.Y+0.12*c.Size().Y)
	}
}

var meanDashes = []vg.Length{2, 1.4}

// binEdges returns about 25 bins at round numbers that cover all values.
func binEdges(groups ...[]float64) []float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, g := range groups {
		lo, hi = min(lo, slices.Min(g)), max(hi, slices.Max(g))
	}
	width := hi - lo
	if width <= 1e-9*max(math.Abs(lo), math.Abs(hi)) {
		width = max(1e-3, math.Abs(hi)/10) // all values equal, or nearly
	}
	step := roundStep(width / 30)
	first := math.Floor(lo / step)
	edges := []float64{first * step}
	for k := 1.0; edges[len(edges)-1] <= hi; k++ { // the highest value lies inside
		edges = append(edges, (first+k)*step)
	}
	return edges
}

// shares counts values by bin, lower edge included, in percent.
func shares(values, edges []float64) []float64 {
	out := make([]float64, len(edges)-1)
	for _, v := range values {
		k, found := slices.BinarySearch(edges, v)
		if !found {
			k--
		}
		out[min(max(k, 0), len(out)-1)] += 100 / float64(len(values))
	}
	return out
}

type histogramStyle struct {
	fill color.Color
	line draw.LineStyle
}

// histogram is filled, with a line along its top and a dashed line at the mean.
type histogram struct {
	edges, shares []float64
	mean          float64
	style         histogramStyle
}

func (h histogram) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	// One outline for every stretch of bins that are not empty.
	for lo := 0; lo < len(h.shares); lo++ {
		if h.shares[lo] == 0 {
			continue
		}
		outline := []vg.Point{{X: x(h.edges[lo]), Y: y(0)}}
		for ; lo < len(h.shares) && h.shares[lo] > 0; lo++ {
			outline = append(outline, vg.Point{X: x(h.edges[lo]), Y: y(h.shares[lo])}, vg.Point{X: x(h.edges[lo+1]), Y: y(h.shares[lo])})
		}
		outline = append(outline, vg.Point{X: x(h.edges[lo]), Y: y(0)})
		c.FillPolygon(h.style.fill, outline)
		c.StrokeLines(h.style.line, outline)
	}
	line := h.style.line
	line.Dashes, line.Width = meanDashes, 1.2
	c.StrokeLine2(line, x(h.mean), c.Min.Y, x(h.mean), c.Max.Y)
}
