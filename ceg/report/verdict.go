package report

import (
	"cmp"
	"math"

	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/plots"
)

// Verdict is the difference between a row of a table and its baseline, as a share of one.
type Verdict struct {
	// Row and Baseline are the display names of the two arms.
	Row, Baseline string
	result.Difference
	// Holm is the p-value with Holm's correction over all differences of the table; NaN for
	// none.
	Holm float64
	// Favour is the number of targets on which the row's mean is above the baseline's, of Targets;
	// 0 of 0 if that was not counted.
	Favour, Targets int
}

// Verdicts returns the differences in the last column of the named tables, one of [TableNames],
// in row order; rows without a common seed with the baseline are left out.
func (f *Folder) Verdicts(name string, o TableOptions) (list []Verdict, err error) {
	spec := PaperTable{Name: allMethods}
	for _, t := range PaperTables() {
		if t.Name == name {
			spec = t
		}
	}
	o.Rule, o.Measure = cmp.Or(o.Rule, "last_epoch"), cmp.Or(o.Measure, measures[0].name)
	if f, err = f.onTargets(o.Targets); err != nil {
		return nil, err
	}
	groups := f.groups(o.Dataset, o.Preset)
	for _, g := range groups {
		if !spec.about(g.dataset) || g.besides(groups) {
			continue
		}
		t, err := f.grid(spec, g, o)
		if err != nil {
			return nil, err
		}
		if t == nil { // no runs
			continue
		}
		for _, r := range t.rows {
			if c := t.claims[r]; c != nil {
				list = append(list, Verdict{r.name, t.baseline.name, c.Difference, c.holm, c.favour.above, c.favour.targets})
			}
		}
	}
	return list, nil
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
