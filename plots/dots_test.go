package plots

import (
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func TestDots(t *testing.T) {
	values := func(name string, v ...float64) Curve { return Curve{Name: name, Points: []Point{{Values: v}}} }
	d := DotsData{Groups: []Target{
		{"photo", []Curve{values("ceg", 60, 62, 64, 60, 61), values("badge", 50)}},
		{"sketch", []Curve{values("badge", 98, 99, 100)}},
	}, References: []Reference{{"chance", 10}}}
	g := fatal.Get(Dots(Print(), d))(t)
	p := g.Panels[0].Plot
	var labels []string
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		labels = append(labels, tick.Label)
	}
	if len(g.Legend) != 3 || g.Legend[2].Name != "chance" || strings.Join(labels, " ") != "photo sketch" || p.Y.Min > 10 || p.Y.Max < 100 {
		t.Errorf("legend %v, labels %q, y %v to %v", g.Legend, labels, p.Y.Min, p.Y.Max)
	}
	if want := "Mean of n = 1 to 5 runs; bar: 95% Student-t interval, or the runs as points where n < 5. Small dots: single runs."; g.Note != want {
		t.Errorf("note %q, want %q", g.Note, want)
	}
	if _, err := g.Encode("svg"); err != nil {
		t.Error(err)
	}
	// A bar for five runs, none for fewer or without a band; a dot for each of several runs and two fills of the mean.
	for _, c := range []struct {
		values      []float64
		band        Band
		bars, fills int
	}{{[]float64{1, 2, 3, 2, 2}, CI, 1, 7}, {[]float64{1, 2, 3, 2, 2}, None, 0, 7}, {[]float64{1, 2, 3}, CI, 0, 5}, {[]float64{1}, CI, 0, 2}} {
		theme := Print()
		theme.Band = c.band
		dot := (&looks{theme: theme}).draw(values("ceg", c.values...), true)
		axes := plot.New()
		axes.X.Min, axes.X.Max, axes.Y.Min, axes.Y.Max = -1, 1, 0, 4
		var canvas recorder.Canvas
		dotted(dot).Plot(draw.NewCanvas(&canvas, 100, 100), axes)
		bars, fills := 0, 0
		for _, a := range canvas.Actions {
			switch a.(type) {
			case *recorder.Stroke:
				bars++
			case *recorder.Fill:
				fills++
			}
		}
		if bars != c.bars || fills != c.fills {
			t.Errorf("%v, band %q: %d bars and %d fills, want %d and %d", c.values, c.band, bars, fills, c.bars, c.fills)
		}
	}
	for want, d := range map[string]DotsData{
		"without groups":                      {},
		`no curves (group "photo")`:           {Groups: []Target{{Name: "photo"}}},
		`"ceg" has 2 points in group "photo"`: {Groups: []Target{{"photo", []Curve{{Name: "ceg", Points: []Point{{X: 1, Values: []float64{1}}, {X: 2, Values: []float64{1}}}}}}}},
	} {
		fatal.Says(t, fatal.Err(Dots(Print(), d)), want)
	}
}

// Long names of groups do not overlap, and are whole.
func TestDotsNamesFit(t *testing.T) {
	var groups []Target
	names := []string{"camera_trap_north", "CEG (published schedule), w/o L_eg", "phone pictures of 2024", "art_painting"}
	for _, name := range names {
		groups = append(groups, Target{name, []Curve{{Name: "ceg", Points: []Point{{Values: []float64{50}}}}}})
	}
	g := fatal.Get(Dots(Print(), DotsData{Groups: groups}))(t)
	l := fatal.Get(g.layout())(t)
	axis := g.Panels[0].Plot.X
	for i, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
		if w := axis.Tick.Label.Width(tick.Label); w > l.data.X/vg.Length(len(names)) {
			t.Errorf("%q is %v wide, want at most a quarter of %v", tick.Label, w, l.data.X)
		}
		if got, want := strings.Join(strings.Fields(tick.Label), ""), strings.ReplaceAll(Symbols(names[i]), " ", ""); got != want {
			t.Errorf("the name is %q, want %q", got, want)
		}
	}
}
