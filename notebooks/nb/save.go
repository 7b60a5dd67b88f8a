package nb

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/ledg-go/ledg/plots"
)

// Fig is a figure that a cell has shown.
type Fig struct {
	draw func(t plots.Theme) (*plots.Grid, error)
}

// showFig shows a figure and returns it.
func showFig(draw func(t plots.Theme) (*plots.Grid, error)) Fig {
	Show(draw(Theme()))
	return Fig{draw}
}

// Save draws a figure for print and writes it to a file .pdf, .svg or .png:
//
//	nb.Save(nb.LearningCurves(dirs...), "curves.pdf", nb.Width("84mm"), nb.Font("Serif"), nb.FontSize(8))
//
// Texts in .pdf and .svg can be selected and searched; in .pdf without titles and Greek letters. Without other settings, a figure is 3.3 inches
// wide, or 6.9 with several columns of panels, and labels have 7.5 points.
func Save(f Fig, file string, look ...func(*plots.Theme)) {
	t := looks(plots.Print())
	t.Text = true
	for _, l := range look {
		l(&t)
	}
	Check(Must(f.draw(t)).Save(file))
}

// Width sets the width of a saved figure, in mm, cm, in or pt: "84mm".
func Width(width string) func(*plots.Theme) {
	w, err := vg.ParseLength(strings.ReplaceAll(width, " ", ""))
	if err != nil || !(w > 0) || strings.TrimRight(width, "0123456789. ") != width {
		Check(fmt.Errorf("width %q, want a number and a unit, such as 84mm, 8.4cm, 3.3in or 240pt", width))
	}
	return func(t *plots.Theme) { *t = t.WithWidth(w) }
}

// Font sets the font of a saved figure: Sans, Serif, Mono, or a TrueType file such as
// "fonts/Own.ttf".
func Font(font string) func(*plots.Theme) {
	for _, family := range plots.Families() {
		if strings.EqualFold(font, family) {
			return func(t *plots.Theme) { t.Family = family }
		}
	}
	if !strings.HasSuffix(strings.ToLower(font), ".ttf") {
		Check(fmt.Errorf("font %q, want one of %s, or a file .ttf", font, strings.Join(plots.Families(), ", ")))
	}
	family := Must(plots.LoadFont(font))
	return func(t *plots.Theme) { t.Family = family }
}

// FontSize sets the size of labels of a saved figure in points. Titles, ticks and notes keep their
// proportion to it.
func FontSize(points float64) func(*plots.Theme) {
	if !(points > 0) {
		Check(fmt.Errorf("font size %v, want a number of points above 0", points))
	}
	return func(t *plots.Theme) { *t = t.WithFontSize(points) }
}
