package plots

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/recorder"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// An SVG has its title and a description, with text as text and as outlines.
func TestSVGIsDescribed(t *testing.T) {
	g := fatal.Get(Epochs(Print(), EpochsData{Title: "a < b", Curves: []Curve{{Name: "c", Points: []Point{{1, []float64{10}}, {2, []float64{20}}}}}}))(t)
	for _, text := range []bool{false, true} {
		g.Theme.Text = text
		svg := string(fatal.Get(g.Encode("svg"))(t))
		if !strings.Contains(svg, "<title>a &lt; b</title>\n<desc>a &lt; b: Accuracy (%) over Epoch.") {
			t.Errorf("text %v: %.600s", text, svg)
		}
	}
}

// Predictions with a known truth are marked in words.
func TestTilesAreMarked(t *testing.T) {
	for _, tt := range []struct {
		truth string
		want  []string
	}{
		{"", []string{"cat", "home"}}, {"cat", []string{"cat: right", "home"}}, {"dog", []string{"cat: wrong", "is dog", "home"}},
	} {
		if got := (sheet{theme: Print()}).caption(Tile{Class: "cat", Truth: tt.truth, Domain: "home"}); !slices.Equal(got, tt.want) {
			t.Errorf("truth %q: %q, want %q", tt.truth, got, tt.want)
		}
	}
}

// Many kinds of points have their names in the map, few in the legend alone.
func TestMapsOfManyClassesAreNamed(t *testing.T) {
	for _, n := range []int{fewKinds, fewKinds + 2} {
		d := EmbeddingData{DomainNames: []string{"x"}}
		for i := range n {
			d.Points.Data, d.Points.Rows = append(d.Points.Data, float32(i), float32(i%2)), i+1
			d.Classes, d.Domains, d.ClassNames = append(d.Classes, i), append(d.Domains, 0), append(d.ClassNames, string(rune('a'+i)))
		}
		d.Points.Cols, d.Points.Stride = 2, 2
		g := fatal.Get(Embedding(Print(), d))(t)
		var canvas recorder.Canvas
		g.Panels[0].Plot.Draw(draw.NewCanvas(&canvas, 200, 120))
		names := 0
		for _, a := range canvas.Actions {
			if s, ok := a.(*recorder.FillString); ok && slices.Contains(d.ClassNames, s.String) {
				names++
			}
		}
		if want := map[int]int{fewKinds + 2: fewKinds + 2}[n]; names != want {
			t.Errorf("%d classes: %d names in the map, want %d", n, names, want)
		}
	}
}

// Lines go from the point before, in hundredths; other paths stay.
func TestShorterPaths(t *testing.T) {
	for path, want := range map[string]string{
		"M10.5,0L10.504,20.125L-1,-0.25ZM3,4L3.2,4.1": "M10.5 0l0 20.13-11.5-20.38zM3 4l.2.1",
		"M1,2A3,3 0 0 0 4,5L6,7":                      "M1,2A3,3 0 0 0 4,5L6,7",
	} {
		if got := string(shorter([]byte(`<path d="` + path + `" />`))); got != `<path d="`+want+`" />` {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
