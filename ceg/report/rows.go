package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

type row struct {
	PaperRow
	// name and short are for readers. The label is the row's identity, as it is typed.
	name, short string

	label  string
	also   []string // labels of the same runs, as an ablation that is a method by itself has two
	budget string
	preset string
	// other says that the row has another budget and does not compete.
	other bool
	// cells are what the seeds gave, by target; overall is their average, seed by seed.
	cells   map[string][]result.Trial
	planned int
	// chosen says of each target whose numbers the row has, if they are others'.
	chosen []string
}

// overall is the cell of the average over targets.
const overall = ""

func values(trials []result.Trial) (list []float64) {
	for _, t := range trials {
		list = append(list, t.Value)
	}
	return list
}

// summary is nil for no trials.
func summary(trials []result.Trial) *result.Summary {
	if sum, err := result.Summarize(values(trials)); err == nil { // shares are finite
		return &sum
	}
	return nil
}

// addRows lists the rows: the paper's, and what the folder has besides that
// belongs there.
func (t *grid) addRows(f *Folder) {
	runs := f.Runs
	add := func(p PaperRow, preset, budget string, other bool) {
		label := result.PlannedRun{Method: p.Method, Variant: p.Variant}.Label()
		if preset != t.group.preset {
			label += ", preset " + preset
		}
		name, short := f.armName(result.PlannedRun{Dataset: t.group.dataset, Preset: preset, Method: p.Method, Variant: p.Variant})
		if other {
			name, short = name+", "+budget+" of the labels", short+", "+budget
		}
		t.rows = append(t.rows, &row{PaperRow: p, name: name, short: short, label: label, preset: preset, budget: budget, other: other, cells: map[string][]result.Trial{}})
	}
	all := func(p PaperRow) bool { // whether it has runs with all labels
		return slices.ContainsFunc(runs, func(r result.PlannedRun) bool {
			return groupOf(r) == t.group && r.Method == p.Method && r.Variant == p.Variant && r.Budget == "100%"
		})
	}
	for _, p := range t.spec.Rows {
		add(p, t.group.preset, t.budget, false)
		if p.Method != "" && p.Full != nil && all(p) {
			add(PaperRow{Group: p.Group, Name: p.Name, Full: p.Full, Method: p.Method, Variant: p.Variant}, t.group.preset, "100%", true)
		}
	}
	for _, r := range runs {
		if !t.belongs(r) || t.rowOf(r) != nil {
			continue
		}
		if same := t.sameRuns(runs, r); same != nil {
			same.also = append(same.also, r.Label())
			if r.Variant == "" && len(t.spec.Rows) == 0 {
				same.label, same.also = r.Label(), []string{same.label}
				same.Method, same.Variant = r.Method, ""
			}
		} else {
			add(PaperRow{Method: r.Method, Variant: r.Variant}, r.Preset, t.budget, false)
		}
	}
	nameRows(t.rows)
}

// sameRuns returns the row that has the run under another label.
func (t *grid) sameRuns(runs []result.PlannedRun, r result.PlannedRun) *row {
	for _, other := range runs {
		if other.Dir == r.Dir && other.Label() != r.Label() {
			if row := t.rowOf(other); row != nil {
				return row
			}
		}
	}
	return nil
}

// holds reports whether a run is of the table's group.
func (t *grid) holds(r result.PlannedRun) bool {
	g := groupOf(r)
	return g == t.group || t.o.Preset == "" && g.dataset == t.group.dataset && after(g.preset, t.group.preset)
}

// belongs reports whether a run that the paper has no row for is in the table: any in the tables
// of all methods and all budgets; FixMatch and CEG's training with labels upfront are in all other
// tables, too. Other variants of CEG are in the ablation, other strategies with cross-entropy
// among the active learning methods, and methods near to StyleMatch beside it.
func (t *grid) belongs(r result.PlannedRun) bool {
	if !t.holds(r) || r.Sweep != nil || r.Budget != t.budget {
		return false
	}
	switch {
	case t.spec.Name == allMethods, t.spec.Name == allBudgets:
		return true
	case r.Method == fixMatch:
		return r.Variant == ""
	case r.Method == "uniform" && r.Variant == once:
		return true
	case t.spec.Name == "table3":
		return r.Variant == "" && (strings.HasSuffix(r.Method, "-ce") || strings.HasPrefix(r.Method, styleMatch+"-"))
	case t.spec.Name == "table4":
		return r.Variant != "" && r.Method == "ceg"
	}
	return false
}

func (t *grid) rowOf(r result.PlannedRun) *row {
	if !t.holds(r) || r.Sweep != nil {
		return nil
	}
	for _, row := range t.rows {
		if row.preset == r.Preset && row.Method == r.Method && row.Variant == r.Variant && row.budget == r.Budget {
			return row
		}
	}
	return nil
}

// meant returns the rows that a person means by a name: by their labels, display names or short
// names, else by their names in the paper, else by any of these in other letter cases.
func meant(rows []*row, name string) (list []*row) {
	own := func(r *row) []string { return append([]string{r.label, r.name, r.short}, r.also...) }
	for _, is := range []func(r *row) bool{
		func(r *row) bool { return slices.Contains(own(r), name) },
		func(r *row) bool { return r.Name != "" && r.Name == name },
		func(r *row) bool {
			return slices.ContainsFunc(append(own(r), r.Name), func(s string) bool { return strings.EqualFold(s, name) })
		},
	} {
		for _, r := range rows {
			if is(r) {
				list = append(list, r)
			}
		}
		if list != nil {
			break
		}
	}
	return list
}

// findBaseline finds the row that is called so.
func (t *grid) findBaseline() error {
	if t.o.Baseline == "" {
		return nil
	}
	var names []string
	finished := slices.DeleteFunc(slices.Clone(t.rows), func(r *row) bool { return r.other || len(r.cells[overall]) == 0 })
	if list := meant(finished, t.o.Baseline); list != nil {
		t.baseline = list[0]
		return nil
	}
	for _, r := range finished {
		names = append(names, fmt.Sprintf("%q", r.label))
	}
	return fmt.Errorf("no row %q with a finished seed on all targets; there are %s", t.o.Baseline, cmp.Or(strings.Join(names, ", "), "none"))
}
