package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
	"github.com/ledg-go/ledg/datasets"
)

// TableOptions select the content of a table.
type TableOptions struct {
	// Dataset and Preset select runs; empty makes a table for each, with runs of the preset ledg
	// in the table of authors, from which it derives.
	Dataset, Preset string
	// Budget selects runs; empty means 5%, or the only one.
	Budget string
	// Rule is the model selection rule: last_epoch, best_source_val or best_target; empty means
	// last_epoch.
	Rule string
	// SourceVal shows source validation accuracy, by which settings may be selected, in place of
	// target accuracy.
	SourceVal bool
	// Measure is the evaluation measure, one of MeasureNames; empty means accuracy. Others need
	// records with counts by class.
	Measure string
	// Methods are labels of the rows to show, with ", preset NAME" as in the row; empty means
	// all. Holm's correction is over these rows.
	Methods []string
	// Sweeps shows each setting of a sweep as a row, such as "ceg delta=0.3". It goes with the
	// tables "methods", "budgets" and "targets".
	Sweeps bool
	// Targets are the target domains to show and to average over; empty means all.
	Targets []string
	// Chosen adds a row that selects, for each target, the row with the highest mean source
	// validation accuracy.
	Chosen bool
	// Baseline is the row to compare with, by its name in the table or its method; empty for
	// none.
	Baseline string
	// BaselineFolder takes the place of Baseline in the table "targets": each row is compared
	// with the row of the same label there, such as the same methods on other features.
	BaselineFolder *Folder
	// Long makes one row per value with all of its labels, for programs.
	Long bool
}

func (o TableOptions) withDefaults() TableOptions {
	o.Rule, o.Measure = cmp.Or(o.Rule, "last_epoch"), cmp.Or(o.Measure, measures[0].name)
	return o
}

// allMethods is the table of everything in a folder but sweeps.
const allMethods = "methods"

// TableNames lists the tables:
//   - the paper's tables
//   - "methods": a row for everything in the folder but sweeps
//   - "budgets": averages over targets, a column for each budget
//   - "targets": differences to a baseline on each target domain and over them
func TableNames() []string {
	var names []string
	for _, t := range PaperTables() {
		names = append(names, t.Name)
	}
	return append(names, allMethods, allBudgets, allTargets)
}

// Table returns the named table, one of [TableNames], one for every data set and preset: a row
// per method, a column per target and one for their average, with mean and standard deviation
// over seeds, n, and the paper's number. Notes count unfinished runs and state limitations.
func (f *Folder) Table(name string, o TableOptions) ([]*result.Table, error) {
	i := slices.Index(TableNames(), name)
	if i < 0 {
		return nil, fmt.Errorf("no table %q, want one of %s", name, strings.Join(TableNames(), ", "))
	}
	spec := PaperTable{Name: allMethods, Title: "Methods"}
	if i < len(PaperTables()) {
		spec = PaperTables()[i]
	}
	if name == allBudgets && o.Budget != "" {
		return nil, fmt.Errorf("table %s: it shows all budgets, not %s alone; table %s does", name, o.Budget, allMethods)
	}
	if o.BaselineFolder != nil && name != allTargets {
		return nil, &OptionError{"baseline-dir", fmt.Errorf("it goes with the table %s", allTargets)}
	}
	o = o.withDefaults()
	f, err := f.onTargets(o.Targets)
	if err != nil {
		return nil, err
	}
	if o.Sweeps {
		if spec.Name != allMethods {
			return nil, fmt.Errorf("table %s: it has no swept settings, the tables %s, %s and %s do", name, allMethods, allBudgets, allTargets)
		}
		f = f.sweptRows()
	}
	for _, m := range o.Methods {
		if !slices.ContainsFunc(f.Runs, func(r result.PlannedRun) bool { return f.means(m, r) }) {
			return nil, &OptionError{"method", fmt.Errorf("%q: there are %s", m, strings.Join(labelsOf(f.Runs), ", "))}
		}
	}
	of := func(g group, o TableOptions) (*result.Table, error) {
		t, err := f.grid(spec, g, o)
		switch {
		case t == nil:
			return nil, err
		case o.Long:
			return t.long(), nil
		}
		return t.wide(), nil
	}
	switch name {
	case allBudgets:
		of = f.budgetTable
	case allTargets:
		of = f.targetTable
	}
	var tables []*result.Table
	groups := f.groups(o.Dataset, o.Preset)
	for _, g := range groups {
		if !spec.about(g.dataset) || g.besides(groups) {
			continue
		}
		t, err := of(g, o)
		if err != nil {
			return nil, err
		}
		if t != nil {
			tables = append(tables, t)
		}
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("%s: no runs for %s%s", f.Path, name, f.hint(o))
	}
	return tables, nil
}

// onTargets is the folder with the runs on some targets alone; none means all.
func (f *Folder) onTargets(targets []string) (*Folder, error) {
	if len(targets) == 0 {
		return f, nil
	}
	known := targetsOf(f.Runs)
	for _, t := range targets {
		if !slices.Contains(known, t) {
			return nil, fmt.Errorf("%s: no runs on target %q, only on %s", f.Path, t, strings.Join(known, ", "))
		}
	}
	some := *f
	some.Runs = only(f.Runs, func(r result.PlannedRun) bool { return slices.Contains(targets, r.Target) })
	return &some, nil
}

// sweptRows is the folder with each swept setting as a variant, which has a row.
func (f *Folder) sweptRows() *Folder {
	rows := *f
	rows.Runs, rows.swept = slices.Clone(f.Runs), map[string]string{}
	for i, r := range rows.Runs {
		if r.Sweep != nil {
			r.Variant = strings.TrimPrefix(r.Label(), r.Method+" ")
			rows.swept[r.Variant] = r.SweptText()
			r.Sweep = nil
			rows.Runs[i] = r
		}
	}
	return &rows
}

// hint lists the available alternatives.
func (f *Folder) hint(o TableOptions) string {
	var list []string
	for _, g := range f.groups("", "") {
		for _, b := range f.budgets(g) {
			list = append(list, fmt.Sprintf("%s %s %s", g.dataset, g.preset, b))
		}
	}
	return fmt.Sprintf(" (data set %q, preset %q, budget %q); there are %s", o.Dataset, o.Preset, o.Budget, strings.Join(list, ", "))
}

// about reports whether the table can be of a data set: the paper's data sets have their own
// tables, others can take the place of any.
func (t PaperTable) about(dataset string) bool {
	info, _ := datasets.Lookup(dataset)
	return len(t.Datasets) == 0 || slices.Contains(t.Datasets, dataset) || !info.InPaper
}

// together lists the presets that have a table together, that of the first which has runs.
var together = []config.Preset{config.Authors, config.Ledg, config.Pooled}

// after reports whether runs of a preset are in the table of another.
func after(preset, other string) bool {
	i := slices.Index(together, config.Preset(other))
	return i >= 0 && slices.Contains(together[i+1:], config.Preset(preset))
}

// group is a data set with a preset.
type group struct{ dataset, preset string }

// besides reports whether the group is in the table of another, as the preset ledg is in the table
// of authors.
func (g group) besides(all []group) bool {
	return slices.ContainsFunc(all, func(other group) bool { return other.dataset == g.dataset && after(g.preset, other.preset) })
}

func groupOf(r result.PlannedRun) group { return group{r.Dataset, r.Preset} }

// groups lists the folder's, as they first occur.
func (f *Folder) groups(dataset, preset string) []group {
	return only(distinct(f.Runs, groupOf), func(g group) bool {
		return (dataset == "" || dataset == g.dataset) && (preset == "" || preset == g.preset)
	})
}

// budgets lists the budgets of a group's runs outside sweeps.
func (f *Folder) budgets(g group) []string {
	runs := only(f.Runs, func(r result.PlannedRun) bool { return groupOf(r) == g && r.Sweep == nil })
	return distinct(runs, func(r result.PlannedRun) string { return r.Budget })
}

// usualBudget is the budget of tables and figures that name none: 5%, or the only
// one there is.
func (f *Folder) usualBudget(g group) string {
	if b := f.budgets(g); len(b) == 1 {
		return b[0]
	}
	return "5%"
}

// grid is a table's numbers.
type grid struct {
	spec       PaperTable
	group      group
	dataset    string // as a reader calls it
	o          TableOptions
	budget     string
	targets    []string
	rows       []*row
	baseline   *row
	names      *row // of class names alone, nil without
	claims     map[*row]*claim
	claimNotes []string
	labels     [2]int // least and most labels of a run, at the table's budget
	networks   []string
	oracle     bool     // whether validation labels were looked at
	versions   versions // by row
	notes      []string
}

// grid collects the numbers of a table; nil if the folder plans no run for it.
func (f *Folder) grid(spec PaperTable, g group, o TableOptions) (*grid, error) {
	t := &grid{versions: versions{}, spec: spec, group: g, dataset: f.titleOf(g.dataset), o: o, budget: cmp.Or(o.Budget, f.usualBudget(g))}
	t.addRows(f)
	if len(o.Methods) > 0 {
		shown := map[*row]bool{}
		for _, m := range o.Methods {
			for _, r := range meant(t.rows, m) {
				shown[r] = true
			}
		}
		t.rows = slices.DeleteFunc(t.rows, func(r *row) bool { return !shown[r] })
	}
	dirs := map[string]string{} // label, target and seed to directory
	for _, r := range f.Runs {
		row := t.rowOf(r)
		if row == nil {
			continue
		}
		if err := f.once(dirs, r); err != nil {
			return nil, err
		}
		if !slices.Contains(t.targets, r.Target) {
			t.targets = append(t.targets, r.Target)
		}
		row.planned++
		out, err := f.Outcome(r)
		if err != nil {
			return nil, err
		}
		if out == nil {
			continue
		}
		if err := t.add(row, r, out); err != nil {
			return nil, err
		}
		t.addNames(r, out)
	}
	if len(t.targets) == 0 {
		return nil, nil
	}
	if info, _ := datasets.Lookup(g.dataset); info.Domains != nil {
		known := info.Domains
		slices.SortFunc(t.targets, func(a, b string) int { return cmp.Compare(slices.Index(known, a), slices.Index(known, b)) })
	}
	if o.Chosen {
		c, err := f.chosen(t)
		if err != nil {
			return nil, err
		}
		t.rows = append(t.rows, c)
	}
	if t.names != nil {
		t.rows = append(t.rows, t.names)
	}
	for _, row := range t.rows {
		row.cells[overall] = result.OverTargets(row.cells, t.targets)
	}
	if err := t.findBaseline(); err != nil {
		return nil, err
	}
	compare(t)
	t.addNotes()
	return t, nil
}

// add enters a finished run.
func (t *grid) add(row *row, r result.PlannedRun, out *result.Run) error {
	t.versions[row.short] = append(t.versions[row.short], out)
	value, err := t.o.value(&RecordedRun{out, out.Result.Accuracy})
	if err != nil {
		return fmt.Errorf("%s: %w", r.Dir, err)
	}
	row.cells[r.Target] = append(row.cells[r.Target], result.Trial{Key: fmt.Sprint(r.Seed), Value: value})
	if !row.other {
		n := out.Result.Labels
		if t.labels[1] == 0 {
			t.labels[0] = n
		}
		t.labels = [2]int{min(t.labels[0], n), max(t.labels[1], n)}
	}
	t.oracle = t.oracle || out.Result.ValLabels > 0 && !out.Result.ValInBudget
	n, size := out.Config.Network, out.Config.Data.ImageSize
	network := fmt.Sprintf("%s (width %d) at %d px", n.Name, n.Width, size)
	if size == 0 {
		network = fmt.Sprintf("%s (width %d) on features", n.Name, n.Width)
	}
	if n.Name == config.Linear { // has no width
		network = "a linear classifier on features"
	}
	if n.Weights != nil {
		network += fmt.Sprintf(" from %s", n.Weights)
	}
	if !slices.Contains(t.networks, network) {
		t.networks = append(t.networks, network)
	}
	return nil
}
