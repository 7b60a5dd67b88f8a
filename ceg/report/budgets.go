package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// allBudgets is the table of everything in a folder over the budgets.
const allBudgets = "budgets"

// budgetTable makes the table over the budgets of a group: a row per method, and for every
// budget, from the least labels to the most, a column with the average over targets, mean
// and standard deviation over seeds; with a baseline a second one with the difference to
// it at the same budget, paired by seed. It is nil if the folder plans no run for it.
func (f *Folder) budgetTable(g group, o TableOptions) (*result.Table, error) {
	grids, err := f.budgetGrids(g, o)
	if err != nil || len(grids) == 0 {
		return nil, err
	}
	compare(grids...)
	if o.Long {
		table := grids[0].long()
		for _, t := range grids[1:] {
			table.Rows = append(table.Rows, t.long().Rows...)
		}
		return table, nil
	}

	table := &result.Table{Title: fmt.Sprintf("Methods over the budget on %s: %s, %%, average over targets, %s", f.titleOf(g.dataset), o.measureTitle(), atRule(o.Rule))}
	table.Columns = []result.Column{{Name: "method"}}
	for _, t := range grids {
		table.Columns = append(table.Columns, result.Column{Name: t.budget, Right: true})
		if t.baseline != nil {
			table.Columns = append(table.Columns, claimColumns(t.baseline.short, len(t.targets) > 1)...)
		}
	}
	var rows []*row // the first with each label
	for _, t := range grids {
		for _, r := range t.rows {
			if len(r.cells[overall]) > 0 && !slices.ContainsFunc(rows, func(o *row) bool { return o.label == r.label }) {
				rows = append(rows, r)
			}
		}
	}
	for _, of := range rows {
		cells := []result.Cell{{Text: of.name}}
		for _, t := range grids {
			r := t.labelled(of.label)
			if r == nil {
				r = &row{}
			}
			s := summary(r.cells[overall])
			cells = append(cells, result.Cell{Text: meanSD(s, t.seeds() > 0), Bold: s != nil && s.Mean == t.best(overall)})
			if t.baseline != nil {
				cells = append(cells, claimCells(t.claims[r], len(t.targets) > 1)...)
			}
		}
		table.Rows = append(table.Rows, cells)
	}
	table.Notes = budgetNotes(grids)
	return table, nil
}

// labelled returns the row with the label that has numbers, or nil.
func (t *grid) labelled(label string) *row {
	for _, r := range t.rows {
		if r.label == label && len(r.cells[overall]) > 0 {
			return r
		}
	}
	return nil
}

// seeds returns the number of seeds of every row's average, 0 where they differ.
func (t *grid) seeds() int {
	finished := only(t.rows, func(r *row) bool { return len(r.cells[overall]) > 0 })
	if n := distinct(finished, func(r *row) int { return len(r.cells[overall]) }); len(n) == 1 {
		return n[0]
	}
	return 0
}

// budgetNotes are the notes of the budgets, each once, with the budgets that it is about
// if it is not all of them.
func budgetNotes(grids []*grid) []string {
	var order []string
	about := map[string][]string{}
	for _, t := range grids {
		t.notes = nil
		t.addNotes()
		if n := t.seeds(); n > 0 {
			t.notes = append(t.notes, fmt.Sprintf("n = %d.", n))
		}
		for _, note := range t.notes {
			if about[note] == nil {
				order = append(order, note)
			}
			about[note] = append(about[note], t.budget)
		}
	}
	for i, note := range order {
		if b := about[note]; len(b) < len(grids) {
			order[i] = strings.Join(b, ", ") + ": " + note
		}
	}
	return order
}
