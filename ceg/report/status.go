package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// StatusTable counts the folder's runs by label and state. A sweep is one row.
func (f *Folder) StatusTable() (*result.Table, error) {
	type line struct {
		head  [4]string
		count map[result.State]int
		total int
		seen  map[string]bool // directories
	}
	var lines []*line
	sum := &line{head: [4]string{"all"}, count: map[result.State]int{}}
	seen := map[string]bool{}
	for _, r := range f.Runs {
		s, err := f.State(r)
		if err != nil {
			return nil, err
		}
		head := [4]string{r.Dataset, r.Preset, f.statusName(r), r.Budget}
		i := slices.IndexFunc(lines, func(l *line) bool { return l.head == head })
		if i < 0 {
			i = len(lines)
			lines = append(lines, &line{head: head, count: map[result.State]int{}, seen: map[string]bool{}})
		}
		if l := lines[i]; !l.seen[r.Dir] { // once, under however many labels
			l.seen[r.Dir] = true
			l.count[s]++
			l.total++
		}
		if !seen[r.Dir] {
			seen[r.Dir] = true
			sum.count[s]++
			sum.total++
		}
	}
	t := &result.Table{Title: fmt.Sprintf("%s: studies %s", f.Path, strings.Join(f.Plans, ", "))}
	for _, name := range []string{"data set", "preset", "method", "labels"} {
		t.Columns = append(t.Columns, result.Column{Name: name})
	}
	t.Columns = append(t.Columns, result.Column{Name: "runs", Right: true})
	states := result.States()
	slices.Reverse(states)
	for _, s := range states {
		t.Columns = append(t.Columns, result.Column{Name: s.String(), Right: true})
	}
	several := 0
	for _, l := range append(lines, sum) {
		row := append(l.head[:], fmt.Sprint(l.total))
		for _, s := range states {
			row = append(row, fmt.Sprint(l.count[s]))
		}
		t.AddRow(row...)
		several += l.total
	}
	if several > 2*sum.total {
		t.Notes = append(t.Notes, "Runs that several rows share count once in all.")
	}
	return t, nil
}

// statusName is the display name of the run's arm, with the swept settings.
func (f *Folder) statusName(r result.PlannedRun) string {
	if r.Sweep == nil {
		return f.ArmName(r)
	}
	swept := strings.Join(r.Swept(), " and ")
	r.Sweep = nil
	return f.ArmName(r) + ", sweep of " + swept
}
