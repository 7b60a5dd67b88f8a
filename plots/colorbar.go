package plots

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// colorBar explains the colours of a heat map to the right of its data area.
type colorBar struct {
	label  string
	lo, hi float64 // the ends of the colours
	min    float64 // the ends of the bar, at or beyond lo and hi
	max    float64
	scale  []color.Color
	marks  []mark
}

// mark is a line across the bar.
type mark struct {
	value float64
	style draw.LineStyle
}

const (
	barGap   = vg.Length(6)
	barWidth = vg.Length(8)
	barTick  = vg.Length(2)
	barSteps = 128
)

func (b *colorBar) tickStyle(t Theme) draw.TextStyle {
	sty := t.style(t.TickSize, t.Muted)
	sty.YAlign = draw.YCenter
	return sty
}

func (b *colorBar) width(t Theme) vg.Length {
	var labels vg.Length
	for _, k := range (ticks{6}).Ticks(b.min, b.max) {
		labels = max(labels, b.tickStyle(t).Width(k.Label))
	}
	return barGap + barWidth + 2*barTick + labels + 2 + t.LabelSize*lineHeight
}

// draw draws the bar beside a data area.
func (b *colorBar) draw(c draw.Canvas, t Theme, data vg.Rectangle) {
	left, right := data.Max.X+barGap, data.Max.X+barGap+barWidth
	at := func(v float64) vg.Length {
		return data.Min.Y + vg.Length((v-b.min)/(b.max-b.min))*data.Size().Y
	}
	for i := range barSteps {
		lo := b.lo + (b.hi-b.lo)*float64(i)/barSteps
		// Each step reaches to the top, so that no seams show between them.
		fill(c, shade(b.scale, (float64(i)+0.5)/barSteps),
			vg.Rectangle{Min: vg.Point{X: left, Y: at(lo)}, Max: vg.Point{X: right, Y: at(b.hi)}})
	}
	line := draw.LineStyle{Color: t.Muted, Width: 0.6}
	c.StrokeLines(line, []vg.Point{{X: left, Y: data.Min.Y}, {X: left, Y: data.Max.Y},
		{X: right, Y: data.Max.Y}, {X: right, Y: data.Min.Y}, {X: left, Y: data.Min.Y}})
	sty := b.tickStyle(t)
	var widest vg.Length
	for _, k := range (ticks{6}).Ticks(b.min, b.max) {
		y := at(k.Value)
		c.StrokeLine2(line, right, y, right+barTick, y)
		c.FillText(sty, vg.Point{X: right + 2*barTick, Y: y + 0.06*t.TickSize}, k.Label)
		widest = max(widest, sty.Width(k.Label))
	}
	for _, m := range b.marks {
		under := draw.LineStyle{Color: t.Background, Width: m.style.Width + 1.2}
		c.StrokeLine2(under, left, at(m.value), right, at(m.value))
		c.StrokeLine2(m.style, left-1.5, at(m.value), right+1.5, at(m.value))
	}
	label := t.style(t.LabelSize, t.Ink)
	label.Rotation = quarter
	label.XAlign, label.YAlign = draw.XCenter, draw.YTop
	c.FillText(label, vg.Point{X: right + 2*barTick + widest + 2, Y: (data.Min.Y + data.Max.Y) / 2}, b.label)
}
