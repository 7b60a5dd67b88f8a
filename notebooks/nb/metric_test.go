package nb

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
)

var diagonal = Metric("diagonal", func(c Confusion) float64 {
	right, all := 0, 0
	for i, row := range c {
		right += row[i]
		for _, n := range row {
			all += n
		}
	}
	return float64(right) / float64(all)
})

// A metric replaces the accuracy in tables, figures and rows.
func TestMetric(t *testing.T) {
	forget(t)
	defer func() { By = "" }()
	small := Set("data.pool_share", 0.5)
	dirs := append(Seeds(2, "mine", "uniform-ce", small), Seeds(2, "mine", "bvsb-ce", small)...)
	means := func() (list []string) {
		table := Compare(dirs...)[0]
		for _, row := range table.Rows {
			list = append(list, row[table.Column("mean")].Text)
		}
		return list
	}
	accuracy := means()
	By = diagonal // is the accuracy, from the matrix
	if own := means(); !slices.Equal(own, accuracy) {
		t.Errorf("the diagonal is %q, the accuracy %q", own, accuracy)
	}
	if table := Compare(dirs...)[0]; !strings.HasPrefix(table.Title, "Diagonal on the target domain") {
		t.Errorf("title %q", table.Title)
	}
	if text := panics(t, func() { LearningCurves(dirs...) }); !strings.Contains(text, "last epoch") {
		t.Errorf("curves over epochs of the diagonal: %q", text)
	}
	for _, by := range []string{MacroF1, BalancedAccuracy, WorstDomain, diagonal} {
		By = by
		if g := Must(Dots(dirs...).draw(Theme())); g.Panels[0].Plot.Y.Label.Text != report.ValueLabel(by) || by == "" {
			t.Errorf("%s: axis %q", by, g.Panels[0].Plot.Y.Label.Text)
		}
		Sweep("mine", "uniform-ce", "gamma1", []int{1}, 1, small)
		rows := Frame(dirs...)
		metric := rows.Column("metric")
		if !slices.ContainsFunc(rows.Rows, func(r []result.Cell) bool { return r[metric].Text == by }) {
			t.Errorf("no rows of %s", by)
		}
		if by != diagonal {
			LearningCurves(dirs...)
		}
	}
	By = "luck"
	if text := panics(t, func() { Compare(dirs...) }); !strings.Contains(text, "worst-domain") {
		t.Errorf("%q, want the names of metrics", text)
	}
}

// Looks change figures that are shown and saved; your own plots have the theme.
func TestLooks(t *testing.T) {
	forget(t)
	defer func() { looked = nil }()
	small := Set("data.pool_share", 0.5)
	dirs := slices.Concat(Seeds(3, "mine", "uniform-ce", small, Set("budget", "5%")), Seeds(3, "mine", "uniform-ce", small, Set("budget", "10%")))
	dots := Dots(dirs...)
	if g := Must(dots.draw(Theme())); len(g.Legend) > 2 || !strings.Contains(strings.Join(tickLabels(g.Panels[0].Plot), " "), "10%") {
		t.Errorf("dots over budgets: legend %d, ticks %q", len(g.Legend), tickLabels(g.Panels[0].Plot))
	}
	curves := LearningCurves(dirs...)
	Show(curves, Legend("inside"), YRange(0, 100), Title(""), ErrorBars)
	p := plot.New()
	p.Legend.Add("mine", Must(plotter.NewLine(plotter.XYs{{X: 1, Y: 1}, {X: 2, Y: 2}})))
	own := Plot(p)
	for i := range 2 { // a figure can be drawn again
		if g := Must(own.draw(Theme())); len(g.Legend) != 1 || g.Legend[0].Name != "mine" {
			t.Errorf("drawing %d: legend %+v", i, g.Legend)
		}
	}
	Look(Legend("right"))
	file := filepath.Join(t.TempDir(), "both.svg")
	Save(Side(curves, dots), file)
	Save(curves, file, Rename(map[string]string{"glyphs": "Letters"}), Width("84mm"))
	for want, f := range map[string]func(){
		"inside, below, right": func() { Legend("left") },
		"nobody":               func() { Save(curves, file, Rename(map[string]string{"nobody": "x"})) },
		"want a lower":         func() { YRange(1, math.NaN()) },
		"want looks":           func() { Show(curves, 3) },
		"want a figure":        func() { Show(3) },
	} {
		if text := panics(t, f); !strings.Contains(text, want) {
			t.Errorf("%q, want %q", text, want)
		}
	}
}

func tickLabels(p *plot.Plot) (list []string) {
	for _, tick := range p.X.Tick.Marker.Ticks(p.X.Min, p.X.Max) {
		list = append(list, tick.Label)
	}
	return list
}
