// Package nb is what the notebooks add to ledg's packages: it shows tables, figures
// and progress in a cell, and finds the folders of runs by name.
//
//	res := nb.Must(ceg.Run(ctx, config, ceg.Options{Dir: nb.Dir("quickstart"), Resume: true, Observe: nb.Progress()}))
//	nb.Show(plots.Epochs(plots.Print(), data))
//
// A notebook's cells are programs of their own, so values do not survive a cell:
// what a run found is in its folder, and the next cell reads it from there. Every
// function panics on an error, which fails the cell. Outside a notebook nothing is
// shown.
package nb

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// Must returns v, and panics if there is an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check panics if there is an error.
func Check(err error) {
	if err != nil {
		panic(err)
	}
}

// Dir returns the folder of the notebooks' runs called name: in LEDG_RUNS if that
// environment variable is set, otherwise in runs/notebooks of the repository. It
// need not exist.
func Dir(name string) string {
	root := os.Getenv("LEDG_RUNS")
	if root == "" {
		root = filepath.Join("..", "runs", "notebooks") // a notebook's working directory is its own
	}
	return filepath.Join(root, name)
}

// dpi is the resolution of figures: sharp on a screen, small in a repository.
const dpi = 110

// Show shows a figure as PNG, which code hosts show too.
func Show(g *plots.Grid, err error) {
	png := Must(Must(g, err).PNG(dpi))
	if gonbui.IsNotebook {
		gonbui.DisplayPNG(png)
		gonbui.Sync() // or the cell's program may end before it is shown
	}
}

// NewTable returns a table with these columns and no rows; all but the first are
// aligned to the right.
func NewTable(columns ...string) *result.Table {
	t := new(result.Table)
	for i, name := range columns {
		t.Columns = append(t.Columns, result.Column{Name: name, Right: i > 0})
	}
	return t
}

// Table shows a table.
func Table(t *result.Table, err error) {
	var b strings.Builder
	Check(Must(t, err).Write(&b, result.Markdown))
	Markdown(b.String())
}

// Tables shows tables, one below the other.
func Tables(list []*result.Table, err error) {
	for _, t := range Must(list, err) {
		Table(t, nil)
	}
}

// Markdown shows a formatted text.
func Markdown(format string, args ...any) {
	if len(args) > 0 {
		format = fmt.Sprintf(format, args...)
	}
	if gonbui.IsNotebook {
		gonbui.DisplayMarkdown(format)
		gonbui.Sync()
	}
}
