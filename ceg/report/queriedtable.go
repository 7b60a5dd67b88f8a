package report

import (
	"maps"
	"slices"
	"strconv"

	"github.com/ledg-go/ledg/ceg/result"
)

// CrossTable counts queries by domain and class, with a row for each class or for each domain.
func CrossTable(queries []result.Query, byClass bool) *result.Table {
	corner, count, columns, of := "domain", map[string]map[string]int{}, map[string]bool{}, func(q result.Query) (row, column string) { return q.Domain, q.Class }
	if byClass {
		corner, of = "class", func(q result.Query) (row, column string) { return q.Class, q.Domain }
	}
	for _, q := range queries {
		row, column := of(q)
		if count[row] == nil {
			count[row] = map[string]int{}
		}
		count[row][column]++
		columns[column] = true
	}
	names := slices.Sorted(maps.Keys(columns))
	t := &result.Table{Columns: []result.Column{{Name: corner}}}
	for _, name := range append(slices.Clone(names), "all") {
		t.Columns = append(t.Columns, result.Column{Name: name, Right: true})
	}
	for _, name := range slices.Sorted(maps.Keys(count)) {
		row, all := []string{name}, 0
		for _, column := range names {
			n := count[name][column]
			row, all = append(row, strconv.Itoa(n)), all+n
		}
		t.AddRow(append(row, strconv.Itoa(all))...)
	}
	return t
}

// QueriedTables returns tables of runs' queries: for each run a row of initial and one of later
// labels, and for a single run also a table of classes by domains.
func QueriedTables(runs []*result.Run) ([]*result.Table, error) {
	type part struct {
		run, when string
		labels    []result.Query
	}
	var parts []part
	domains := map[string]bool{}
	for _, r := range runs {
		queries, err := r.Queries()
		if err != nil {
			return nil, err
		}
		initial, later := part{r.Name(), "initial", nil}, part{r.Name(), "later", nil}
		for _, q := range queries {
			of := &later
			if q.Round == 0 {
				of = &initial
			}
			of.labels = append(of.labels, q)
			domains[q.Domain] = true
		}
		for _, p := range []part{initial, later} {
			if len(p.labels) > 0 {
				parts = append(parts, p)
			}
		}
	}
	names := slices.Sorted(maps.Keys(domains))
	t := &result.Table{Title: "Queried labels", Columns: []result.Column{{Name: "run"}, {Name: "when"}, {Name: "labels", Right: true}}}
	for _, name := range append(slices.Clone(names), "classes", "fewest", "most") {
		t.Columns = append(t.Columns, result.Column{Name: name, Right: true})
	}
	for _, p := range parts {
		of, classes := map[string]int{}, map[string]int{}
		for _, q := range p.labels {
			of[q.Domain]++
			classes[q.Class]++
		}
		row := []string{p.run, p.when, strconv.Itoa(len(p.labels))}
		for _, name := range names {
			row = append(row, strconv.Itoa(of[name]))
		}
		counts := slices.Sorted(maps.Values(classes))
		row = append(row, strconv.Itoa(len(counts)), strconv.Itoa(counts[0]), strconv.Itoa(counts[len(counts)-1]))
		t.AddRow(row...)
	}
	t.Notes = []string{"classes: number of classes with a label. fewest, most: labels of a class."}
	tables := []*result.Table{t}
	if len(runs) == 1 {
		for _, p := range parts {
			cells := CrossTable(p.labels, true)
			cells.Title = map[string]string{"initial": "Initial labels", "later": "Labels of query rounds"}[p.when]
			tables = append(tables, cells)
		}
	}
	return tables, nil
}
