package report

import (
	"maps"
	"slices"
	"strconv"

	"github.com/ledg-go/ledg/ceg/result"
)

// QueriedCounts counts the queried labels of a part of a run's rounds.
type QueriedCounts struct {
	// Labels is their number, Same the number of those whose S_r equals another's.
	Labels, Same int
	// Cells counts them by domain and class.
	Cells map[string]map[string]int
}

// CountQueried counts the labels of a run: the initial ones and the later ones.
func CountQueried(r *result.Run) (initial, later QueriedCounts, err error) {
	queries, err := r.Queries()
	if err != nil {
		return initial, later, err
	}
	parts := [2]QueriedCounts{{Cells: map[string]map[string]int{}}, {Cells: map[string]map[string]int{}}}
	seen := map[float64]bool{}
	for _, q := range queries {
		a := &parts[min(q.Round, 1)]
		a.Labels++
		if a.Cells[q.Domain] == nil {
			a.Cells[q.Domain] = map[string]int{}
		}
		a.Cells[q.Domain][q.Class]++
		if q.Scores != nil {
			if seen[q.Scores.Sr] {
				a.Same++
			}
			seen[q.Scores.Sr] = true
		}
	}
	return parts[0], parts[1], nil
}

// of returns the labels of a domain.
func (a QueriedCounts) of(domain string) int {
	n := 0
	for _, k := range a.Cells[domain] {
		n += k
	}
	return n
}

// classes returns the labels of each class.
func (a QueriedCounts) classes() map[string]int {
	n := map[string]int{}
	for _, cells := range a.Cells {
		for class, k := range cells {
			n[class] += k
		}
	}
	return n
}

// QueriedTables returns tables of runs' queries: for each run a row of initial and one of later
// labels, and for a single run also a table of classes by domains.
func QueriedTables(runs []*result.Run) ([]*result.Table, error) {
	type part struct {
		run, when string
		QueriedCounts
	}
	var parts []part
	domains := map[string]bool{}
	scored := false
	for _, r := range runs {
		initial, later, err := CountQueried(r)
		if err != nil {
			return nil, err
		}
		for k, a := range []QueriedCounts{initial, later} {
			for d := range a.Cells {
				domains[d] = true
			}
			scored = scored || a.Same > 0
			if a.Labels > 0 {
				parts = append(parts, part{r.Name(), []string{"initial", "later"}[k], a})
			}
		}
	}
	names := slices.Sorted(maps.Keys(domains))
	t := &result.Table{Title: "Queried labels", Columns: []result.Column{{Name: "run"}, {Name: "when"}, {Name: "labels", Right: true}}}
	for _, d := range names {
		t.Columns = append(t.Columns, result.Column{Name: d, Right: true})
	}
	t.Columns = append(t.Columns, result.Column{Name: "classes", Right: true}, result.Column{Name: "fewest", Right: true}, result.Column{Name: "most", Right: true})
	if scored {
		t.Columns = append(t.Columns, result.Column{Name: "same S_r", Right: true})
	}
	for _, p := range parts {
		row := []string{p.run, p.when, strconv.Itoa(p.Labels)}
		for _, d := range names {
			row = append(row, strconv.Itoa(p.of(d)))
		}
		counts := slices.Sorted(maps.Values(p.classes()))
		row = append(row, strconv.Itoa(len(counts)), strconv.Itoa(counts[0]), strconv.Itoa(counts[len(counts)-1]))
		if scored {
			row = append(row, strconv.Itoa(p.Same))
		}
		t.AddRow(row...)
	}
	t.Notes = []string{"classes: number of classes with a label. fewest, most: labels of a class."}
	tables := []*result.Table{t}
	if len(runs) == 1 {
		for _, p := range parts {
			tables = append(tables, cellTable(p.when, p.QueriedCounts, names))
		}
	}
	return tables, nil
}

// cellTable has a row for each class.
func cellTable(when string, a QueriedCounts, domains []string) *result.Table {
	t := &result.Table{Title: map[string]string{"initial": "Initial labels", "later": "Labels of query rounds"}[when], Columns: []result.Column{{Name: "class"}}}
	for _, d := range append(slices.Clone(domains), "all") {
		t.Columns = append(t.Columns, result.Column{Name: d, Right: true})
	}
	classes := a.classes()
	for _, class := range slices.Sorted(maps.Keys(classes)) {
		row := []string{class}
		for _, d := range domains {
			row = append(row, strconv.Itoa(a.Cells[d][class]))
		}
		t.AddRow(append(row, strconv.Itoa(classes[class]))...)
	}
	return t
}
