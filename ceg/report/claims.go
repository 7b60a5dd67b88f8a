package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/ledg-go/ledg/ceg/result"
)

// pair is a row of a table at a budget with the row that it is compared with, nil for none.
type pair struct {
	*grid
	row, baseline *row
}

// claim is what a row gains over the baseline: on the average over targets, paired by
// seed, or over the targets.
type claim struct {
	result.Difference
	// holm is its p-value corrected for all differences of the table; NaN where it
	// has none.
	holm float64
	// above is the number of targets on which a mean is above the baseline's, of those that both have.
	above, targets int
}

func (c *claim) favour() string { return fmt.Sprintf("%d of %d", c.above, c.targets) }

// onTargets are the differences on each target on which both rows have a seed in common, paired by seed.
func (p pair) onTargets() (list []result.Difference) {
	for _, target := range p.targets {
		if d, err := result.Paired(p.row.cells[target], p.baseline.cells[target]); err == nil {
			list = append(list, d)
		}
	}
	return list
}

// claim counts the targets in favour of the row for a difference.
func (p pair) claim(d result.Difference, list []result.Difference) *claim {
	c := &claim{Difference: d, holm: math.NaN(), targets: len(list)}
	for _, d := range list {
		if d.Mean > 0 {
			c.above++
		}
	}
	return c
}

// overSeeds is the claim on the average over targets; nil without a seed in common.
func (p pair) overSeeds() *claim {
	if p.baseline == nil || p.row == p.baseline {
		return nil
	}
	d, err := result.Paired(p.row.cells[overall], p.baseline.cells[overall])
	if err != nil {
		return nil
	}
	return p.claim(d, p.onTargets())
}

// overTargets is the claim with the target domain as the unit; nil if a target lacks a pair of seeds.
func (p pair) overTargets() *claim {
	list := p.onTargets()
	var means []float64
	for _, d := range list {
		means = append(means, d.Mean)
	}
	d, err := result.Paired(trials(means), trials(make([]float64, len(means))))
	if err != nil || len(list) < len(p.targets) {
		return nil
	}
	return p.claim(d, list)
}

// trials are values whose keys are their places.
func trials(values []float64) (list []result.Trial) {
	for i, v := range values {
		list = append(list, result.Trial{Key: fmt.Sprint(i), Value: v})
	}
	return list
}

// compare finds what the rows of the grids of one table gain over the baselines. Rows
// without a seed in common with theirs have nothing.
func compare(grids ...*grid) {
	var list []*claim
	for _, t := range grids {
		t.claims = map[*row]*claim{}
		for _, r := range t.rows {
			if c := (pair{t, r, t.baseline}).overSeeds(); c != nil && !r.other {
				t.claims[r] = c
				list = append(list, c)
			}
		}
	}
	notes := correct(list)
	for _, t := range grids {
		t.claimNotes = notes
	}
}

// pairs are the rows of a group at every budget that has runs, from the fewest labels to the most or at
// o.Budget alone, each with the row called o.Baseline there. With o.BaselineFolder the baselines are in that
// folder and, without a name, of the row's own label.
func (f *Folder) pairs(g group, o TableOptions) (list []pair, err error) {
	own := o
	if o.BaselineFolder != nil {
		own.Baseline = ""
	}
	grids, err := f.budgetGrids(g, own)
	if err != nil {
		return nil, err
	}
	others := grids
	if other := o.BaselineFolder; other != nil {
		of, err := FigureOptions{Preset: o.Preset}.withDefaults(other)
		if err != nil {
			return nil, &OptionError{"baseline-dir", fmt.Errorf("%s: %w", other.Path, err)}
		}
		o.Methods = nil
		if others, err = other.budgetGrids(group{of.Dataset, of.Preset}, o); err != nil {
			return nil, err
		}
	}
	for _, t := range grids {
		for _, r := range t.rows {
			p := pair{grid: t, row: r}
			for _, b := range others {
				switch {
				case b.budget != t.budget:
				case o.Baseline != "":
					p.baseline = b.baseline
				case o.BaselineFolder != nil:
					p.baseline = b.labelled(r.label)
				}
			}
			if r != p.baseline {
				list = append(list, p)
			}
		}
	}
	return list, nil
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

// claimColumns are the columns of a difference from a baseline, also with the targets in favour of the row.
func claimColumns(baseline string, favour bool) []result.Column {
	columns := []result.Column{{Name: "minus " + baseline, Right: true}, {Name: favourColumn, Right: true}, {Name: PValues, Right: true}}
	if !favour {
		return slices.Delete(columns, 1, 2)
	}
	return columns
}

// claimCells are the cells of these columns; empty for no claim.
func claimCells(c *claim, favour bool) []result.Cell {
	cells := differenceCells(c)
	if favour {
		cells = slices.Insert(cells, 1, result.Cell{})
		if c != nil {
			cells[1].Text = c.favour()
		}
	}
	return cells
}

// differenceCells formats a difference with its interval, and with its p-values.
func differenceCells(c *claim) []result.Cell {
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
