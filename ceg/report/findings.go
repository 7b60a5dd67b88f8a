package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/ledg-go/ledg/ceg/result"
)

// FindingsFile is the file that [Findings] reads: a list of comparisons.
const FindingsFile = "findings.yaml"

// finding is a question, and the comparison of records that answers it.
type finding struct {
	Question string `yaml:"question"`
	// Data is the data set in words; the budgets follow it.
	Data string `yaml:"data"`
	// Study is a folder of records beside the file, with its Plan. Row and Baseline are labels, as on the
	// command line. BaselineStudy is the folder of the baseline if it is another.
	Study         string   `yaml:"study"`
	Plan          string   `yaml:"plan"`
	Row           string   `yaml:"row"`
	Baseline      string   `yaml:"baseline"`
	BaselineStudy string   `yaml:"baseline_study"`
	Budgets       []string `yaml:"budgets"`
	// Primary says that the plan corrects over the budgets of this comparison alone. Else the family of
	// tests has all differences of the study to the baseline.
	Primary bool `yaml:"primary"`
	// Gains is a file of accuracies before and after adaptation to a new domain, in place of Study.
	// Its seeds share their labels, so the interval is over targets. Row is the selection.
	Gains string `yaml:"gains"`
	// Equal says whether both sides have equal conditions, Evidence whether a plan is older than the runs.
	Equal    string `yaml:"equal"`
	Evidence string `yaml:"evidence"`
}

// difference is the difference between two arms at one budget.
type difference struct {
	budget         string
	seeds, targets *claim
}

// Findings makes the table of findings from FindingsFile in a folder of records: a row per question
// with the mean difference over targets at each budget, in percentage points. Its 95% Student-t interval is over seeds,
// or over targets if all seeds share their labels. Significance is after Holm correction.
func Findings(dir string) (*result.Table, error) {
	path := filepath.Join(dir, FindingsFile)
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	folders := map[string]*Folder{} // by path and plan
	var list []finding
	if err := yaml.UnmarshalWithOptions(data, &list, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	differences := make([][]difference, len(list))
	for i, q := range list {
		if differences[i], err = q.compare(dir, folders); err != nil {
			return nil, fmt.Errorf("%s: %q, %w", path, q.Question, err)
		}
	}
	t := &result.Table{Title: "Findings: differences in accuracy on target domains, in pp", Columns: []result.Column{
		{Name: "question"}, {Name: "data"}, {Name: "difference (95% CI)"}, {Name: "n"}, {Name: "in favour"}, {Name: "equal conditions?"}, {Name: "evidence; significant over"}}}
	for i, q := range list {
		var labels, gains, n, above []string
		for _, a := range differences[i] {
			c := a.seeds
			if q.Gains != "" {
				c = a.targets
			}
			text := fmt.Sprintf("%+.1f", 100*c.Mean)
			if c.HasInterval() {
				text += fmt.Sprintf(" (%.1f to %.1f)", 100*c.Low, 100*c.High)
			}
			label := a.budget
			if !strings.HasSuffix(label, "%") {
				label += " labels"
			}
			labels, gains, n, above = append(labels, label), append(gains, text), append(n, fmt.Sprint(c.N)), append(above, fmt.Sprint(a.targets.above))
		}
		t.AddRow(q.Question, q.Data+": "+joined(labels), joined(gains), joined(n),
			fmt.Sprintf("%s of %d", joined(above), differences[i][0].targets.targets), q.Equal, q.Evidence+"; "+q.verdict(differences[i]))
	}
	t.Notes = []string{
		"Differences are paired by seed. Intervals are over seeds, on the same images and targets, or over targets where it is said.",
		"n: the unit of the interval, seeds or targets. In favour: targets with a mean difference above zero. Significance: Student's t after Holm correction.",
		"Holm: over all differences of the study to the baseline; over the budgets for the preset, a primary comparison, and for a new site.",
	}
	return t, nil
}

// compare compares the finding's rows at its budgets, with corrected p-values: over those of a
// primary comparison, else over all differences of the study to the baseline. Those of two studies
// are not corrected, and have none.
func (q finding) compare(dir string, folders map[string]*Folder) (list []difference, err error) {
	pairs, err := q.pairs(dir, folders)
	if err != nil {
		return nil, err
	}
	byBudget := map[string]difference{}
	var seeds, targets []*claim
	for _, p := range pairs {
		own := slices.Contains(meant(p.rows, q.Row), p.row)
		if p.baseline == nil || !own && (q.Primary || q.BaselineStudy != "") {
			continue
		}
		d := difference{p.budget, p.overSeeds(), p.overTargets()}
		if d.seeds == nil || d.targets == nil {
			if own && slices.Contains(q.Budgets, p.budget) {
				return nil, fmt.Errorf("budget %s: the rows have no seed in common on every target", p.budget)
			}
			continue
		}
		if seeds, targets = append(seeds, d.seeds), append(targets, d.targets); own {
			byBudget[p.budget] = d
		}
	}
	if q.BaselineStudy == "" {
		correct(seeds)
		correct(targets)
	}
	for _, budget := range q.Budgets {
		d, ok := byBudget[budget]
		if !ok {
			return nil, fmt.Errorf("budget %s: no finished runs %q and %q", budget, q.Row, q.Baseline)
		}
		list = append(list, d)
	}
	return list, nil
}

// pairs are the rows of the finding's study, or before and after adaptation, with their baselines.
func (q finding) pairs(dir string, folders map[string]*Folder) (list []pair, err error) {
	if q.Gains != "" {
		for _, budget := range q.Budgets {
			after, before, err := gainTrials(filepath.Join(dir, filepath.FromSlash(q.Gains)), q.Row, budget)
			if err != nil {
				return nil, err
			}
			t := &grid{budget: budget, targets: slices.Sorted(maps.Keys(after.cells)), rows: []*row{after}}
			for _, r := range []*row{after, before} {
				r.cells[overall] = result.OverTargets(r.cells, t.targets)
			}
			list = append(list, pair{t, after, before})
		}
		return list, nil
	}
	open := func(study string, plans ...string) (*Folder, error) {
		key := fmt.Sprint(study, plans)
		if folders[key] == nil {
			folders[key], err = Open(filepath.Join(dir, filepath.FromSlash(study)), only(plans, func(name string) bool { return name != "" })...)
		}
		return folders[key], err
	}
	f, err := open(q.Study, q.Plan)
	if err != nil {
		return nil, err
	}
	of, err := FigureOptions{}.withDefaults(f)
	if err != nil {
		return nil, err
	}
	o := TableOptions{Baseline: q.Baseline}.withDefaults()
	if q.BaselineStudy != "" {
		if o.BaselineFolder, err = open(q.BaselineStudy); err != nil {
			return nil, err
		}
	}
	return f.pairs(group{of.Dataset, of.Preset}, o)
}

// gainTrials reads the accuracies after and before adaptation from a file with a line of JSON per run.
func gainTrials(path, selection, budget string) (after, before *row, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	after, before = &row{label: selection, cells: map[string][]result.Trial{}}, &row{cells: map[string][]result.Trial{}}
	mark := "-" + strings.Replace(budget, "%", "pct", 1) + "-s" // in the run's name
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for line := 1; s.Scan(); line++ {
		var r struct {
			Run, Target string
			Seed        uint64
			Adapted     map[string]struct{ Before, After float64 }
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", path, line, err)
		}
		if a, ok := r.Adapted[selection]; ok && strings.Contains(r.Run, mark) {
			key := fmt.Sprint(r.Seed)
			after.cells[r.Target] = append(after.cells[r.Target], result.Trial{Key: key, Value: a.After})
			before.cells[r.Target] = append(before.cells[r.Target], result.Trial{Key: key, Value: a.Before})
		}
	}
	if len(after.cells) == 0 {
		err = errors.New(path + ": no run has the selection " + selection)
	}
	return after, before, cmp.Or(s.Err(), err)
}

// joined lists what the budgets give; equal texts once.
func joined(list []string) string {
	if unique := slices.Compact(slices.Clone(list)); len(unique) == 1 {
		return unique[0]
	}
	return strings.Join(list, ", ")
}

// verdict says at which budgets a difference is significant, over seeds and over targets.
func (q finding) verdict(list []difference) string {
	at := func(of func(difference) *claim) string {
		yes := only(q.Budgets, func(b string) bool { return of(list[slices.Index(q.Budgets, b)]).holm < 1-result.Level })
		switch len(yes) {
		case len(list):
			return "yes"
		case 0:
			return "no"
		}
		return strings.Join(yes, ", ")
	}
	seeds, targets := at(func(a difference) *claim { return a.seeds }), at(func(a difference) *claim { return a.targets })
	switch n := list[0].seeds.N; {
	case q.Gains != "":
		return "targets: " + targets
	case seeds == "no" && n <= 3:
		return fmt.Sprintf("n = %d cannot decide", n)
	}
	return "seeds: " + seeds + "; targets: " + targets
}
