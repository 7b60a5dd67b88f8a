package plots

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/ledg-go/ledg/ceg/testing/fatal"
)

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{0, 100, 5, "0 20 40 60 80 100"},
		{77.6, 79.4, 5, "78.0 78.5 79.0"},
		{-1.1, 1.1, 5, "\u22121.0 \u22120.5 0.0 0.5 1.0"},
		{0.001, 0.0042, 5, "0.001 0.002 0.003 0.004"},
		{0, 3e6, 3, "0 1000000 2000000 3000000"},
		{-0.04, 1.04, 5, "0.0 0.5 1.0"},
	} {
		var got []string
		for _, k := range (ticks{c.n}).Ticks(c.lo, c.hi) {
			got = append(got, k.Label)
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v to %v: %s, want %s", c.lo, c.hi, s, c.want)
		}
	}
	for v, want := range map[float64]string{1.0 / 3: "0.333", 2.5: "2.5", 10: "10", -0.5: "\u22120.5", 0: "0", 12345: "12300"} {
		if got := number(v, 3); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestAverage(t *testing.T) {
	targets := []Target{
		{"a", []Curve{
			{Name: "CEG", Points: []Point{{1, []float64{10, 20}}, {2, []float64{30, 40}}, {5, []float64{50}}}},
			{Name: "only here", Points: []Point{{1, []float64{1, 2}}}},
		}},
		{"b", []Curve{
			{Name: "CEG", Points: []Point{{1, []float64{20, 40}}, {2, []float64{0}}, {5, []float64{70}}}},
		}},
	}
	got := Average(targets)
	if len(got) != 1 || got[0].Name != "CEG" || len(got[0].Points) != 2 {
		t.Fatalf("average %+v, want CEG at 1 and 5: at 2 the targets differ in runs", got)
	}
	if p := got[0].Points[0]; p.X != 1 || !slices.Equal(p.Values, []float64{15, 30}) {
		t.Errorf("average at 1 is %+v, want 15 and 30: run by run", p)
	}
	if p := got[0].Points[1]; p.X != 5 || !slices.Equal(p.Values, []float64{60}) {
		t.Errorf("average at 5 is %+v, want 60", p)
	}
	if targets[0].Curves[0].Points[0].Values[0] != 10 {
		t.Error("the targets have changed")
	}
	if Average(nil) != nil {
		t.Error("no targets have an average")
	}
}

// TestRanges checks what an axis shows: all values, intervals up to once the
// span of the values, references and marks.
func TestRanges(t *testing.T) {
	theme := Print()
	panel := func(l lines) *plot.Plot {
		t.Helper()
		p := fatal.Get(theme.panel(l, &looks{theme: theme}, &looks{theme: theme, dash: true}))(t)
		return p.Plot
	}
	// n = 2 has no band. n = 5: that of {9, 11, 11, 11, 11} is 10.6 -/+ 1.111.
	two := panel(lines{curves: []Curve{{Name: "a", Points: []Point{{1, []float64{9, 11}}, {3, []float64{10, 10}}}}}, markers: true})
	if lo, hi := two.Y.Min, two.Y.Max; !near(lo, 9-0.12, 1e-9) || !near(hi, 11+0.12, 1e-9) {
		t.Errorf("y from %v to %v, want 8.88 to 11.12", lo, hi)
	}
	p := panel(lines{curves: []Curve{{Name: "a", Points: []Point{{1, []float64{9, 11, 11, 11, 11}}, {3, []float64{10, 10, 10, 10, 10}}}}}, markers: true})
	if lo, hi := p.Y.Min, p.Y.Max; !near(lo, 9-0.1626, 1e-3) || !near(hi, 11.7106+0.1626, 1e-3) {
		t.Errorf("y from %v to %v, want 8.837 to 11.873", lo, hi)
	}
	if lo, hi := p.X.Min, p.X.Max; !near(lo, 0.9, 1e-9) || !near(hi, 3.1, 1e-9) {
		t.Errorf("x from %v to %v, want 0.9 to 3.1", lo, hi)
	}
	p = panel(lines{curves: []Curve{{Name: "a", Points: []Point{{5, []float64{50}}}}}, references: []Reference{{"r", 80}}, marks: []float64{9}})
	if p.Y.Min > 50 || p.Y.Max < 80 || p.X.Max < 9 {
		t.Errorf("x to %v, y from %v to %v; want to see 9, 50 and 80", p.X.Max, p.Y.Min, p.Y.Max)
	}
	p = panel(lines{curves: []Curve{{Name: "a", Points: []Point{{1, []float64{50}}, {100, []float64{50}}}}}, markers: true, log: true})
	if at := p.X.Norm(10); !near(at, 0.5, 1e-9) {
		t.Errorf("10 lies at %v of a logarithmic axis from 1 to 100, want 0.5", at)
	}
}

func TestDrawnNumbers(t *testing.T) {
	l := &looks{theme: Print()}
	d := l.draw(Curve{Name: "a", Points: []Point{{1, []float64{1, 2, 3, 1, 3}}, {2, []float64{5}}}}, true)
	if !slices.Equal(d.x, []float64{1, 2}) || !slices.Equal(d.mean, []float64{2, 5}) {
		t.Errorf("drawn at %v, %v", d.x, d.mean)
	}
	if !near(d.high[0], 2+2.7764/math.Sqrt(5), 1e-3) || d.low[1] != 5 || d.high[1] != 5 {
		t.Errorf("band from %v to %v", d.low, d.high)
	}
	first := l.of("a").line.Color
	for i := range 40 {
		l.of(string(rune('b' + i)))
	}
	if l.of("a").line.Color != first {
		t.Error("the look of a name changes as others come")
	}
	// Fourteen methods: no two with the same colour and dashes.
	l = &looks{theme: Print()}
	seen := map[string]bool{}
	for i := range 14 {
		k := l.of(string(rune('a' + i))).line
		r, g, b, _ := k.Color.RGBA()
		key := strings.Join([]string{number(float64(r), 9), number(float64(g), 9), number(float64(b), 9)}, ",")
		for _, d := range k.Dashes {
			key += " " + number(float64(d), 4)
		}
		if seen[key] {
			t.Errorf("method %d looks like one before: %s", i, key)
		}
		seen[key] = true
	}
}

// Colours span at least four half-intervals of a mean, so that what noise explains looks alike.
func TestHeatMapScaleSpansTheNoise(t *testing.T) {
	var s Surface
	for x := range 3 {
		m := 50 + float64(x)/10
		s.Cells = append(s.Cells, Cell{float64(x), 0, []float64{m - 3, m, m + 3}})
	}
	p, note, err := Print().heatMap(s, accuracyLabel, &looks{theme: Print(), dash: true})
	half := 2.4469 * 3 / math.Sqrt(3) // six degrees of freedom, three runs a cell
	if err != nil || !near(p.bar.hi-p.bar.lo, 4*half, 1e-3) || !near((p.bar.hi+p.bar.lo)/2, 50.1, 1e-9) || !strings.Contains(note, "±4.2") {
		t.Errorf("colours from %v to %v, note %q, %v; want a span of %v around 50.1", p.bar.lo, p.bar.hi, note, err, 4*half)
	}
}

// The title of a heat map at column width is whole, on as many lines as it needs.
func TestTitlesFit(t *testing.T) {
	theme := Print()
	theme.Text = true
	height := vg.Length(0)
	for _, title := range []string{"Short", "MaxHerding then CEG selection + CEG loss (published schedule), features, average of 4 targets"} {
		g := fatal.Get(Sensitivity(theme, SensitivityData{Surfaces: []Surface{{Title: title, Cells: []Cell{{1, 1, []float64{50}}, {2, 1, []float64{51}}}}}}))(t)
		data := fatal.Get(g.Encode("svg"))(t)
		text := strings.Join(strings.Fields(regexp.MustCompile(`<style>[^<]*</style>|<[^>]*>`).ReplaceAllString(string(data), "")), " ")
		if !strings.Contains(text, title) {
			t.Errorf("the figure's texts are %q, want the title %q", text, title)
		}
		_, h, err := g.Size()
		if err != nil || h <= height {
			t.Errorf("%q: %v high, %v; the figure before %v", title, h, err, height)
		}
		height = h
	}
}

func TestHeatMapNumbers(t *testing.T) {
	theme := Print()
	s := Surface{Title: "s", Chosen: &[2]float64{2, 0.5}, Cells: []Cell{
		{2, 0.5, []float64{80, 82}}, {1, 0.5, []float64{70}}, {1, 3, []float64{75}},
	}, References: []Reference{{"near", 60}, {"far", 50}}}
	p, note := fatal.Get2(theme.heatMap(s, "v", &looks{theme: theme, dash: true}))(t)
	var labels []string
	for _, a := range []plot.Axis{p.Plot.X, p.Plot.Y} {
		for _, k := range a.Tick.Marker.Ticks(0, 1) {
			labels = append(labels, k.Label)
		}
	}
	if got := strings.Join(labels, " "); got != "1 2 0.5 3" {
		t.Errorf("columns and rows %s, want 1 2 0.5 3", got)
	}
	b := p.bar
	if b.lo != 70 || b.hi != 81 || len(b.marks) != 1 || b.marks[0].value != 60 || b.min > 60 || b.max != 81 {
		t.Errorf("bar %+v, want colours from 70 to 81 and a mark at 60", b)
	}
	if !strings.Contains(note, "far 50") || strings.Contains(note, "near") || !strings.Contains(note, "Empty cells") {
		t.Errorf("note %q, want one on the far reference and the empty cell", note)
	}
}

func TestHistogram(t *testing.T) {
	edges := binEdges([]float64{0, 0.5, 1}, []float64{0.25})
	if edges[0] != 0 || edges[len(edges)-1] <= 1 {
		t.Errorf("bins from %v to %v, want from 0 to beyond 1", edges[0], edges[len(edges)-1])
	}
	got := shares([]float64{0, 0, 1, 2.5}, []float64{0, 1, 2, 3})
	if !slices.Equal(got, []float64{50, 25, 25}) {
		t.Errorf("shares %v, want 50, 25 and 25: a lower edge belongs to its bin", got)
	}
	for _, v := range []float64{0, 5, -1e6, 1e-9} {
		edges := binEdges([]float64{v})
		s := shares([]float64{v}, edges)
		if len(edges) > 100 || !near(slices.Max(s), 100, 1e-9) {
			t.Errorf("a single %v falls into %d bins with %v%%", v, len(s), slices.Max(s))
		}
	}
}

// Axis labels are not longer than their axes, and whole.
func TestAxisLabelsFit(t *testing.T) {
	const x, y = "MaxHerding + FixMatch, upfront (preset ledg), all labels", "MaxHerding then CEG selection + CEG loss (published schedule)"
	theme := Print()
	theme.Text = true
	g := fatal.Get(Epochs(theme, EpochsData{XLabel: "Labels for " + x, ValueLabel: "Labels for " + y,
		Curves: []Curve{{Name: "noto", Points: []Point{{20, []float64{30}}, {100, []float64{150}}}}}}))(t)
	l := fatal.Get(g.layout())(t)
	svg := fatal.Get(g.Encode("svg"))(t)
	for label, longest := range map[string]vg.Length{"Labels for " + x: g.Width, "Labels for " + y: l.data.Y} {
		var lines []string
		for _, m := range regexp.MustCompile(`<text xml:space="preserve" textLength="([0-9.]+)"[^>]*>([^<]*)</text>`).FindAllStringSubmatch(string(svg), -1) {
			length, err := strconv.ParseFloat(m[1], 64)
			if !strings.Contains(label, m[2]) || len(m[2]) < 6 {
				continue
			}
			if lines = append(lines, m[2]); err != nil || length > float64(longest)+10 {
				t.Errorf("%q is %v long, %v, want at most %v", m[2], length, err, longest)
			}
		}
		if got := strings.Join(lines, " "); got != label {
			t.Errorf("a label is %q, want %q", got, label)
		}
	}
}

// Changes from the usual setting are paired by index; the paper's are from its own.
func TestSweepChanges(t *testing.T) {
	chosen := 0.3
	s := Sweep{
		Chosen:     &chosen,
		Curves:     []Curve{{Name: "ceg", Points: []Point{{0, []float64{40, 44}}, {0.3, []float64{42, 45}}}}},
		References: []Reference{{"other", 41}},
		Published:  []Published{{"paper", []PublishedPoint{{0.3, 79}, {1, 78.5}}}, {"elsewhere", []PublishedPoint{{1, 50}}}},
	}
	got := fatal.Get(s.changes())(t)
	if p := got.Curves[0].Points; !slices.Equal(p[0].Values, []float64{-2, -1}) || !slices.Equal(p[1].Values, []float64{0, 0}) {
		t.Errorf("the curve changes by %v", p)
	}
	if got.References[0].Y != -2.5 {
		t.Errorf("the reference is at %g, want 41 - 43.5", got.References[0].Y)
	}
	if len(got.Published) != 1 || got.Published[0].Points[1].Y != -0.5 {
		t.Errorf("the paper changes by %v", got.Published)
	}
	if s.Curves[0].Points[0].Values[0] != 40 {
		t.Error("the sweep itself was changed")
	}
	s.Curves[0].Points[0].Values = []float64{40}
	if _, err := s.changes(); err == nil {
		t.Error("values of other seeds have a change")
	}
	if _, err := (Sweep{}).changes(); err == nil {
		t.Error("a sweep without a usual setting has changes")
	}
}

// The changes of a heat map are paired by index, too.
func TestSurfaceChanges(t *testing.T) {
	s := Surface{
		Cells:      []Cell{{1, 1, []float64{40, 44}}, {3, 1, []float64{42, 45}}},
		Chosen:     &[2]float64{3, 1},
		References: []Reference{{"other", 41}},
	}
	got := fatal.Get(s.changes())(t)
	if c := got.Cells; !slices.Equal(c[0].Values, []float64{-2, -1}) || !slices.Equal(c[1].Values, []float64{0, 0}) {
		t.Errorf("the cells change by %v", c)
	}
	if got.References[0].Y != -2.5 || s.Cells[0].Values[0] != 40 {
		t.Errorf("the reference is at %g, want 41 - 43.5; the cells of the surface itself are %v", got.References[0].Y, s.Cells)
	}
	s.Cells[0].Values = []float64{40}
	if _, err := s.changes(); err == nil {
		t.Error("values of other seeds have a change")
	}
	s.Chosen = nil
	if _, err := s.changes(); err == nil {
		t.Error("a surface without a usual setting has changes")
	}
}
