package nb

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/ledg-go/ledg/plots"
)

// Fig is a figure that a cell has shown.
type Fig struct {
	draw func(t plots.Theme) (*plots.Grid, error)
}

func showFig(draw func(t plots.Theme) (*plots.Grid, error)) Fig {
	Show(draw(Theme()))
	return Fig{draw}
}

// Look sets the look of all figures of a cell, shown and saved:
//
//	nb.Look(nb.Rename(map[string]string{"CEG": "Ours", "features": "Office-Home"}), nb.Legend("right"))
//
// Show and Save take the same for one figure: [Rename], [Title], [Legend], [ErrorBars], [YRange], [Width], [Font],
// [FontSize], or a function on a plots.Theme.
func Look(look ...func(*plots.Theme)) { looked = look }

var looked []func(*plots.Theme)

// Rename replaces texts of figures, and whole words of titles, names and notes: methods, data sets, axes.
func Rename(names map[string]string) func(*plots.Theme) {
	return func(t *plots.Theme) {
		all := maps.Clone(t.Names)
		if all == nil {
			all = map[string]string{}
		}
		maps.Copy(all, names)
		t.Names = all
	}
}

// Title replaces the title of a figure; "" removes it.
func Title(title string) func(*plots.Theme) { return func(t *plots.Theme) { t.Title = &title } }

// Legend places the legend: inside a panel, in the corner with the least in it, or below or right of all panels. Curves
// that have their names at their ends get a legend instead.
func Legend(place string) func(*plots.Theme) {
	if !slices.Contains(plots.LegendPlaces(), place) {
		Check(fmt.Errorf("legend %q, want one of %s", place, strings.Join(plots.LegendPlaces(), ", ")))
	}
	return func(t *plots.Theme) { t.Legend = place }
}

// ErrorBars draws the intervals of curves as bars in place of bands, from three runs on.
func ErrorBars(t *plots.Theme) {
	t.ErrorBars = true
	t.BandFrom = 3
}

// YRange sets the ends of the axes of values, such as accuracies in percent.
func YRange(low, high float64) func(*plots.Theme) {
	if !(high > low) {
		Check(fmt.Errorf("range %v to %v, want a lower and a higher number", low, high))
	}
	return func(t *plots.Theme) { t.YRange = &[2]float64{low, high} }
}

// Side shows figures side by side, with one legend if they have the same, and returns the figure of all.
//
//	nb.Save(nb.Side(nb.LearningCurves(a...), nb.Dots(b...)), "both.pdf")
func Side(figures ...Fig) Fig {
	return showFig(func(t plots.Theme) (*plots.Grid, error) {
		part := t
		part.Look = plots.Look{Legend: t.Legend, ErrorBars: t.ErrorBars}
		part.Legend = cmp.Or(part.Legend, "below")
		if len(figures) > 1 {
			part = part.WithWidth(t.PageWidth / vg.Length(len(figures)))
		}
		var list []*plots.Grid
		for _, f := range figures {
			g, err := f.draw(part)
			if err != nil {
				return nil, err
			}
			g.Theme = t
			list = append(list, g)
		}
		return plots.Side(list...)
	})
}

// Plot shows your own figures of gonum/plot side by side in the theme: fonts, axes, grid lines, margins around the data, and the
// legend of the plots. It returns the figure for [Save].
//
//	p := plot.New()
//	p.Add(line)
//	p.Legend.Add("mine", line)
//	nb.Save(nb.Plot(p), "own.pdf")
func Plot(list ...*plot.Plot) Fig {
	return showFig(func(t plots.Theme) (*plots.Grid, error) {
		var copies []*plot.Plot
		for _, p := range list {
			one := *p
			copies = append(copies, &one)
		}
		return t.Own(copies...)
	})
}

// Save draws a figure for print and writes it to a file .pdf, .svg or .png:
//
//	nb.Save(nb.LearningCurves(dirs...), "curves.pdf", nb.Width("84mm"), nb.Font("Serif"), nb.FontSize(8))
//
// Texts in .pdf and .svg can be selected and searched; in .pdf without titles and Greek letters. Without other settings, a figure is 3.3 inches
// wide, or 6.9 with several columns of panels, and labels have 7.5 points. More looks are listed at [Look].
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
