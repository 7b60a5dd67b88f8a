// Package nb is the notebooks' interface to ledg: each function trains runs or shows a table, a
// figure or progress in a cell.
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
// shown.
package nb

import (
	"fmt"
	"html"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/janpfeifer/gonb/gonbui"
	"github.com/janpfeifer/gonb/gonbui/protocol"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// Must returns v; see Check for an error.
func Must[T any](v T, err error) T {
	Check(err)
	return v
}

// Check ends the cell with the error, if there is one.
func Check(err error) {
	switch {
	case err == nil:
	case gonbui.IsNotebook:
		gonbui.Sync() // what was shown before
		fmt.Fprintln(os.Stderr, strings.Join(strings.Fields(err.Error()), " "))
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

// Band is what the bands of curves show in a cell's figures: nb.Band = nb.SD.
var Band = CI

// The values of [Band]: 95% Student-t interval, standard deviation, standard error, no band.
const (
	CI   = plots.CI
	SD   = plots.SD
	SE   = plots.SE
	None = plots.None
)

// Theme returns the theme of the notebooks' figures, with [Band].
func Theme() plots.Theme {
	t := plots.Screen()
	t.Band = Band
	return t
}

// Show shows a figure as PNG, which code hosts also display, with additional information below
// it.
func Show(g *plots.Grid, err error) { show(Must(g, err), nil) }

// show shows a figure, and what else a cell can have of it.
func show(g *plots.Grid, more map[protocol.MIMEType]any) { showIn("", g, more) }

// showIn is show that replaces a named output; without a name it adds one.
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

// NewTable returns an empty table; all columns but the first are right-aligned.
func NewTable(columns ...string) *result.Table {
	t := new(result.Table)
	for i, name := range columns {
		t.Columns = append(t.Columns, result.Column{Name: name, Right: i > 0})
	}
	return t
}

// Table shows a table. Its p-values are folded away below it, and notes if there are more than four.
// The targets' columns are folded away if the table has more than nine.
func Table(t *result.Table, err error) { Markdown("%s", tableText(Must(t, err))) }

// Folded shows tables below a summary that opens them.
func Folded(summary string, list []*result.Table, err error) {
	var text strings.Builder
	for _, t := range Must(list, err) {
		text.WriteString(markdownOf(t) + "\n")
	}
	Markdown("%s", strings.TrimSpace(folded(summary, text.String())))
}

// withBold returns the table of a study's methods with a note on what is bold.
func withBold(t *result.Table) *result.Table {
	bold := func(c result.Cell) bool { return c.Bold }
	if t.Title == "" || !slices.ContainsFunc(t.Rows, func(row []result.Cell) bool { return slices.ContainsFunc(row, bold) }) {
		return t
	}
	noted := *t
	noted.Notes = append(slices.Clone(t.Notes), "Bold: the highest mean of a column; it does not mean significant.")
	return &noted
}

// tableText is a table for [Table].
func tableText(t *result.Table) string {
	shown, p := apart(withBold(t))
	shown, targets := narrow(shown)
	shown, notes := withoutNotes(shown)
	text := markdownOf(shown)
	if targets != nil {
		text += folded("each target", markdownOf(targets))
	}
	if p != nil {
		text += folded("p-values", markdownOf(p))
	}
	if notes != nil {
		text += folded("notes", markdownOf(notes))
	}
	return text
}

// withoutNotes divides a table with more than four notes into one that has the note on settings alone,
// and one of the others; nil if it has fewer.
func withoutNotes(t *result.Table) (shown, notes *result.Table) {
	if len(t.Notes) <= 4 {
		return t, nil
	}
	notes, shown = NewTable("note"), &result.Table{Title: t.Title, Columns: t.Columns, Rows: t.Rows}
	for _, n := range t.Notes {
		if strings.HasPrefix(n, report.SettingsNote) {
			shown.Notes = append(shown.Notes, n)
		} else {
			notes.AddRow(n)
		}
	}
	return shown, notes
}

// widest is the number of columns that fit the width of a notebook.
const widest = 9

// narrow divides a table that is too wide into one without the columns of the targets, which are
// between the method and the average, and one of them; nil if it fits.
func narrow(t *result.Table) (shown, targets *result.Table) {
	named := func(name string) int {
		return slices.IndexFunc(t.Columns, func(c result.Column) bool { return c.Name == name })
	}
	method, average := named("method"), named("average")
	if len(t.Columns) <= widest || method < 0 || average < 0 {
		return t, nil
	}
	shown, targets = &result.Table{Title: t.Title, Notes: t.Notes}, &result.Table{}
	pick(t, shown, func(i int) bool { return i <= method || i >= average })
	pick(t, targets, func(i int) bool { return i >= method && i < average })
	return shown, targets
}

// pick copies columns of a table to another.
func pick(from, to *result.Table, keep func(column int) bool) {
	for i, c := range from.Columns {
		if keep(i) {
			to.Columns = append(to.Columns, c)
		}
	}
	for _, row := range from.Rows {
		var cells []result.Cell
		for i, c := range row {
			if keep(i) {
				cells = append(cells, c)
			}
		}
		to.Rows = append(to.Rows, cells)
	}
}

// apart divides a table into one without p-values and one of them, with the columns that name the
// rows and the note on them; nil if there are none.
func apart(t *result.Table) (shown, p *result.Table) {
	at := slices.IndexFunc(t.Columns, func(c result.Column) bool { return c.Name == report.PValues })
	if at < 0 {
		return t, nil
	}
	shown, p = &result.Table{Title: t.Title}, &result.Table{}
	for _, note := range t.Notes {
		if strings.HasPrefix(note, "p: ") {
			p.Notes = append(p.Notes, note)
		} else {
			shown.Notes = append(shown.Notes, note)
		}
	}
	pick(t, shown, func(i int) bool { return i != at })
	pick(t, p, func(i int) bool { return i == at || t.Columns[i].Name == "method" || t.Columns[i].Name == "budget" })
	return shown, p
}

// markdownOf is a table in Markdown, with the field's symbols.
func markdownOf(t *result.Table) string {
	var b strings.Builder
	Check(t.Write(&b, result.Markdown))
	return markedUp.ReplaceAllStringFunc(b.String(), func(word string) string {
		if s := formatted(strings.ReplaceAll(word, `\_`, "_")); s != strings.ReplaceAll(word, `\_`, "_") {
			return s
		}
		return word
	})
}

// markedUp matches a word of a table, whose underscores have a backslash.
var markedUp = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(\\_[A-Za-z0-9]+)*`)

// Tables shows tables, one below the other.
func Tables(list []*result.Table, err error) {
	for _, t := range Must(list, err) {
		Table(t, nil)
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
