package report

import (
	"fmt"

	"github.com/ledg-go/ledg/ceg/result"
)

// chosenName is the row that is selected target by target.
const chosenName = "selected by source validation"

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
	c := &row{PaperRow: PaperRow{Method: chosenName}, name: chosenName, short: chosenName, label: chosenName, preset: t.group.preset, budget: t.budget, cells: map[string][]result.Trial{}}
	for _, target := range t.targets {
		best, seeds, mean := -1, 0, 0.0
		for i, r := range val.rows {
			s := summary(r.cells[target])
			if s != nil && !r.other && (s.N > seeds || s.N == seeds && s.Mean > mean) {
				best, seeds, mean = i, s.N, s.Mean
			}
		}
		if best < 0 {
			continue
		}
		c.cells[target] = t.rows[best].cells[target]
		t.versions[chosenName] = append(t.versions[chosenName], t.versions[t.rows[best].short]...)
		c.planned += seeds
		c.chosen = append(c.chosen, fmt.Sprintf("on %s %s (%.2f, n = %d)", target, val.rows[best].name, 100*mean, seeds))
	}
	return c, nil
}
