package report

import (
	"bytes"
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
	// Data is the data set in words.
	Data string `yaml:"data"`
	// Study is a folder of records beside the file, with its Plan. Row and Baseline are labels, as on the
	// command line.
	Study    string   `yaml:"study"`
	Plan     string   `yaml:"plan"`
	Row      string   `yaml:"row"`
	Baseline string   `yaml:"baseline"`
	Budgets  []string `yaml:"budgets"`
	// Gains is a packed file (.zst) of accuracies before and after adaptation to a new domain, in place of Study.
	// Row is the selection.
	Gains string `yaml:"gains"`
}

// Findings makes the table of findings from FindingsFile in a folder of records: a row per question and budget
// with both accuracies, and their difference in percentage points. Its unit is the target domain.
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
	t := &result.Table{Title: "Findings: accuracy on target domains never seen", Columns: []result.Column{
		{Name: "question"}, {Name: "data, labels"}, {Name: "accuracy, %"}, {Name: "difference, pp (95% CI)"}, {Name: "in favour"}}}
	var p []float64 // of the rows
	for _, q := range list {
		pairs, err := q.pairs(dir, folders)
		if err != nil {
			return nil, fmt.Errorf("%s: %q, %w", path, q.Question, err)
		}
		question := q.Question
		for _, budget := range q.Budgets {
			i := slices.IndexFunc(pairs, func(p pair) bool {
				return p.budget == budget && p.baseline != nil && slices.Contains(meant(p.rows, q.Row), p.row) && p.overTargets() != nil
			})
			if i < 0 {
				return nil, fmt.Errorf("%s: %q, budget %s: no seed in common on every target of %q and %q", path, q.Question, budget, q.Row, q.Baseline)
			}
			c := pairs[i].overTargets()
			p = append(p, c.P)
			before, after := summary(pairs[i].baseline.cells[overall]), summary(pairs[i].row.cells[overall])
			t.AddRow(question, q.Data+", "+budget, fmt.Sprintf("%.1f → %.1f", 100*before.Mean, 100*after.Mean),
				fmt.Sprintf("%+.1f (%.1f to %.1f)", 100*c.Mean, 100*c.Low, 100*c.High), c.favour())
			question = ""
		}
	}
	var significant []string
	for i, holm := range result.Holm(p) {
		if holm <= 1-result.Level {
			significant = append(significant, fmt.Sprintf("row %d", i+1))
		}
	}
	t.Notes = []string{
		"Accuracy: the mean over targets and seeds of the baseline, then of the row. Differences are paired by seed.",
		"Intervals are Student's t over targets, not corrected. In favour: targets with a mean difference above zero.",
		fmt.Sprintf("p is at most %.2f after Holm correction over this table (tests: %d) in: %s.", 1-result.Level, len(p), cmp.Or(strings.Join(significant, ", "), "no row")),
	}
	return t, nil
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
	return f.pairs(group{of.Dataset, of.Preset}, o)
}

// gainTrials reads the accuracies after and before adaptation from a file with a line of JSON per run.
func gainTrials(path, selection, budget string) (after, before *row, err error) {
	data, err := result.ReadPacked(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	after, before = &row{label: selection, cells: map[string][]result.Trial{}}, &row{cells: map[string][]result.Trial{}}
	mark := "-" + strings.Replace(budget, "%", "pct", 1) + "-s" // in the run's name
	number := 0
	for line := range bytes.Lines(data) {
		number++
		var r struct {
			Run, Target string
			Seed        uint64
			Adapted     map[string]struct{ Before, After float64 }
		}
		if err := json.Unmarshal(line, &r); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", path, number, err)
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
	return after, before, err
}
