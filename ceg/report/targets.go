package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// allTargets is the table of differences to a baseline on every target domain.
const allTargets = "targets"

// targetTable makes the table of differences to the baseline with the target domain as the
// unit of inference: a row per budget and method, the mean difference over the seeds on
// each target (paired by seed), the number of targets in favour, and the mean over targets
// with its interval and p-values, Holm's over the whole table. With a baseline folder, each row is
// compared with the row of its label and budget there. It is nil without runs.
func (f *Folder) targetTable(g group, o TableOptions) (*result.Table, error) {
	if (o.Baseline == "") == (o.BaselineFolder == nil) {
		return nil, &OptionError{"baseline", errors.New("table " + allTargets + " needs a baseline row or a baseline folder, one of the two")}
	}
	pairs, err := f.pairs(g, o)
	if err != nil || len(pairs) == 0 {
		return nil, err
	}
	name := ""
	if o.BaselineFolder != nil {
		name = "the same methods in " + filepath.Base(o.BaselineFolder.Path)
	}
	table := &result.Table{Columns: []result.Column{{Name: "method"}, {Name: "budget"}}}
	targets := pairs[0].targets
	for _, name := range slices.Concat(targets, []string{"seeds", favourColumn, "mean over targets", PValues}) {
		table.Columns = append(table.Columns, result.Column{Name: name, Right: true})
	}
	var all []*claim
	var alone []string // rows without a counterpart
	for _, p := range pairs {
		if p.targets = targets; p.baseline == nil {
			alone = append(alone, p.row.name+", "+p.budget)
			continue
		}
		c := p.overTargets()
		if c == nil {
			continue
		}
		if o.BaselineFolder == nil {
			name = p.baseline.name
		}
		least, most := math.MaxInt, 0
		cells := []result.Cell{{Text: p.row.name}, {Text: p.budget}}
		for _, d := range p.onTargets() {
			least, most = min(least, d.N), max(most, d.N)
			cells = append(cells, result.Cell{Text: fmt.Sprintf("%+.2f", 100*d.Mean)})
		}
		all = append(all, c)
		table.Rows = append(table.Rows, append(cells, result.Cell{Text: span(least, most)}, result.Cell{Text: c.favour()}))
	}
	table.Title = fmt.Sprintf("Differences to %s on %s: %s, %%, %s", name, f.titleOf(g.dataset), o.measureTitle(), atRule(o.Rule))
	if o.BaselineFolder != nil && len(all) == 0 {
		return nil, &OptionError{"baseline-dir", fmt.Errorf("%s has no row of these labels, budgets, targets and seeds", o.BaselineFolder.Path)}
	}
	notes := correct(all)
	for i, c := range all {
		table.Rows[i] = append(table.Rows[i], claimCells(c, false)...)
	}
	table.Notes = append([]string{
		"Each target: the mean difference over seeds, paired by seed. Targets above: those on which it is above zero.",
		"Mean over targets: the target domain is the unit, with a 95% Student-t interval over targets.",
	}, notes...)
	if o.BaselineFolder != nil && len(alone) > 0 {
		table.Notes = append(table.Notes, "Not in the baseline folder: "+strings.Join(alone, "; ")+".")
	}
	if slices.ContainsFunc(all, func(c *claim) bool { return c.HasInterval() && !c.ExcludesZero() }) {
		table.Notes = append(table.Notes, undecided)
	}
	return table, nil
}

// span formats a range of counts.
func span(least, most int) string {
	if least == most {
		return fmt.Sprint(most)
	}
	return fmt.Sprintf("%d to %d", least, most)
}

// budgetGrids collects the numbers of a group at every budget that has runs, from the fewest
// labels to the most or at o.Budget alone, each with the baseline of its own budget.
func (f *Folder) budgetGrids(g group, o TableOptions) ([]*grid, error) {
	var grids []*grid
	baseline, only := o.Baseline, o.Budget
	for _, b := range f.budgets(g) {
		if only != "" && b != only {
			continue
		}
		o.Budget, o.Baseline = b, ""
		t, err := f.grid(PaperTable{Name: allBudgets, Title: "Methods over the budget"}, g, o)
		if err != nil {
			return nil, err
		}
		if t != nil && t.labels[1] > 0 {
			grids = append(grids, t)
		}
	}
	slices.SortStableFunc(grids, func(a, b *grid) int { return cmp.Compare(a.labels[1], b.labels[1]) })
	var first error
	found := baseline == "" || len(grids) == 0
	for _, t := range grids {
		t.o.Baseline = baseline
		err := t.findBaseline()
		first, found = cmp.Or(first, err), found || err == nil
	}
	if !found {
		return nil, first
	}
	return grids, nil
}
