// Package plots draws the figures of a study from plain values. Fill in the struct of a figure,
// call its function with a [Theme], and save the result:
//
//	fig, err := plots.Budget(plots.Print(), plots.BudgetData{Targets: targets})
//	...
//	err = fig.Save("budget.svg") // or .pdf, .png
//
// Every function returns a [*Grid]: panels of gonum plots (reach one through Grid.Panels to
// change it) with the legend below or beside them. No figure needs a trainer or a file, so it
// can be redrawn from records.
//
// # Properties of figures
//
//   - Curves show the mean over runs with its 95% Student-t interval as a band, or the
//     runs as points if there are fewer than five. The figure states the number of runs.
//   - NaN, infinities, empty data and inconsistent lengths are errors.
//   - Colours are colour-blind safe (Okabe and Ito; Paul Tol; viridis), and lines
//     also differ by dashes and markers.
//   - Text has 6 to 8 points at a figure's own width, one or two columns of a
//     page. It is drawn as outlines, so a figure needs no font, unless Theme.Text is
//     set: then PDF and SVG can be searched. Characters that Liberation Sans lacks (it has Latin, Greek
//     and Cyrillic) appear as boxes.
//   - The same data give the same bytes: no dates, no random order.
//
// # Terms
//
//   - Run: one training run with one seed. Point.Values holds one value per run, and
//     the i-th values of all points belong to the same seed.
//   - Band: the area between the bounds of an interval.
//   - Reference: a single number to compare with, such as another method's.
package plots
