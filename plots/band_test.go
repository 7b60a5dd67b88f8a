package plots

import (
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"
)

// A band has no place where there are fewer than five runs.
func TestBandStopsAtSingleRuns(t *testing.T) {
	for _, test := range []struct {
		runs        []int // at x = 0, 1, ...
		areas, bars int
	}{
		{[]int{5, 5, 5}, 1, 0},
		{[]int{1, 5, 4}, 0, 1},
		{[]int{5, 5, 1, 5}, 1, 1},
		{[]int{1, 1}, 0, 0},
		{[]int{4, 4, 4}, 0, 0},
	} {
		c := Curve{Name: "ceg"}
		for x, n := range test.runs {
			c.Points = append(c.Points, Point{X: float64(x), Values: []float64{50, 60, 70, 80, 90}[:n]})
		}
		d := (&looks{theme: Print()}).draw(c, true)
		p := plot.New()
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 4, 0, 100
		var canvas recorder.Canvas
		band(d).Plot(draw.NewCanvas(&canvas, 100, 100), p)
		areas, bars := 0, 0
		for _, a := range canvas.Actions {
			switch a.(type) {
			case *recorder.Fill:
				areas++
			case *recorder.Stroke:
				bars++
			}
		}
		if areas != test.areas || bars != test.bars {
			t.Errorf("runs %v: %d areas and %d bars, want %d and %d", test.runs, areas, bars, test.areas, test.bars)
		}
	}
}
