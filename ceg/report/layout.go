package report

import (
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

// columns lists the columns with our numbers and their content.
func (t *grid) columns() (names []string, of []func(*row) *sample) {
	for _, target := range t.targets {
		names, of = append(names, target), append(of, func(r *row) *sample { return r.cells[target] })
	}
	if len(t.targets) > 1 {
		names, of = append(names, "average"), append(of, func(r *row) *sample { return r.average })
	}
	return names, of
}

// wide lays the table out as in the paper.
func (t *grid) wide() *result.Table {
	table := &result.Table{Title: t.title(), Notes: t.notes}
	groups := slices.ContainsFunc(t.rows, func(r *row) bool { return r.Group != "" })
	if groups {
		table.Columns = append(table.Columns, result.Column{Name: "group"})
	}
	names, samples := t.columns()
	paperNames, papers := t.paperColumns()
	ofPaper := slices.ContainsFunc(t.rows, func(r *row) bool { return r.Name != "" })
	if ofPaper {
		table.Columns = append(table.Columns, result.Column{Name: "in the paper"})
	}
	table.Columns = append(table.Columns, result.Column{Name: "method"})
	for _, name := range slices.Concat(names, []string{"n"}, paperNames) {
		table.Columns = append(table.Columns, result.Column{Name: name, Right: true})
	}
	if t.baseline != nil {
		table.Columns = append(table.Columns, t.claimColumns()...)
	}
	best := t.best(samples)
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
		n, same := r.size(samples)
		for i, s := range samples {
			sum := s(r)
			cells = append(cells, result.Cell{Text: meanSD(sum.summary(), same), Bold: !r.other && sum.summary() != nil && sum.summary().Mean == best[i]})
		}
		text(n)
		for _, p := range papers {
			text(p(r))
		}
		if t.baseline != nil {
			cells = append(cells, t.claimCells(r)...)
		}
		table.Rows = append(table.Rows, cells)
	}
	return table
}

// best returns the highest mean of each column, 2 where fewer than two rows
// compete.
func (t *grid) best(samples []func(*row) *sample) []float64 {
	best := make([]float64, len(samples))
	for i, s := range samples {
		rows := 0
		for _, r := range t.rows {
			if sum := s(r).summary(); sum != nil && !r.other {
				best[i] = max(best[i], sum.Mean)
				rows++
			}
		}
		if rows < 2 {
			best[i] = 2
		}
	}
	return best
}

// size returns n of the row's cells as text, and whether it is the same in all.
func (r *row) size(samples []func(*row) *sample) (text string, same bool) {
	least, most := 0, 0
	for _, s := range samples {
		sum := s(r).summary()
		if sum == nil {
			continue
		}
		if most == 0 {
			least = sum.N
		}
		least, most = min(least, sum.N), max(most, sum.N)
	}
	switch {
	case most == 0:
		return "", true
	case least == most:
		return fmt.Sprint(most), true
	}
	return fmt.Sprintf("%d to %d", least, most), false
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
	names, samples := t.columns()
	for _, r := range t.rows {
		for i, s := range samples {
			sum := s(r).summary()
			if sum == nil {
				continue
			}
			cells := []string{t.spec.Name, t.group.dataset, t.group.preset, r.budget, t.o.Rule, r.typed(), r.Method, r.Variant, names[i]}
			within := *sum
			within.Low, within.High = max(sum.Low, 0), min(sum.High, 1) // NaN stays
			cells = append(append(cells, fmt.Sprint(sum.N)), percents(&within, true)...)
			whole := names[i] == "average" || len(t.targets) == 1
			cells = append(cells, make([]string, 8)...)
			if c := t.claims[r]; c != nil && whole {
				list := append([]string{t.baseline.typed(), fmt.Sprint(c.N)}, percents(&c.Summary, false)...)
				for _, p := range []float64{c.P, c.SignFlip, c.holm} {
					text := ""
					if !math.IsNaN(p) {
						text = fmt.Sprintf("%.6g", p)
					}
					list = append(list, text)
				}
				copy(cells[14:], list)
			}
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

// percents formats mean, standard deviation if wanted, and interval.
func percents(s *result.Summary, sd bool) []string {
	out := []string{fmt.Sprintf("%.4f", 100*s.Mean)}
	values := []float64{s.Low, s.High}
	if sd {
		values = []float64{s.SD, s.Low, s.High}
	}
	for _, v := range values {
		text := ""
		if s.HasInterval() {
			text = fmt.Sprintf("%.4f", 100*v)
		}
		out = append(out, text)
	}
	return out
}

// addNotes says what a reader has to know besides the numbers.
func (t *grid) addNotes() {
	note := func(format string, args ...any) { t.notes = append(t.notes, fmt.Sprintf(format, args...)) }
	note("mean ± standard deviation (divisor n - 1) over n seeds, %s (--rule %s).", atRule(t.o.Rule), t.o.Rule)
	if t.o.SourceVal {
		note("Accuracies are on the sources' validation images, whose labels do not count towards the budget. Columns name the held-out target, which is not used.")
	}
	switch t.o.Measure {
	case "macro-f1":
		note("macro-F1: the unweighted mean over classes of F1 = 2 correct / (images + predictions).")
	case "mean-recall":
		note("mean accuracy of the classes: the unweighted mean over classes of their accuracies.")
	}
	if len(t.targets) > 1 {
		note("average: for each seed finished on all targets, the mean over targets; then mean ± standard deviation over seeds.")
	}
	switch {
	case t.o.Rule == "best_target":
		note("best_target uses the test labels. Compare it only with papers that report it.")
	case t.o.Rule == "best_source_val" && t.oracle:
		note("best_source_val uses the labels of the source validation splits, which do not count towards the budget.")
	}
	if t.labels[1] > 0 {
		note("preset %s, %s, %s.", t.group.preset, strings.Join(t.networks, " or "), labelsText(t.labels))
	}
	t.noteNames()
	t.noteChosen()
	t.noteVersions()
	t.noteSizes()
	t.noteMissing()
	if t.baseline != nil {
		note("minus %s: differences of the averages over targets, paired by seed, with a 95%% Student-t interval, not corrected for the number of rows.", t.baseline.short)
		if len(t.targets) > 1 {
			note("targets above: those on which the mean over seeds is above %s.", t.baseline.short)
		}
		t.noteUndecided()
		t.notes = append(t.notes, t.claimNotes...)
		t.noteWarnings()
	}
	if len(t.spec.Rows) > 0 {
		note("paper: averages of five runs with ResNet-18 at 224 px, by a model selection that it does not state (%s).", PaperSource)
		if !slices.Contains(t.spec.Datasets, t.group.dataset) {
			note("Our results are on %s and the paper's are not: compare orders, not values.", t.dataset)
		}
	}
}

// noteWarnings passes on what the differences warn of, each thing once.
func (t *grid) noteWarnings() {
	var texts []string
	rows := map[string][]string{}
	for _, r := range t.rows {
		if c := t.claims[r]; c != nil {
			for _, w := range c.Warnings {
				if rows[w] == nil {
					texts = append(texts, w)
				}
				rows[w] = append(rows[w], r.short)
			}
		}
	}
	for _, w := range texts {
		t.notes = append(t.notes, fmt.Sprintf("minus %s, %s: %s.", t.baseline.short, strings.Join(rows[w], ", "), w))
	}
}

// noteNames lists the short names, by which notes and heads call the rows, and the labels that
// the command line takes.
func (t *grid) noteNames() {
	var names []string
	for _, r := range t.rows {
		if r.planned > 0 && !r.other && r.short != r.label {
			names = append(names, fmt.Sprintf("%s is %s (%q)", r.short, r.name, r.label))
		}
	}
	if len(names) > 0 {
		t.notes = append(t.notes, fmt.Sprintf("Short names, and names on the command line: %s.", strings.Join(names, "; ")))
	}
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

// noteVersions names the versions of the numbers.
func (t *grid) noteVersions() {
	var names []string
	for _, r := range t.rows {
		names = append(names, r.short)
	}
	if note := t.versions.note(names); note != "" {
		t.notes = append(t.notes, note)
	}
}

// noteSizes says where n is too small.
func (t *grid) noteSizes() {
	few := map[int][]string{}
	for _, r := range t.rows {
		_, samples := t.columns()
		least := 0
		for _, s := range samples {
			if sum := s(r).summary(); sum != nil && (least == 0 || sum.N < least) {
				least = sum.N
			}
		}
		few[least] = append(few[least], r.short)
	}
	for n := 1; n < result.Enough; n++ {
		if len(few[n]) > 0 {
			t.notes = append(t.notes, fmt.Sprintf("n = %d is too few seeds for a standard deviation and an interval: %s.", n, strings.Join(few[n], ", ")))
		}
	}
}

// noteMissing names what is missing.
func (t *grid) noteMissing() {
	var missing, unplanned, none []string
	for _, r := range t.rows {
		done := 0
		for _, s := range r.cells {
			done += len(s.trials)
		}
		switch {
		case r.Method == "":
			none = append(none, r.Name)
		case r.planned == 0 && r.Needs != "": // the row says so
		case r.planned == 0:
			unplanned = append(unplanned, r.name)
		case done < r.planned:
			missing = append(missing, fmt.Sprintf("%s (%d of %d runs finished)", r.short, done, r.planned))
		}
	}
	for _, n := range []struct {
		text string
		list []string
	}{{"Incomplete, see ledg study status", missing}, {"In no study of this folder", unplanned}, {"Not in ledg", none}} {
		if len(n.list) > 0 {
			t.notes = append(t.notes, fmt.Sprintf("%s: %s.", n.text, strings.Join(n.list, ", ")))
		}
	}
}
