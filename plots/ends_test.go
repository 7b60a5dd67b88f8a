package plots

import (
	"slices"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// Labels at the ends are ordered as the lines end, do not overlap, and stay on the axis.
func TestEndsDoNotOverlap(t *testing.T) {
	var curves []Curve
	for i, end := range []float64{50, 51, 50.5, 90} {
		curves = append(curves, Curve{Name: string(rune('a' + i)), Points: []Point{{1, []float64{10}}, {2, []float64{end}}}})
	}
	g := fatal.Get(Epochs(Print(), EpochsData{Curves: curves}))(t)
	var canvas recorder.Canvas
	g.Panels[0].Plot.Draw(draw.NewCanvas(&canvas, 200, 120))
	at := map[string]vg.Length{}
	for _, a := range canvas.Actions {
		if s, ok := a.(*recorder.FillString); ok && slices.Contains([]string{"a", "b", "c", "d"}, s.String) {
			at[s.String] = s.Point.Y
		}
	}
	order := []string{"d", "b", "c", "a"}
	if len(at) != 4 {
		t.Fatalf("labels %v, want %q", at, order)
	}
	for i, name := range order[1:] {
		if gap := at[order[i]] - at[name]; gap < Print().NoteSize {
			t.Errorf("%s is %v above %s, want at least %v", order[i], gap, name, Print().NoteSize)
		}
	}
	if at["a"] < 0 || at["d"] > 120 {
		t.Errorf("labels at %v, want within 0 to 120", at)
	}
	var _ plot.GlyphBoxer = ends{}
}

// Few runs are points also where a curve has no markers.
func TestFewRunsArePoints(t *testing.T) {
	for n, want := range map[int]int{1: 0, 4: 8, 5: 0} {
		c := Curve{Name: "a"}
		for x := range 2 {
			c.Points = append(c.Points, Point{float64(x), []float64{1, 2, 3, 4, 5}[:n]})
		}
		d := (&looks{theme: Print()}).draw(c, false)
		p := plot.New()
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 6
		var canvas recorder.Canvas
		d.Plot(draw.NewCanvas(&canvas, 100, 100), p)
		fills := 0
		for _, a := range canvas.Actions {
			if _, ok := a.(*recorder.Fill); ok {
				fills++
			}
		}
		if fills != want {
			t.Errorf("%d runs: %d points, want %d", n, fills, want)
		}
	}
}
