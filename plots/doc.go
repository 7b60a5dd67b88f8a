// Package plots draws the figures of a study from plain values. Fill in the
// struct of the figure you want, call its function with a [Theme], and save or
// show what comes back:
//
//	fig, err := plots.Budget(plots.Print(), plots.BudgetData{Targets: targets})
//	...
//	err = fig.Save("budget.svg") // or .pdf, .png
//
// Every function returns a [*Grid]: panels of gonum plots (reach one through
// Grid.Panels to change it) with the legend below or beside them, never on the
// data. A figure never holds a trainer or reads a file, so that it can be drawn
// again on a laptop from records alone.
//
// # What a figure promises
//
//   - Curves show the mean over runs with its 95% Student-t interval as a band,
//     and the figure says how many runs there are. One run has no band.
//   - NaN, infinities, empty data and lengths that do not agree are errors.
//   - Colours are told apart by the colour-blind (Okabe and Ito; Paul Tol;
//     viridis), and lines also by dashes and markers.
//   - Texts have 6 to 8 points at a figure's own width, which is that of one or
//     two columns of a page. They are drawn as outlines, so that a figure looks
//     the same where its font is missing; a PDF or SVG cannot be searched, and
//     characters that Liberation Sans lacks (it has Latin, Greek and Cyrillic)
//     appear as boxes.
//   - The same data give the same bytes: no dates, no random order.
//
// # Words
//
//   - Run: one training with one seed. Point.Values holds one value per run, and
//     the i-th values of all points belong to the same seed.
//   - Band: the area between the bounds of an interval.
//   - Reference: a single number to compare with, such as another method's.
package plots
