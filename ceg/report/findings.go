package report

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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
	favour, of     int
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
	from := records{dir, map[string]*Folder{}}
	var list []finding
	if err := yaml.UnmarshalWithOptions(data, &list, yaml.Strict()); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	differences := make([][]difference, len(list))
	for i, q := range list {
		for _, budget := range q.Budgets {
			a, err := q.difference(from, budget)
			if err != nil {
				return nil, fmt.Errorf("%s: %q, budget %s: %w", path, q.Question, budget, err)
			}
			a.budget = budget
			differences[i] = append(differences[i], a)
		}
		if err := q.correct(from, differences[i]); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, q.Question, err)
		}
	}
	t := &result.Table{Title: "Findings: differences in accuracy on target domains, in pp", Columns: []result.Column{
		{Name: "question"}, {Name: "data"}, {Name: "difference (95% CI)"}, {Name: "n"}, {Name: "in favour"}, {Name: "equal conditions?"}, {Name: "evidence; significant over"}}}
	for i, q := range list {
		row := []result.Cell{{Text: q.Question}, {Text: q.Data + ": " + q.each(differences[i], difference.labels)}}
		for _, text := range []string{
			q.each(differences[i], difference.difference),
			q.each(differences[i], func(a difference, overTargets bool) string { return fmt.Sprint(a.over(overTargets).N) }),
			q.each(differences[i], func(a difference, _ bool) string { return fmt.Sprint(a.favour) }) + fmt.Sprintf(" of %d", differences[i][0].of),
			q.Equal, q.Evidence + "; " + q.verdict(differences[i]),
		} {
			row = append(row, result.Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	t.Notes = []string{
		"Differences are paired by seed. Intervals are over seeds, on the same images and targets, or over targets where it is said.",
		"n: the unit of the interval, seeds or targets. In favour: targets with a mean difference above zero. Significance: Student's t after Holm correction.",
		"Holm: over all differences of the study to the baseline; over the budgets for the preset, a primary comparison, and for a new site.",
	}
	return t, nil
}

// difference compares the finding's arms at one budget.
func (q finding) difference(from records, budget string) (difference, error) {
	if q.Gains != "" {
		after, before, err := gainTrials(filepath.Join(from.dir, filepath.FromSlash(q.Gains)), q.Row, budget)
		if err != nil {
			return difference{}, err
		}
		return compareTrials(after, before)
	}
	row, err := from.open(q, q.Study)
	if err != nil {
		return difference{}, err
	}
	baseline := row
	if q.BaselineStudy != "" {
		if baseline, err = from.open(q, q.BaselineStudy); err != nil {
			return difference{}, err
		}
	}
	a, err := row.trialsOf(q.Row, budget)
	if err != nil {
		return difference{}, err
	}
	b, err := baseline.trialsOf(q.Baseline, budget)
	if err != nil {
		return difference{}, err
	}
	return compareTrials(a, b)
}

// records are the folders that were read in a folder.
type records struct {
	dir     string
	folders map[string]*Folder
}

// open opens the folder of a finding's study or of its baseline, once.
func (r records) open(q finding, study string) (*Folder, error) {
	var plans []string
	if q.Plan != "" && study == q.Study {
		plans = []string{q.Plan}
	}
	key := study + " " + strings.Join(plans, " ")
	if f, ok := r.folders[key]; ok {
		return f, nil
	}
	f, err := Open(filepath.Join(r.dir, filepath.FromSlash(study)), plans...)
	if err == nil {
		r.folders[key] = f
	}
	return f, err
}

// correct sets the corrected p-values over seeds and over targets.
func (q finding) correct(from records, differences []difference) error {
	var own []*claim
	for _, a := range differences {
		a.seeds.holm, a.targets.holm = math.NaN(), math.NaN()
		own = append(own, a.targets)
	}
	if q.Gains != "" {
		correct(own)
	}
	if q.Gains != "" || q.BaselineStudy != "" {
		return nil
	}
	f, err := from.open(q, q.Study)
	if err != nil {
		return err
	}
	o := TableOptions{Baseline: q.Baseline, Rule: "last_epoch", Measure: measures[0].name}
	if q.Primary {
		o.Methods = []string{q.Row, q.Baseline}
	}
	groups := f.groups("", "")
	for _, g := range groups {
		if g.besides(groups) {
			continue
		}
		grids, err := f.budgetGrids(g, o)
		if err != nil {
			return err
		}
		compare(grids...)
		over := map[*row]*claim{} // over targets
		var all []*claim
		for _, t := range grids {
			for _, r := range t.rows {
				if t.claims[r] == nil {
					continue
				}
				_, c, err := r.byTarget(t.baseline, t.targets)
				if err != nil {
					return err
				}
				if c != nil {
					over[r], all = c, append(all, c)
				}
			}
		}
		correct(all)
		for _, t := range grids {
			i := slices.Index(q.Budgets, t.budget)
			for _, r := range meant(t.rows, q.Row) {
				if c := t.claims[r]; i >= 0 && c != nil && over[r] != nil && math.Abs(c.Mean-differences[i].seeds.Mean) < 1e-9 {
					differences[i].seeds.holm, differences[i].targets.holm = c.holm, over[r].holm
				}
			}
		}
	}
	for i, a := range differences {
		if a.seeds.HasInterval() && math.IsNaN(a.seeds.holm) {
			return fmt.Errorf("budget %s: no table has the difference", q.Budgets[i])
		}
	}
	return nil
}

// trialsOf returns the accuracies of finished runs with a label and budget, at the last epoch, by target.
func (f *Folder) trialsOf(label, budget string) (map[string][]result.Trial, error) {
	o, err := FigureOptions{Budget: budget, Methods: []string{label}}.withDefaults(f)
	if err != nil {
		return nil, err
	}
	runs, err := f.choose(o, func(r result.PlannedRun) bool { return r.Sweep == nil && r.Budget == budget && o.wants(r) })
	if err != nil {
		return nil, err
	}
	trials := map[string][]result.Trial{}
	for _, r := range runs {
		out, err := f.Outcome(r)
		if err != nil {
			return nil, err
		}
		if out == nil {
			continue
		}
		c, err := choiceBy(out, o.Rule)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Dir, err)
		}
		trials[r.Target] = append(trials[r.Target], result.Trial{Key: fmt.Sprint(r.Seed), Value: c.TargetAccuracy})
	}
	if len(trials) == 0 {
		return nil, fmt.Errorf("%s: no finished run %q", f.Path, label)
	}
	return trials, nil
}

// compareTrials compares two arms on every target, over seeds and over targets.
func compareTrials(row, baseline map[string][]result.Trial) (a difference, err error) {
	var names []string
	for target := range row {
		names = append(names, target)
	}
	slices.Sort(names)
	var means, zero []result.Trial
	for _, target := range names {
		d, err := result.Paired(row[target], baseline[target])
		if err != nil {
			return a, fmt.Errorf("target %s: %w", target, err)
		}
		if a.of++; d.Mean > 0 {
			a.favour++
		}
		means, zero = append(means, result.Trial{Key: target, Value: d.Mean}), append(zero, result.Trial{Key: target})
	}
	over, err := result.Paired(result.OverTargets(row, names), result.OverTargets(baseline, names))
	if err != nil {
		return a, err
	}
	a.seeds = &claim{Difference: over}
	if over, err = result.Paired(means, zero); err != nil {
		return a, err
	}
	a.targets = &claim{Difference: over}
	return a, nil
}

// gainTrials reads the accuracies after and before adaptation from a file with a line of JSON per run.
func gainTrials(path, selection, budget string) (after, before map[string][]result.Trial, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	after, before = map[string][]result.Trial{}, map[string][]result.Trial{}
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
			after[r.Target] = append(after[r.Target], result.Trial{Key: key, Value: a.After})
			before[r.Target] = append(before[r.Target], result.Trial{Key: key, Value: a.Before})
		}
	}
	if len(after) == 0 {
		err = errors.New(path + ": no run has the selection " + selection)
	}
	return after, before, cmp.Or(s.Err(), err)
}

// each joins what the budgets give; equal texts once.
func (q finding) each(list []difference, text func(a difference, overTargets bool) string) string {
	var all []string
	for _, a := range list {
		all = append(all, text(a, q.Gains != ""))
	}
	if unique := slices.Compact(slices.Clone(all)); len(unique) == 1 {
		return unique[0]
	}
	return strings.Join(all, ", ")
}

// labels is the budget in words.
func (a difference) labels(bool) string {
	if strings.HasSuffix(a.budget, "%") {
		return a.budget
	}
	return a.budget + " labels"
}

// difference is the mean with its interval.
func (a difference) difference(overTargets bool) string {
	c := a.over(overTargets)
	if !c.HasInterval() {
		return fmt.Sprintf("%+.1f", 100*c.Mean)
	}
	return fmt.Sprintf("%+.1f (%.1f to %.1f)", 100*c.Mean, 100*c.Low, 100*c.High)
}

// over is the comparison over targets or over seeds.
func (a difference) over(targets bool) *claim {
	if targets {
		return a.targets
	}
	return a.seeds
}

// verdict says at which budgets a difference is significant, over seeds and over targets.
func (q finding) verdict(list []difference) string {
	at := func(of func(difference) *claim) string {
		var yes []string
		for i, a := range list {
			if c := of(a); c.holm < 1-result.Level {
				yes = append(yes, q.Budgets[i])
			}
		}
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
