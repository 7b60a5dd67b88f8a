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
		head [4]string
		runs map[string]result.State // by directory, once under however many labels
	}
	all := &line{[4]string{"all"}, map[string]result.State{}}
	var lines []*line
	for _, r := range f.Runs {
		s, err := f.State(r)
		if err != nil {
			return nil, err
		}
		head := [4]string{r.Dataset, r.Preset, f.statusName(r), r.Budget}
		i := slices.IndexFunc(lines, func(l *line) bool { return l.head == head })
		if i < 0 {
			i = len(lines)
			lines = append(lines, &line{head, map[string]result.State{}})
		}
		lines[i].runs[r.Dir], all.runs[r.Dir] = s, s
	}
	t := &result.Table{Title: fmt.Sprintf("%s: studies %s", f.Path, strings.Join(f.Plans, ", ")),
		Columns: []result.Column{{Name: "data set"}, {Name: "preset"}, {Name: "method"}, {Name: "labels"}, {Name: "runs", Right: true}}}
	states := []result.State{result.Complete, result.Failed, result.Finishing, result.Running, result.Interrupted, result.NotStarted}
	for _, s := range states {
		t.Columns = append(t.Columns, result.Column{Name: s.String(), Right: true})
	}
	rows := 0
	for _, l := range append(lines, all) {
		count := map[result.State]int{}
		for _, s := range l.runs {
			count[s]++
		}
		row := append(l.head[:], fmt.Sprint(len(l.runs)))
		for _, s := range states {
			row = append(row, fmt.Sprint(count[s]))
		}
		t.AddRow(row...)
		rows += len(l.runs)
	}
	if rows > 2*len(all.runs) {
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
