package nb

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets/regular"
	"github.com/ledg-go/ledg/plots"
)

// NewTable returns an empty table; all columns but the first are right-aligned.
func NewTable(columns ...string) *result.Table {
	t := new(result.Table)
	for i, name := range columns {
		t.Columns = append(t.Columns, result.Column{Name: name, Right: i > 0})
	}
	return t
}

// Table shows a table and returns it. Columns with p-values are folded away below it. So are the columns of
// targets if there are more than nine columns, and the notes if there are more than four.
func Table(t *result.Table, err error) *result.Table {
	Markdown("%s", tableText(Must(t, err)))
	return t
}

// Tables shows tables, one below the other.
func Tables(list []*result.Table, err error) {
	for _, t := range Must(list, err) {
		Table(t, nil)
	}
}

// Folded shows tables below a summary that opens them.
func Folded(summary string, list []*result.Table, err error) {
	var text strings.Builder
	for _, t := range Must(list, err) {
		text.WriteString(markdownOf(t) + "\n")
	}
	Markdown("%s", strings.TrimSpace(folded(summary, text.String())))
}

// tableText is a table for [Table].
func tableText(t *result.Table) string {
	method, average := t.Column("method"), t.Column("average")
	wide := len(t.Columns) > 9 && method >= 0 && average >= 0
	hidden := func(i int) bool { return t.Columns[i].Name == report.PValues || wide && method < i && i < average }
	said := func(i int) bool {
		return slices.ContainsFunc(t.Rows, func(r []result.Cell) bool { return r[i].Text != "" })
	}
	shown, more := t.Pick(func(i int) bool { return !hidden(i) }), &result.Table{}
	if slices.ContainsFunc(t.Columns, func(c result.Column) bool { i := t.Column(c.Name); return hidden(i) && said(i) }) {
		more = t.Pick(func(i int) bool {
			return hidden(i) && said(i) || slices.Contains([]string{"target", "method", "budget"}, t.Columns[i].Name)
		})
		more.Title = ""
	}
	shown.Notes = slices.Clone(t.Notes)
	bold := func(row []result.Cell) bool {
		return slices.ContainsFunc(row, func(c result.Cell) bool { return c.Bold })
	}
	if average >= 0 && slices.ContainsFunc(t.Rows, bold) {
		shown.Notes = append(shown.Notes, "Bold: the highest mean of a column; it does not mean significant.")
	}
	if more.Notes = nil; len(shown.Notes) > 4 {
		kept := func(n string) bool {
			return strings.HasPrefix(n, report.SettingsNote) || strings.HasPrefix(n, failedNotes)
		}
		more.Notes = slices.DeleteFunc(slices.Clone(shown.Notes), kept)
		shown.Notes = slices.DeleteFunc(shown.Notes, func(n string) bool { return !kept(n) })
	}
	text := markdownOf(shown)
	if len(more.Columns)+len(more.Notes) > 0 {
		text += folded("more", markdownOf(more))
	}
	return text
}

// folded is a text that shows its summary alone until somebody opens it.
func folded(summary, text string) string {
	return "\n\n<details><summary>" + summary + "</summary>\n\n" + text + "\n\n</details>"
}

// markdownOf is a table in Markdown, with the field's symbols.
func markdownOf(t *result.Table) string {
	var b strings.Builder
	Check(t.Write(&b, result.Markdown))
	return markedUp.ReplaceAllStringFunc(b.String(), func(word string) string {
		if plain := strings.ReplaceAll(word, `\_`, "_"); formatted(plain) != plain {
			return formatted(plain)
		}
		return word
	})
}

// markedUp matches a word of a table, whose underscores have a backslash.
var markedUp = regexp.MustCompile(`[A-Za-z][A-Za-z0-9]*(\\_[A-Za-z0-9]+)*`)

var subscript = regexp.MustCompile(`_\{([^}]*)\}`)

// formatted is a text with the field's symbols, as a cell shows it.
func formatted(text string) string {
	return subscript.ReplaceAllString(plots.Symbols(text), "<sub>$1</sub>")
}

// Compare shows a table of finished runs; each argument is a run or a folder of runs. There is a
// row for each run, and for methods with several runs a row with the mean, its 95% interval over
// seeds, and the difference to the first method, paired by seed. If several methods have the same several
// budgets, there is a table for each budget.
func Compare(dirs ...string) (tables []*result.Table) {
	groups := byBudget(dirs)
	other := func(g ofBudget) bool { return len(g.methods) < 2 || !slices.Equal(g.methods, groups[0].methods) }
	if slices.ContainsFunc(groups, other) { // one method, or others at each budget
		groups = []ofBudget{{dirs: dirs}}
	}
	for _, g := range groups {
		list := Must(report.Compare(g.dirs, report.CompareOptions{Measure: metric(g.dirs)}))
		t := list[0].Pick(func(i int) bool { return !slices.Contains([]string{"run", "seconds"}, list[0].Columns[i].Name) }) // which are of this machine
		if len(list) > 1 {
			t = list[1]
			method := func(r []result.Cell) string { return r[t.Column("method")].Text }
			if first := method(t.Rows[0]); slices.ContainsFunc(t.Rows, func(r []result.Cell) bool { return method(r) != first }) {
				t = Must(report.Compare(g.dirs, report.CompareOptions{Baseline: first, Measure: By}))[1]
			}
		}
		if len(groups) > 1 {
			t.Title += ", budget " + g.budget
		}
		if note := failedNote(); note != "" {
			t.Notes = append(t.Notes, note)
		}
		tables = append(tables, Table(t, nil))
	}
	return tables
}

// ofBudget are the runs of one budget, and the names of their methods.
type ofBudget struct {
	budget        string
	dirs, methods []string
}

// byBudget divides runs by their budgets, in order of appearance.
func byBudget(dirs []string) (groups []ofBudget) {
	for _, r := range Must(result.OpenAll(dirs...)) {
		budget, method := r.Config.Exploration.Budget, r.Config.Arm().Name()
		i := slices.IndexFunc(groups, func(g ofBudget) bool { return g.budget == budget })
		if i < 0 {
			i, groups = len(groups), append(groups, ofBudget{budget: budget})
		}
		g := &groups[i]
		if g.dirs = append(g.dirs, r.Path); !slices.Contains(g.methods, method) {
			g.methods = append(g.methods, method)
		}
	}
	return groups
}

// Differences shows the rows of a folder compared with a baseline, o.Baseline, at several budgets: the
// difference of the averages over targets in percentage points, with its 95% interval over seeds or
// pools, and the targets on which the row is above. Bold is significant after Holm's correction over the table.
func Differences(f *report.Folder, o report.TableOptions, budgets ...string) *result.Table {
	return Table(f.Differences(o, budgets...))
}

// SweepTable shows the numbers of a sensitivity figure: each value, or pair of values, compared with the
// default, paired by seed, with the paper's number if its text has one.
func SweepTable(d plots.SensitivityData, err error) *result.Table {
	return Table(report.SweepTable(Must(d, err)), nil)
}

// LabelSavings shows label savings in a figure, and in a table that is folded away: for each target
// of a budget figure, the number of labels with which the other method reaches the method's accuracy.
// pool is the number of images that percentages refer to; 0 if budgets are numbers of labels.
func LabelSavings(d plots.BudgetData, method, other string, pool int) *result.Table {
	unit, up := 1.0, 0.5 // budgets that are shares of the pool are rounded down
	if pool > 0 {
		unit, up = float64(pool)/100, 1e-9
	}
	picture := plots.SavingsData{Method: method, Other: other, Ticks: map[float64]string{}}
	t := NewTable("target", "labels", "accuracy, %", "needed", "saved")
	for _, target := range d.Targets {
		curves := map[string]plots.Curve{}
		for _, c := range target.Curves {
			curves[c.Name] = c
		}
		a, b := curves[method], curves[other]
		if len(a.Points) == 0 || len(b.Points) == 0 {
			continue
		}
		picture.Method, picture.Other = plots.Symbols(cmp.Or(a.Title, method)), plots.Symbols(cmp.Or(b.Title, other))
		saved := plots.Curve{Name: target.Name}
		first, last := b.Points[0].X, b.Points[len(b.Points)-1].X
		for _, s := range report.Savings(a, b) {
			spent, sign, needed := math.Floor(s.Budget*unit+up), "", math.Round(s.Worth*unit)
			if name := d.Ticks[s.Budget]; pool > 0 {
				picture.Ticks[spent] = fmt.Sprintf("%g (%g%%)", spent, s.Budget)
			} else if strings.HasSuffix(name, "%)") {
				picture.Ticks[spent] = name
			}
			switch {
			case s.Worth < first:
				sign, needed = "< ", math.Floor(first*unit+up)
			case s.Worth > last:
				sign, needed = "> ", math.Floor(last*unit+up)
			default:
				saved.Points = append(saved.Points, plots.Point{X: spent, Values: []float64{s.Worth / s.Budget}})
			}
			t.AddRow(target.Name, fmt.Sprint(spent), fmt.Sprintf("%.1f", s.Accuracy), sign+fmt.Sprint(needed), sign+fmt.Sprint(needed-spent))
		}
		if len(saved.Points) > 0 {
			picture.Curves = append(picture.Curves, saved)
		}
	}
	t.Title = fmt.Sprintf("Labels of %s, and those that %s needs for its accuracy", picture.Method, picture.Other)
	t.Notes = []string{"Between measured budgets: linear interpolation over the logarithm of the budget; < and > are beyond them. Means over seeds, without intervals."}
	if len(picture.Curves) == 0 {
		return Table(t, nil)
	}
	Show(plots.Savings(Theme(), picture))
	Folded("The numbers", []*result.Table{t}, nil)
	return t
}

// Rows are the values of runs as tidy rows, for pandas, R and DuckDB.
type Rows struct{ *result.Table }

// Frame returns the values of runs as tidy rows: run, method, preset, data set, target, seed,
// budget, labels, epoch, domain, split, metric, value, and every setting that is not at its default
// in all runs. Each argument is a run or a folder of runs.
//
//	nb.Frame(dirs...).CSV("runs.csv")
//
// With [By], and for metrics of [Metric], there are rows with their values on the target.
func Frame(dirs ...string) Rows {
	more := slices.Clone(own)
	if by := metric(dirs); by != "" && !slices.Contains(more, by) {
		more = append(more, by)
	}
	return Rows{Must(report.Frame(more, dirs...))}
}

// CSV writes the rows to a CSV file, numbers in full precision.
func (r Rows) CSV(file string) {
	Check(regular.WriteFile(file, func(w io.Writer) error { return r.Write(w, result.CSV) }))
}
