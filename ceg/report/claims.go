package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/result"
)

// claim is what a row gains over the baseline: on the average over targets, paired by
// seed.
type claim struct {
	result.Difference
	// holm is its p-value corrected for all differences of the table; NaN where it
	// has none.
	holm   float64
	favour favour
}

// favour counts the targets on which a mean is above the baseline's, of those that both have.
type favour struct{ above, targets int }

// String is "3 of 4".
func (f favour) String() string { return fmt.Sprintf("%d of %d", f.above, f.targets) }

// onTarget is the difference of a row to a baseline on one target, paired by seed.
type onTarget struct {
	target string
	result.Difference
}

// minus compares a row with a baseline on each target on which they have a seed in common.
func (r *row) minus(baseline *row, targets []string) (list []onTarget) {
	for _, target := range targets {
		a, b := r.cells[target], baseline.cells[target]
		if a == nil || b == nil {
			continue
		}
		if d, err := result.Paired(a.trials, b.trials); err == nil {
			list = append(list, onTarget{target, d})
		}
	}
	return list
}

// overTargets is the mean of differences, with the target domain as the unit.
func overTargets(list []onTarget) (*claim, error) {
	var means, zero []result.Trial
	c := &claim{holm: math.NaN(), favour: favourOf(list)}
	for _, d := range list {
		means, zero = append(means, result.Trial{Key: d.target, Value: d.Mean}), append(zero, result.Trial{Key: d.target})
	}
	var err error
	c.Difference, err = result.Paired(means, zero)
	return c, err
}

// favourOf counts the targets in favour of a row.
func favourOf(list []onTarget) (f favour) {
	for _, d := range list {
		if f.targets++; d.Mean > 0 {
			f.above++
		}
	}
	return f
}

// compare finds what the rows of the grids of one table gain over the baselines. Rows
// without a seed in common with theirs have nothing.
func compare(grids ...*grid) {
	var list []*claim
	for _, t := range grids {
		t.claims = map[*row]*claim{}
		for _, r := range t.rows {
			if t.baseline == nil || r == t.baseline || r.other {
				continue
			}
			d, err := result.Paired(r.average.trials, t.baseline.average.trials)
			if err != nil {
				continue
			}
			c := &claim{Difference: d, favour: favourOf(r.minus(t.baseline, t.targets))}
			t.claims[r] = c
			list = append(list, c)
		}
	}
	notes := correct(list)
	for _, t := range grids {
		t.claimNotes = notes
	}
}

// correct corrects the p-values of all claims of a table, and returns what to say of them;
// nothing if none has any.
func correct(list []*claim) (notes []string) {
	var p []float64
	family, shown := 0, false
	for _, c := range list {
		p = append(p, c.P)
		shown = shown || c.HasInterval()
	}
	for i, holm := range result.Holm(p) {
		list[i].holm = holm
		if !math.IsNaN(holm) {
			family++
		}
	}
	if !shown {
		return nil
	}
	return []string{fmt.Sprintf("p: two-sided p-values of Student's t, of the exact sign-flip (permutation) test (up to n = %d; at least 2/2^n), and of t after Holm correction over this table (tests: %d). ~: the last is above %.2f.", result.MaxFlips, family, 1-result.Level)}
}

// PValues is the name of the column with p-values of Student's t, of the exact sign-flip test, and of
// t after Holm's correction.
const PValues = "p: t, perm., Holm"

// favourColumn is the name of the column with the targets on which a row is above the baseline.
const favourColumn = "targets above"

// claimColumns are the columns with the rows' differences from the baseline.
func (t *grid) claimColumns() []result.Column {
	columns := claimColumns(t.baseline.short)
	if len(t.targets) > 1 {
		columns = slices.Insert(columns, 1, result.Column{Name: favourColumn, Right: true})
	}
	return columns
}

// claimCells are a row's cells of these columns.
func (t *grid) claimCells(r *row) []result.Cell {
	cells := claimCells(t.claims[r])
	if len(t.targets) > 1 {
		text := ""
		if c := t.claims[r]; c != nil {
			text = c.favour.String()
		}
		cells = slices.Insert(cells, 1, result.Cell{Text: text})
	}
	return cells
}

// claimColumns are the columns of a difference from a baseline.
func claimColumns(baseline string) []result.Column {
	return []result.Column{{Name: "minus " + baseline, Right: true}, {Name: PValues, Right: true}}
}

// claimCells formats a difference with its interval, and with its p-values.
func claimCells(c *claim) []result.Cell {
	switch {
	case c == nil:
		return []result.Cell{{}, {}}
	case !c.HasInterval():
		return []result.Cell{{Text: fmt.Sprintf("%+.2f (n = %d)", 100*c.Mean, c.N)}, {}}
	}
	text := fmt.Sprintf("%+.2f (%+.2f to %+.2f, n = %d)", 100*c.Mean, 100*c.Low, 100*c.High, c.N)
	if !c.ExcludesZero() {
		text += fmt.Sprintf(" ~%.2f", 100*c.Detectable())
	}
	p := fmt.Sprintf("%s, %s, %s", pText(c.P), pText(c.SignFlip), pText(c.holm))
	if c.holm > 1-result.Level {
		p += " ~"
	}
	return []result.Cell{{Text: text}, {Text: p}}
}

// pText formats a p-value.
func pText(p float64) string {
	switch {
	case math.IsNaN(p):
		return "-"
	case p < 0.0005:
		return "<0.001"
	}
	return fmt.Sprintf("%.3f", p)
}

// undecided explains the mark of differences that are not significant.
const undecided = "~D: not significant, as the interval contains zero. With this n and spread, a true difference of D would be significant with 80% probability."
