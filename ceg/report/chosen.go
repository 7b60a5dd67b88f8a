package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// chosenName is the row that is selected target by target.
const chosenName = "selected by source validation"

// addChosen adds the row that is chosen from all plans; or, against a plan, leaves that row
// and the one that is chosen from this plan alone, which is the baseline.
func (f *Folder) addChosen(t *grid) error {
	c, err := f.chosen(t)
	if err != nil || t.o.Against == "" {
		t.rows = append(t.rows, c)
		return err
	}
	i := slices.IndexFunc(f.plans, func(p *result.Plan) bool { return p.Name == t.o.Against })
	if i < 0 {
		return &OptionError{"against", fmt.Errorf("%q: no such plan is read, only %s", t.o.Against, strings.Join(f.Plans, ", "))}
	}
	alone := *f
	alone.Runs = slices.DeleteFunc(slices.Clone(f.Runs), func(r result.PlannedRun) bool {
		return !slices.ContainsFunc(f.plans[i].Runs, func(of result.PlannedRun) bool { return of.Dir == r.Dir && of.Key() == r.Key() })
	})
	o := t.o
	o.Against = ""
	rest, err := alone.grid(t.spec, t.group, o)
	if err != nil {
		return err
	}
	if rest == nil {
		return &OptionError{"against", fmt.Errorf("%q: the plan has no runs for this table", t.o.Against)}
	}
	other := rest.rows[len(rest.rows)-1]
	other.name += " of " + t.o.Against
	other.short, other.label = other.name, other.name
	t.versions.join(other.short, rest.versions, chosenName)
	t.rows, t.o.Baseline = []*row{c, other}, other.name
	return nil
}

// chosen makes the row that has for each target the numbers of another: of the one with the
// highest mean on the validation images of that target's own sources, the first of equals, among
// those with the most seeds. The targets' images play no part in it.
func (f *Folder) chosen(t *grid) (*row, error) {
	o := t.o
	o.SourceVal, o.Chosen, o.Baseline = true, false, ""
	val, err := f.grid(t.spec, t.group, o)
	if err != nil {
		return nil, err
	}
	c := &row{PaperRow: PaperRow{Method: chosenName}, name: chosenName, short: chosenName, label: chosenName, preset: t.group.preset, budget: t.budget, cells: map[string]*sample{}}
	for _, target := range t.targets {
		best, seeds, mean := -1, 0, 0.0
		for i, r := range val.rows {
			s := r.cells[target].summary()
			if s != nil && !r.other && (s.N > seeds || s.N == seeds && s.Mean > mean) {
				best, seeds, mean = i, s.N, s.Mean
			}
		}
		if best < 0 {
			continue
		}
		c.cells[target] = t.rows[best].cells[target]
		t.versions.join(chosenName, t.versions, t.rows[best].short)
		c.planned += seeds
		c.chosen = append(c.chosen, fmt.Sprintf("on %s %s (%.2f, n = %d)", target, val.rows[best].name, 100*mean, seeds))
	}
	return c, nil
}

// noteChosen says what was chosen.
func (t *grid) noteChosen() {
	for _, r := range t.rows {
		if len(r.chosen) > 0 {
			t.notes = append(t.notes, fmt.Sprintf("%s: for each target, the row with the highest mean accuracy on the validation images of its sources: %s.", r.name, strings.Join(r.chosen, ", ")))
		}
	}
}
