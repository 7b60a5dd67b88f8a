package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/ledg-go/ledg/ceg/result"
)

// allConfusions is the table of the confusion matrices of the methods in a folder.
const allConfusions = "confusion"

// confusions makes a table for each data set, preset and method: the number of target images of
// each class by predicted class at the last epoch, summed over targets and seeds.
func (f *Folder) confusions(o TableOptions) ([]*result.Table, error) {
	var tables []*result.Table
	old := 0
	for _, g := range f.groups(o.Dataset, o.Preset) {
		budget := cmp.Or(o.Budget, f.usualBudget(g))
		runs := only(f.Runs, func(r result.PlannedRun) bool {
			return groupOf(r) == g && r.Sweep == nil && r.Budget == budget && (len(o.Methods) == 0 || slices.ContainsFunc(o.Methods, func(m string) bool { return f.means(m, r) }))
		})
		for _, label := range labelsOf(runs) {
			sum := confused{label: label, name: f.ArmName(withLabel(runs, label)[0]), group: g, dataset: f.titleOf(g.dataset), budget: budget, targets: map[string]bool{}, seeds: map[uint64]bool{}}
			for _, r := range withLabel(runs, label) {
				out, err := f.Outcome(r)
				if err == nil && out != nil {
					err = sum.add(r, out)
				}
				if err != nil {
					return nil, err
				}
			}
			switch old += sum.old; {
			case sum.runs == 0:
			case o.Long:
				tables = append(tables, sum.long())
			default:
				tables = append(tables, sum.table())
			}
		}
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("%s: no finished run counts predictions by class%s; %d are of older versions of ledg, which did not", f.Path, f.hint(o), old)
	}
	return tables, nil
}

// confused adds up the confusions of a method's runs.
type confused struct {
	label, name, budget string
	group               group
	dataset             string // as a reader calls it
	classes             []string
	sum                 result.Confusion
	runs, old           int // with counts, and without
	targets             map[string]bool
	seeds               map[uint64]bool
}

// add adds a finished run.
func (c *confused) add(r result.PlannedRun, out *result.Run) error {
	added := false
	for _, a := range out.Records[len(out.Records)-1].Accuracy {
		if a.Split != result.TestSplit || a.Confusion == nil {
			continue
		}
		names := out.Result.Classes
		if names == nil {
			for i := range a.Confusion {
				names = append(names, fmt.Sprint(i))
			}
		}
		if c.sum == nil {
			c.classes, c.sum = names, result.NewConfusion(len(names))
		}
		if !slices.Equal(names, c.classes) || len(a.Confusion) != len(names) {
			return fmt.Errorf("%s: it has classes %q, other runs of %s have %q", out.Path, names, c.label, c.classes)
		}
		c.sum.Add(a.Confusion)
		added = true
	}
	if !added {
		c.old++
		return nil
	}
	c.runs++
	c.targets[r.Target], c.seeds[r.Seed] = true, true
	return nil
}

// table has a row per class and a column per prediction.
func (c *confused) table() *result.Table {
	t := &result.Table{Title: fmt.Sprintf("Confusion matrix of %s on %s, preset %s: images of the target domain at the last epoch, with %s labels", c.name, c.dataset, c.group.preset, c.budget)}
	t.Columns = []result.Column{{Name: "class"}}
	for _, name := range c.classes {
		t.Columns = append(t.Columns, result.Column{Name: name, Right: true})
	}
	t.Columns = append(t.Columns, result.Column{Name: "accuracy %", Right: true}, result.Column{Name: "F1 %", Right: true})
	classes, right, all := c.sum.Classes(), 0, 0
	for i, row := range c.sum {
		cells := []result.Cell{{Text: c.classes[i]}}
		for k, n := range row {
			cells = append(cells, result.Cell{Text: fmt.Sprint(n), Bold: i == k})
		}
		x := classes[i]
		right, all = right+x.Correct, all+x.Total
		t.Rows = append(t.Rows, append(cells, result.Cell{Text: fmt.Sprintf("%.2f", 100*x.Recall())}, result.Cell{Text: fmt.Sprintf("%.2f", 100*x.F1())}))
	}
	t.Notes = []string{
		fmt.Sprintf("Rows: true classes. Columns: predictions. Sums over n = %d runs: targets %s, seeds %s.", c.runs, words(slices.Sorted(maps.Keys(c.targets))), words(slices.Sorted(maps.Keys(c.seeds)))),
		fmt.Sprintf("Overall: accuracy %.2f%%, mean accuracy of the classes %.2f%%, macro-F1 %.2f%%.",
			100*result.Tally{Correct: right, Total: all}.Share(), 100*classes.MeanRecall(), 100*classes.MacroF1()),
	}
	if c.old > 0 {
		t.Notes = append(t.Notes, fmt.Sprintf("%d runs of older versions of ledg are left out: their records do not count by class.", c.old))
	}
	return t
}

// long has a row per cell of the matrix.
func (c *confused) long() *result.Table {
	t := &result.Table{}
	for _, name := range []string{"dataset", "preset", "budget", "method", "runs", "class", "answer", "images"} {
		t.Columns = append(t.Columns, result.Column{Name: name})
	}
	for i, row := range c.sum {
		for k, n := range row {
			t.AddRow(c.group.dataset, c.group.preset, c.budget, c.label, fmt.Sprint(c.runs), c.classes[i], c.classes[k], fmt.Sprint(n))
		}
	}
	return t
}
