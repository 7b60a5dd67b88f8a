package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// versions says what has computed the runs of a table's rows or a figure's curves: by their names, the
// versions of GoMLX, and the commits of ledg.
type versions struct{ of [2]map[string][]string }

func newVersions() *versions {
	return &versions{[2]map[string][]string{{}, {}}}
}

// unknown stands for the commit of a run that does not name it.
const unknown = "unknown"

// The components, as notes call their versions.
const gomlxVersions, ledgCommits = "versions of GoMLX", "commits of ledg"

func (v *versions) add(name string, o *result.Run) {
	revisions := o.Result.Revisions()
	if revisions == nil {
		revisions = []string{unknown}
	}
	v.of[0][name] = append(v.of[0][name], o.Result.Versions.GoMLX)
	v.of[1][name] = append(v.of[1][name], revisions...)
}

// join gives a name the versions of another, too.
func (v *versions) join(name, other string) {
	for _, of := range v.of {
		of[name] = append(of[name], of[other]...)
	}
}

// note names the versions of the numbers; it is empty if there is only one: a comparison should be
// of the same code, and a reader must know where it is not, or where the code had no commit.
func (v *versions) note(names []string) string {
	const several = " and " // versions of one name
	var notes []string
	for i, component := range []string{gomlxVersions, ledgCommits} {
		of := map[string][]string{} // names, by their set of versions
		sets := distinct(only(names, func(name string) bool { return v.of[i][name] != nil }), func(name string) string {
			set := strings.Join(slices.Compact(slices.Sorted(slices.Values(v.of[i][name]))), several)
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
			notes = append(notes, fmt.Sprintf("Computed by several %s: %s.", component, strings.Join(sets, "; ")))
		case len(sets) == 1 && strings.HasSuffix(sets[0], result.DirtyMark):
			notes = append(notes, fmt.Sprintf("Computed by a build with uncommitted changes: %s.", sets[0]))
		}
	}
	return strings.Join(notes, " ")
}
