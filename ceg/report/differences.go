package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// Differences returns the table of the differences of rows to o.Baseline at several budgets: of the
// averages over targets, in percentage points, with the 95% interval over seeds or pools, and the
// targets on which the row is above. Bold is significant after Holm's correction over the table.
func (f *Folder) Differences(o TableOptions, budgets ...string) (*result.Table, error) {
	o = o.withDefaults()
	f, err := f.onTargets(o.Targets)
	if err != nil {
		return nil, err
	}
	var pairs []pair
	groups := f.groups(o.Dataset, o.Preset)
	for _, g := range groups {
		if g.besides(groups) {
			continue
		}
		all, err := f.pairs(g, o)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, only(all, func(p pair) bool { return slices.Contains(budgets, p.budget) })...)
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return slices.Index(budgets, a.budget) - slices.Index(budgets, b.budget) })
	t := &result.Table{Columns: []result.Column{{}}}
	for _, b := range budgets {
		t.Columns = append(t.Columns, result.Column{Name: b, Right: true})
	}
	claims := make([]*claim, len(pairs))
	for i, p := range pairs {
		claims[i] = p.overSeeds()
	}
	family := only(claims, func(c *claim) bool { return c != nil })
	correct(family)
	for i, p := range pairs {
		c := claims[i]
		if c == nil {
			continue
		}
		t.Columns[0].Name = "minus " + p.baseline.name
		i := slices.IndexFunc(t.Rows, func(row []result.Cell) bool { return row[0].Text == p.row.name })
		if i < 0 {
			i = len(t.Rows)
			t.Rows = append(t.Rows, append([]result.Cell{{Text: p.row.name}}, make([]result.Cell, len(budgets))...))
		}
		above := ""
		if c.targets > 1 {
			above = ", " + c.favour()
		}
		t.Rows[i][1+slices.Index(budgets, p.budget)] = differenceCell(c.Difference, 100, c.holm, above)
	}
	n := distinct(family, func(c *claim) string { return fmt.Sprint(c.N) })
	if len(n) == 0 {
		return nil, fmt.Errorf("no row has a seed in common with %q at %s", o.Baseline, strings.Join(budgets, ", "))
	}
	slices.Sort(n)
	t.Notes = []string{fmt.Sprintf("Percentage points with the 95%% interval over n = %s repetitions, and the targets on which the row is above. Bold: significant after Holm correction over the table.",
		strings.Join(n, " or "))}
	return t, nil
}

// differenceCell is a mean paired difference in points as a cell, with its 95% interval if it has one, bold if
// it is significant after Holm's correction.
func differenceCell(d result.Difference, points, holm float64, more string) result.Cell {
	text := fmt.Sprintf("%+.1f", points*d.Mean)
	if d.HasInterval() {
		text += fmt.Sprintf(" (%+.1f to %+.1f)", points*d.Low, points*d.High)
	}
	return result.Cell{Text: text + more, Bold: holm < 1-result.Level}
}

// SweepTable returns the numbers of a sensitivity figure: each value, or pair of values, compared with the
// default, paired by seed, with the paper's number if its text has one.
func SweepTable(d plots.SensitivityData) *result.Table {
	t := &result.Table{Columns: []result.Column{{Name: "setting"}}}
	for _, name := range []string{"value", "accuracy, %", "runs", "minus the usual", "paper, PACS", "paper, Office-Home"} {
		t.Columns = append(t.Columns, result.Column{Name: name, Right: true})
	}
	t.Notes = []string{"Minus the usual: paired by seed, with a 95% interval. Bold: significant after Holm correction over the table. " +
		"~D: not significant. With this n and spread, a true difference of D would be significant with 80% probability."}
	claims := map[int]*claim{} // by row
	var family []*claim
	add := func(labels []string, usual []float64, cells []plots.Cell) {
		at := func(c plots.Cell) []float64 { return []float64{c.X, c.Y}[:len(labels)] }
		i := slices.IndexFunc(cells, func(c plots.Cell) bool { return slices.Equal(at(c), usual) })
		for k, c := range cells {
			row := []string{words(labels), words(at(c)), fmt.Sprintf("%.1f", stat.Mean(c.Values, nil)),
				fmt.Sprintf("%d, from %.1f to %.1f", len(c.Values), slices.Min(c.Values), slices.Max(c.Values)), "", "", ""}
			if k == i {
				row[4] = "usual"
			} else if i >= 0 && len(c.Values) == len(cells[i].Values) {
				if d, err := result.Paired(trials(c.Values), trials(cells[i].Values)); err == nil {
					claims[len(t.Rows)] = &claim{Difference: d}
					family = append(family, claims[len(t.Rows)])
				}
			}
			for _, paper := range PaperSensitivity() {
				same := paper.At == nil && k == i || len(paper.At) == len(labels)
				for name, v := range paper.At {
					j := slices.Index(labels, ParameterLabel(name))
					same = same && j >= 0 && at(c)[j] == v
				}
				if same {
					row[5], row[6] = fmt.Sprintf("%.2f", paper.PACS), fmt.Sprintf("%.2f", paper.OfficeHome)
				}
			}
			t.AddRow(row...)
		}
	}
	for _, s := range d.Sweeps {
		for _, c := range s.Curves {
			var cells []plots.Cell
			for _, p := range c.Points {
				cells = append(cells, plots.Cell{X: p.X, Values: p.Values})
			}
			var usual []float64
			if s.Chosen != nil {
				usual = []float64{*s.Chosen}
			}
			add([]string{s.XLabel}, usual, cells)
		}
	}
	for _, s := range d.Surfaces {
		var usual []float64
		if s.Chosen != nil {
			usual = s.Chosen[:]
		}
		add([]string{s.XLabel, s.YLabel}, usual, s.Cells)
	}
	correct(family)
	for i, c := range claims {
		detects := ""
		if c.HasInterval() && !c.ExcludesZero() {
			detects = fmt.Sprintf(" ~%.1f", c.Detectable())
		}
		t.Rows[i][4] = differenceCell(c.Difference, 1, c.holm, detects)
	}
	return t
}

// Saving is the label saving of a method at one budget, compared with another method.
type Saving struct {
	// Budget is the method's budget, Accuracy its mean accuracy there.
	Budget, Accuracy float64
	// Worth is the budget at which the other method has equal accuracy: +Inf if it is at none
	// that was measured, and -Inf if it is better already at the smallest.
	Worth float64
}

// Savings returns, for each budget of a method, the budget at which the other has the same mean
// accuracy, by linear interpolation over the logarithm of the budget.
func Savings(method, other plots.Curve) (list []Saving) {
	mean := func(p plots.Point) (sum float64) {
		for _, v := range p.Values {
			sum += v / float64(len(p.Values))
		}
		return sum
	}
	for _, p := range method.Points {
		s := Saving{Budget: p.X, Accuracy: mean(p), Worth: math.Inf(1)}
		for i, q := range other.Points {
			if mean(q) < s.Accuracy {
				continue
			}
			if i == 0 {
				s.Worth = math.Inf(-1)
				if mean(q) == s.Accuracy {
					s.Worth = q.X
				}
				break
			}
			before := other.Points[i-1]
			share := (s.Accuracy - mean(before)) / (mean(q) - mean(before))
			s.Worth = before.X * math.Pow(q.X/before.X, share)
			break
		}
		list = append(list, s)
	}
	return list
}
