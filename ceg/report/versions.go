package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// versions are the runs of a table's rows or a figure's curves, by their names: what has computed them.
type versions map[string][]*result.Run

// components are what notes state versions of.
var components = []struct {
	name string
	of   func(*result.Run) []string
}{
	{"versions of GoMLX", func(run *result.Run) []string { return []string{run.Result.Versions.GoMLX} }},
	{"commits of ledg", func(run *result.Run) []string {
		if list := run.Result.Revisions(); list != nil {
			return list
		}
		return []string{"unknown"}
	}},
}

// note names the versions of the numbers; it is empty if there is only one: a comparison should be
// of the same code, and a reader must know where it is not, or where the code had no commit.
func (v versions) note(names []string) string {
	const several = " and " // versions of one name
	var notes []string
	for _, component := range components {
		of := map[string][]string{} // names, by their set of versions
		sets := distinct(only(names, func(name string) bool { return v[name] != nil }), func(name string) string {
			var list []string
			for _, run := range v[name] {
				list = append(list, component.of(run)...)
			}
			slices.Sort(list)
			set := strings.Join(slices.Compact(list), several)
			if !slices.Contains(of[set], name) {
				of[set] = append(of[set], name)
			}
			return set
		})
		switch {
		case len(sets) > 1, len(sets) == 1 && strings.Contains(sets[0], several):
			for i, set := range sets {
				sets[i] = fmt.Sprintf("%s: %s", set, strings.Join(of[set], ", "))
			}
			notes = append(notes, fmt.Sprintf("Computed by several %s: %s.", component.name, strings.Join(sets, "; ")))
		case len(sets) == 1 && strings.HasSuffix(sets[0], result.DirtyMark):
			notes = append(notes, fmt.Sprintf("Computed by a build with uncommitted changes: %s.", sets[0]))
		}
	}
	return strings.Join(notes, " ")
}
