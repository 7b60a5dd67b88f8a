package nb

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/report"
	"github.com/ledg-go/ledg/ceg/result"
)

// Differences shows the rows of a folder compared with a baseline, o.Baseline, at several budgets: the
// difference of the averages over targets in percentage points, with its 95% interval over seeds or
// pools, and the targets on which the row is above. Bold is significant after Holm's correction over the table.
func Differences(f *report.Folder, o report.TableOptions, budgets ...string) {
	Table(differences(f, o, budgets...))
}

func differences(f *report.Folder, o report.TableOptions, budgets ...string) (*result.Table, error) {
	var rows []string
	var p []float64
	at := map[[2]string]int{} // of a row's name and a budget
	var all []report.Verdict
	for _, b := range budgets {
		o.Budget = b
		list, err := f.Verdicts("methods", o)
		if err != nil {
			return nil, err
		}
		for _, v := range list {
			if !slices.Contains(rows, v.Row) {
				rows = append(rows, v.Row)
			}
			at[[2]string{v.Row, b}] = len(all)
			all, p = append(all, v), append(p, v.P)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("no row has a seed in common with %q at %s", o.Baseline, strings.Join(budgets, ", "))
	}
	t := NewTable(append([]string{"minus " + all[0].Baseline}, budgets...)...)
	holm := result.Holm(p)
	n := map[string]bool{}
	for _, row := range rows {
		cells := []result.Cell{{Text: row}}
		for _, b := range budgets {
			i, ok := at[[2]string{row, b}]
			if !ok {
				cells = append(cells, result.Cell{})
				continue
			}
			v := all[i]
			text := fmt.Sprintf("%+.1f", 100*v.Mean)
			if v.HasInterval() {
				text += fmt.Sprintf(" (%+.1f to %+.1f)", 100*v.Low, 100*v.High)
			}
			if v.Targets > 1 {
				text += fmt.Sprintf(", %d of %d", v.Favour, v.Targets)
			}
			n[fmt.Sprint(v.N)] = true
			cells = append(cells, result.Cell{Text: text, Bold: holm[i] < significance})
		}
		t.Rows = append(t.Rows, cells)
	}
	t.Notes = []string{fmt.Sprintf("Percentage points with the 95%% interval over n = %s repetitions, and the targets on which the row is above. Bold: significant after Holm correction over the table.",
		strings.Join(slices.Sorted(maps.Keys(n)), " or "))}
	return t, nil
}
