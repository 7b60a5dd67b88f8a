package plots

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

// The legend has the curves in the order in which they end, then references and marks.
func TestLegendFollowsTheEnds(t *testing.T) {
	curve := func(name string, values ...float64) (c Curve) {
		c.Name = name
		for i, v := range values {
			c.Points = append(c.Points, Point{X: float64(i + 1), Values: []float64{v}})
		}
		return c
	}
	g := fatal.Get(Epochs(Print(), EpochsData{Curves: []Curve{curve("low", 90, 20), curve("high", 10, 80), curve("middle", 50, 50)}, References: []Reference{{"chance", 10}}}))(t)
	if len(g.Legend) != 1 || g.Legend[0].Name != "chance" { // the curves have their names at their ends
		t.Errorf("legend %+v, want chance", g.Legend)
	}
	g = fatal.Get(Epochs(Print(), EpochsData{Curves: []Curve{curve("low", 90, 20), curve("high", 10, 80), curve("middle", 50, 50), curve("a", 1, 1), curve("b", 2, 2)}, References: []Reference{{"chance", 10}}}))(t)
	var names []string
	for _, e := range g.Legend {
		names = append(names, e.Name)
	}
	if want := []string{"high", "middle", "low", "b", "a", "chance"}; !slices.Equal(names, want) {
		t.Errorf("legend %q, want %q", names, want)
	}
	b := fatal.Get(Budget(Print(), BudgetData{Targets: []Target{
		{Name: "a", Curves: []Curve{curve("x", 10, 90), curve("y", 10, 80)}}, {Name: "b", Curves: []Curve{curve("x", 10, 20), curve("y", 10, 80)}}}}))(t)
	if b.Legend[0].Name != "y" || b.Legend[1].Name != "x" { // as on average
		t.Errorf("legend %q, %q, want y, x", b.Legend[0].Name, b.Legend[1].Name)
	}
}

// The interval of accuracies ends at 0 and at 100%, and the axis a little beyond.
func TestBandsOfAccuraciesStayWithin(t *testing.T) {
	c := Curve{Name: "wide", Points: []Point{{X: 1, Values: []float64{1, 2, 30, 1, 2}}, {X: 2, Values: []float64{99, 98, 70, 99, 98}}}}
	for label, inside := range map[string]bool{accuracyLabel: true, "Seconds": false} {
		p := fatal.Get(Print().panel(lines{yLabel: label, curves: []Curve{c}}, &looks{theme: Print()}, nil))(t)
		if got := p.Plot.Y.Min > -7 && p.Plot.Y.Max < 107; got != inside {
			t.Errorf("%s: the axis goes from %v to %v", label, p.Plot.Y.Min, p.Plot.Y.Max)
		}
	}
}

// A name that is wider than the figure has several lines, and is whole.
func TestLegendFits(t *testing.T) {
	const long = "Random + cross-entropy, upfront, all labels, 100% of the labels (n = 10)"
	g := &Grid{Theme: Print(), Width: Print().ColumnWidth}
	width := g.Width - 2*margin
	rows := g.legendRows([]Entry{{Name: "chance"}, {Name: long}}, width)
	var names []string
	for _, row := range rows {
		for _, e := range row {
			names = append(names, strings.ReplaceAll(e.Name, "\n", " "))
			if w := g.entryWidth(e); w > width {
				t.Errorf("%q is %v wide, want at most %v", e.Name, w, width)
			}
		}
	}
	if want := []string{"chance", long}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if h, one := g.legendHeight([]Entry{{Name: long}}, width), g.legendHeight([]Entry{{Name: "chance"}}, width); h <= one {
		t.Errorf("a legend of two lines is %v high, one of one line %v", h, one)
	}
}

// A legend beside the panels has its names in lines, where it fits.
func TestLegendBesidePanels(t *testing.T) {
	const long = "Random + cross-entropy (published schedule)"
	g := &Grid{Theme: Print()}
	entries := []Entry{{Name: long}, {Name: "CEG", Width: dotWidth}, {Name: "another " + long}}
	list, widest := g.column(entries, 110)
	if widest != g.thumbWidth(entries[0]) || strings.ReplaceAll(list[2].Name, "\n", " ") != entries[2].Name {
		t.Errorf("pictures %v wide, names %+v", widest, list)
	}
	height := vg.Length(0)
	for _, e := range list {
		if w := g.entryWidth(e) - g.thumbWidth(e) + widest; w > 110 {
			t.Errorf("%q is %v wide, want at most 110", e.Name, w)
		}
		height += g.rowHeight([]Entry{e})
	}
	for size, want := range map[vg.Point]bool{{X: 110, Y: height}: true, {X: 110, Y: height - 1}: false, {X: 40, Y: 10 * height}: false} {
		if got := g.columnFits(entries, size); got != want {
			t.Errorf("fits %v: %v, want %v", size, got, want)
		}
	}
}

// More than four curves have their intervals at their ends.
func TestIntervalsAtTheEnds(t *testing.T) {
	var curves []Curve
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		curves = append(curves, Curve{Name: name, Points: []Point{{1, []float64{1, 2, 3, 4, 5}}, {2, []float64{11, 12, 13, 14, 15}}}})
	}
	for n, want := range map[int]string{4: "Mean of n = 5 runs; band: 95% Student-t interval.",
		5: "Mean of n = 5 runs; bars at the right, of the last epoch: 95% Student-t interval."} {
		g, err := Epochs(Print(), EpochsData{Curves: curves[:n]})
		if err != nil || g.Note != want {
			t.Errorf("%d curves: %q, %v, want %q", n, g.Note, err, want)
		}
	}
}

// A reference far from the curves stands in the note, and does not flatten them.
func TestFarReferences(t *testing.T) {
	curves := []Curve{{Name: "a", Points: []Point{{1, []float64{40}}, {2, []float64{50}}}}}
	for chance, want := range map[float64]string{6.25: "n = 1: no interval. Beyond the axis: chance (6.2).", 35: "n = 1: no interval."} {
		g, err := Epochs(Print(), EpochsData{Curves: curves, References: []Reference{{"chance", chance}}})
		if err != nil || g.Note != want || (g.Panels[0].Plot.Y.Min > 36) != (chance < 30) {
			t.Errorf("chance at %v: %q, %v, axis from %v, want %q", chance, g.Note, err, g.Panels[0].Plot.Y.Min, want)
		}
	}
}
