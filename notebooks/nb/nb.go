// Package nb is the notebooks' interface to ledg: each function trains runs or shows a table, a
// figure or progress in a cell. What it shows it also returns: a figure for [Save], a table for code.
//
//	dirs := []string{nb.Train("mine", "ceg"), nb.Train("mine", "ceg", nb.Set("tau", 0.8))}
//	nb.Compare(dirs...)
//	nb.LearningCurves(dirs...)
//
// [Strategy] and [Objective] register a query strategy and a training objective from code in a
// cell. Their names are then used like the built-in ones.
//
// Each cell is a program of its own, so values do not survive it. Results are in the runs'
// folders: the next cell reads them from there, or repeats the call, which finds the finished
// run. An error ends the cell with one line; outside a notebook it is a panic, and nothing is
// shown. Of several runs all others go on when one fails; see [Grid].
package nb

import (
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/plots"
)

// Must returns v; see Check for an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check ends the cell with the error, if there is one.
func Check(err error) {
	if err == nil {
		return
	}
	switch err = explained(err); {
	case attempts > 0:
		panic(ended{err})
	case gonbui.IsNotebook:
		gonbui.Sync() // what was shown before
		say(err.Error())
		os.Exit(1)
	default:
		panic(err)
	}
}

// Dir returns the folder called name for notebooks' runs: in the folder LEDG_RUNS if this environment
// variable is set, else in runs beside the notebook. The repository's own notebooks have runs/notebooks
// of the repository. The folder need not exist.
func Dir(name string) string {
	root := os.Getenv("LEDG_RUNS")
	switch {
	case root != "":
	case inRepository():
		root = filepath.Join("..", "runs", "notebooks")
	default:
		root = "runs"
	}
	return filepath.Join(root, name)
}

// inRepository reports whether the working directory, which is a notebook's own folder, is that of the
// repository's notebooks.
func inRepository() bool {
	_, err := os.Stat(filepath.Join("results", "glyphs"))
	return err == nil
}

// Band is what the bands of curves show in a cell's figures: nb.Band = nb.SD. By default it is CI, from five
// runs on. A band that is set is shown from three runs on.
var Band plots.Band

// The values of [Band]: 95% Student-t interval, standard deviation, standard error, no band.
const (
	CI   = plots.CI
	SD   = plots.SD
	SE   = plots.SE
	None = plots.None
)

// Theme returns the theme of the notebooks' figures, with [Band].
func Theme() plots.Theme {
	return looks(plots.Screen())
}

// looks is a theme with what all figures of cells share.
func looks(t plots.Theme) plots.Theme {
	t.Arms = report.Looks()
	if t.Band = Band; Band != "" {
		t.BandFrom = 3
	}
	for _, l := range looked {
		l(&t)
	}
	return t
}

// Show shows a figure of nb, or one of package plots with its error, as PNG, which code hosts also display, with
// additional information below it. Looks, as for [Save], change what it shows:
//
//	nb.Show(curves, nb.Legend("inside"), nb.YRange(40, 80))
func Show(figure any, more ...any) {
	var look []func(*plots.Theme)
	for _, m := range more {
		switch m := m.(type) {
		case nil:
		case error:
			Check(m)
		case func(*plots.Theme):
			look = append(look, m)
		default:
			Check(fmt.Errorf("Show: a %T, want looks such as nb.Legend(\"right\")", m))
		}
	}
	dress := func(t plots.Theme) plots.Theme {
		for _, l := range look {
			l(&t)
		}
		return t
	}
	switch f := figure.(type) {
	case Fig:
		showIn("", Must(f.draw(dress(Theme()))), nil)
	case *plots.Grid:
		g := *f
		g.Theme = dress(g.Theme)
		showIn("", &g, nil)
	default:
		Check(fmt.Errorf("Show: a %T, want a figure", figure))
	}
}

// showIn shows a figure, and what else a cell can have of it, in place of a named output; without a name
// it adds one.
func showIn(place string, g *plots.Grid, more map[protocol.MIMEType]any) {
	png, width, err := g.PagePNG()
	Check(err)
	if gonbui.IsNotebook {
		data := map[protocol.MIMEType]any{protocol.MIMEImagePNG: png}
		maps.Copy(data, more)
		gonbui.SendData(&protocol.DisplayData{
			Data:      data,
			Metadata:  map[string]any{string(protocol.MIMEImagePNG): map[string]int{"width": width}},
			DisplayID: place,
		})
		gonbui.Sync() // or the cell's program may end before it is shown
	}
	if g.Aside != "" {
		Markdown("%s", strings.TrimSpace(folded("versions", formatted(html.EscapeString(g.Aside)))))
	}
}

// Markdown shows formatted Markdown.
func Markdown(format string, args ...any) {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	if gonbui.IsNotebook {
		gonbui.DisplayMarkdown(format)
		gonbui.Sync()
	}
}
