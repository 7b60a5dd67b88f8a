package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// paperColumns are the paper's averages beside ours: the columns of the table's own data set, or
// of all if ours is another.
func (t *grid) paperColumns() (names []string, of []func(*row) string) {
	for _, d := range t.spec.Datasets {
		if slices.Contains(t.spec.Datasets, t.group.dataset) && d != t.group.dataset {
			continue
		}
		value := func(m map[string]float64) string {
			if v, ok := m[d]; ok {
				return fmt.Sprintf("%.2f", v)
			}
			return ""
		}
		names, of = append(names, "paper, "+datasetTitle(d)), append(of, func(r *row) string { return value(r.Averages) })
		if slices.ContainsFunc(t.spec.Rows, func(r PaperRow) bool { return r.Full != nil }) {
			names, of = append(names, "paper, 100%"), append(of, func(r *row) string { return value(r.Full) })
		}
	}
	return names, of
}

// title says what the table is of.
func (t *grid) title() string {
	title := t.spec.Title
	if n, ok := strings.CutPrefix(t.spec.Name, "table"); ok {
		title = fmt.Sprintf("Table %s of the paper (%s)", n, t.spec.Title)
	}
	return fmt.Sprintf("%s on %s: %s, %%, with %s labels, %s", title, t.dataset, t.o.measureTitle(), t.budget, atRule(t.o.Rule))
}

// columns lists the cells of rows that the table shows: those of the targets and, if there are several, overall.
func (t *grid) columns() []string {
	if len(t.targets) > 1 {
		return append(slices.Clone(t.targets), overall)
	}
	return t.targets
}

// wide lays the table out as in the paper.
func (t *grid) wide() *result.Table {
	table := &result.Table{Title: t.title(), Notes: t.notes}
	groups := slices.ContainsFunc(t.rows, func(r *row) bool { return r.Group != "" })
	if groups {
		table.Columns = append(table.Columns, result.Column{Name: "group"})
	}
	columns := t.columns()
	paperNames, papers := t.paperColumns()
	ofPaper := slices.ContainsFunc(t.rows, func(r *row) bool { return r.Name != "" })
	if ofPaper {
		table.Columns = append(table.Columns, result.Column{Name: "in the paper"})
	}
	table.Columns = append(table.Columns, result.Column{Name: "method"})
	for _, name := range slices.Concat(columns, []string{"n"}, paperNames) {
		table.Columns = append(table.Columns, result.Column{Name: cmp.Or(name, average), Right: true})
	}
	if t.baseline != nil {
		table.Columns = append(table.Columns, claimColumns(t.baseline.short, len(t.targets) > 1)...)
	}
	group := ""
	for _, r := range t.rows {
		var cells []result.Cell
		text := func(s string) { cells = append(cells, result.Cell{Text: s}) }
		if groups && r.Group == group {
			text("")
		} else if groups {
			text(r.Group)
			group = r.Group
		}
		if ofPaper {
			text(r.Name)
		}
		if r.Needs != "" && r.planned == 0 {
			text(fmt.Sprintf("%s (needs %s)", r.name, r.Needs))
		} else {
			text(r.name)
		}
		least, most := r.sizes(columns)
		for _, c := range columns {
			sum := summary(r.cells[c])
			cells = append(cells, result.Cell{Text: meanSD(sum, least == most), Bold: !r.other && sum != nil && sum.Mean == t.best(c)})
		}
		if most > 0 {
			text(span(least, most))
		} else {
			text("")
		}
		for _, p := range papers {
			text(p(r))
		}
		if t.baseline != nil {
			cells = append(cells, claimCells(t.claims[r], len(t.targets) > 1)...)
		}
		table.Rows = append(table.Rows, cells)
	}
	return table
}

// best returns the highest mean of a column, 2 where fewer than two rows compete.
func (t *grid) best(column string) (best float64) {
	rows := 0
	for _, r := range t.rows {
		if sum := summary(r.cells[column]); sum != nil && !r.other {
			best = max(best, sum.Mean)
			rows++
		}
	}
	if rows < 2 {
		return 2
	}
	return best
}

// sizes returns the least and the most seeds of the row's cells that have any.
func (r *row) sizes(columns []string) (least, most int) {
	for _, c := range columns {
		if n := len(r.cells[c]); n > 0 {
			least, most = min(cmp.Or(least, n), n), max(most, n)
		}
	}
	return least, most
}

// meanSD formats a cell, with its n unless that stands in the row.
func meanSD(s *result.Summary, sameN bool) string {
	if s == nil {
		return "-"
	}
	text := fmt.Sprintf("%.2f", 100*s.Mean)
	if s.HasInterval() {
		text += fmt.Sprintf(" ± %.2f", 100*s.SD)
	}
	if !sameN {
		text += fmt.Sprintf(" (n = %d)", s.N)
	}
	return text
}

// long lays the table out with one row per value and everything that belongs to
// it: no bold, no notes, numbers in percent, empty where there is none.
func (t *grid) long() *result.Table {
	table := &result.Table{Title: t.title()}
	heads := []string{"table", "dataset", "preset", "budget", "rule", "row", "method", "variant", "target", "n", "mean", "sd", "low", "high",
		"baseline", "difference_n", "difference", "difference_low", "difference_high", "difference_p", "difference_p_flips", "difference_p_holm"}
	var published []string
	for _, info := range datasets.All() {
		if info.InPaper {
			published = append(published, info.Name)
			heads = append(heads, "paper_"+info.Name)
		}
	}
	for _, h := range heads {
		table.Columns = append(table.Columns, result.Column{Name: h})
	}
	for _, r := range t.rows {
		for _, c := range t.columns() {
			sum := summary(r.cells[c])
			if sum == nil {
				continue
			}
			whole := c == overall || len(t.targets) == 1
			cells := []string{t.spec.Name, t.group.dataset, t.group.preset, r.budget, t.o.Rule, r.typed(), r.Method, r.Variant, cmp.Or(c, average), fmt.Sprint(sum.N),
				number(100*sum.Mean, "%.4f"), number(100*sum.SD, "%.4f"), number(100*max(sum.Low, 0), "%.4f"), number(100*min(sum.High, 1), "%.4f")}
			claimed := make([]string, 8)
			if c := t.claims[r]; c != nil && whole {
				claimed = []string{t.baseline.typed(), fmt.Sprint(c.N), number(100*c.Mean, "%.4f"), number(100*c.Low, "%.4f"), number(100*c.High, "%.4f"),
					number(c.P, "%.6g"), number(c.SignFlip, "%.6g"), number(c.holm, "%.6g")}
			}
			cells = append(cells, claimed...)
			for _, d := range published {
				v, ok := r.Averages[d]
				if r.other {
					v, ok = r.Full[d]
				}
				if cells = append(cells, ""); ok && whole {
					cells[len(cells)-1] = fmt.Sprintf("%.2f", v)
				}
			}
			table.AddRow(cells...)
		}
	}
	return table
}

// number formats a number, empty for NaN.
func number(v float64, format string) string {
	if math.IsNaN(v) {
		return ""
	}
	return fmt.Sprintf(format, v)
}

// gridNotes is what the notes below a table say besides the numbers.
type gridNotes struct {
	TableOptions
	At, Preset, Networks, LabelCount, Dataset, Versions, PaperSource string
	Targets                                                          int
	Oracle, OfPaper, Elsewhere                                       bool
	// Names, Chosen and the lists of rows that lack runs are in the order of the rows; Few lists rows by n.
	Names, Chosen, Missing, Unplanned, None []string
	Few                                     map[int][]string
	// Minus is the baseline, empty for none. Warned are the rows with each of the warnings.
	Minus            string
	Undecided        bool
	Claims, Warnings []string
	Warned           map[string][]string
}

// addNotes says what a reader has to know besides the numbers.
func (t *grid) addNotes() {
	d := gridNotes{TableOptions: t.o, At: atRule(t.o.Rule), Preset: t.group.preset, Networks: strings.Join(t.networks, " or "), Dataset: t.dataset, PaperSource: PaperSource,
		Targets: len(t.targets), Oracle: t.oracle, OfPaper: len(t.spec.Rows) > 0, Elsewhere: !slices.Contains(t.spec.Datasets, t.group.dataset),
		Few: map[int][]string{}, Claims: t.claimNotes, Warned: map[string][]string{}}
	if t.labels[1] > 0 {
		d.LabelCount = labelsText(t.labels)
	}
	if t.baseline != nil {
		d.Minus = t.baseline.short
	}
	var names []string
	for _, r := range t.rows {
		names = append(names, r.short)
		done := 0
		if least, _ := r.sizes(t.columns()); 0 < least && least < result.Enough {
			d.Few[least] = append(d.Few[least], r.short)
		}
		if r.planned > 0 && !r.other && r.short != r.label {
			d.Names = append(d.Names, fmt.Sprintf("%s is %s (%q)", r.short, r.name, r.label))
		}
		if len(r.chosen) > 0 {
			d.Chosen = append(d.Chosen, r.chosen...)
		}
		for _, target := range t.targets {
			done += len(r.cells[target])
		}
		switch {
		case r.Method == "":
			d.None = append(d.None, r.Name)
		case r.planned == 0 && r.Needs != "": // the row says so
		case r.planned == 0:
			d.Unplanned = append(d.Unplanned, r.name)
		case done < r.planned:
			d.Missing = append(d.Missing, fmt.Sprintf("%s (%d of %d runs finished)", r.short, done, r.planned))
		}
		c := t.claims[r]
		if c == nil {
			continue
		}
		d.Undecided = d.Undecided || c.HasInterval() && !c.ExcludesZero()
		for _, w := range c.Warnings {
			if d.Warned[w] == nil {
				d.Warnings = append(d.Warnings, w)
			}
			d.Warned[w] = append(d.Warned[w], r.short)
		}
	}
	d.Versions = t.versions.note(names)
	t.notes = append(t.notes, notes("grid", d)...)
}

// typed is what a program calls the row: as the paper does, or as its runs are typed.
func (r *row) typed() string {
	if r.Averages != nil || r.Full != nil {
		return r.Name
	}
	return r.label
}

func labelsText(n [2]int) string {
	if n[0] == n[1] {
		return fmt.Sprintf("%d labels", n[0])
	}
	return fmt.Sprintf("%d to %d labels by target", n[0], n[1])
}
