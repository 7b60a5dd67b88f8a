package plots

import (
	"math"
	"strings"
	"testing"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestReliability(t *testing.T) {
	d := ReliabilityData{Panels: []ReliabilityPanel{
		{Title: "Source", Curves: []ReliabilityCurve{{"before", []XY{{X: 0.3, Y: 0.2}, {X: 0.9, Y: 0.6}}}, {"after", []XY{{X: 0.3, Y: 0.3}}}}},
		{Title: "Target", Curves: []ReliabilityCurve{{"before", []XY{{X: 0.5, Y: 0.1}}}, {"after", nil}}},
	}}
	g := fatal.Get(Reliability(Print(), d))(t)
	var names []string
	for _, e := range g.Legend {
		names = append(names, e.Name)
	}
	if len(g.Panels) != 2 || strings.Join(names, "|") != "before|after|perfect calibration" {
		t.Errorf("%d panels, legend %q", len(g.Panels), names)
	}
	for _, p := range g.Panels {
		if p.Plot.X.Min != 0 || p.Plot.X.Max != 1 || p.Plot.Y.Min != 0 || p.Plot.Y.Max != 1 {
			t.Errorf("%s: axes %v to %v and %v to %v", p.Title, p.Plot.X.Min, p.Plot.X.Max, p.Plot.Y.Min, p.Plot.Y.Max)
		}
	}
	b, err := g.Encode("svg")
	if err != nil || !strings.Contains(string(b), "<svg") {
		t.Errorf("%d bytes of SVG (%v)", len(b), err)
	}
	for _, bad := range []XY{{X: 1.1, Y: 0}, {X: 0, Y: math.NaN()}} {
		d.Panels[0].Curves[0].Points[0] = bad
		if _, err := Reliability(Print(), d); err == nil {
			t.Errorf("%v is drawn", bad)
		}
	}
	if _, err := Reliability(Print(), ReliabilityData{}); err == nil {
		t.Error("a figure without panels")
	}
}
