package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// versions says what has computed the runs of a table's rows or a figure's curves: which
// versions of GoMLX, and which commits of ledg.
type versions struct{ of map[origin]bool }

// origin is a version of a component that computed runs of a row or a curve.
type origin struct{ component, name, version string }

func newVersions() *versions { return &versions{map[origin]bool{}} }

// unknown stands for the commit of a run that does not name it.
const unknown = "unknown"

// The components, as notes call their versions.
const gomlxVersions, ledgCommits = "versions of GoMLX", "commits of ledg"

func (v *versions) add(name string, o *result.Run) {
	v.of[origin{gomlxVersions, name, o.Result.Versions.GoMLX}] = true
	revisions := o.Result.Revisions()
	if revisions == nil {
		revisions = []string{unknown}
	}
	for _, r := range revisions {
		v.of[origin{ledgCommits, name, r}] = true
	}
}

// join gives a name the versions of another, too.
func (v *versions) join(name, other string) {
	for o := range v.of {
		if o.name == other {
			v.of[origin{o.component, name, o.version}] = true
		}
	}
}

// note names the versions of the numbers; it is empty if there is only one: a comparison should be
// of the same code, and a reader must know where it is not, or where the code had no commit.
func (v *versions) note(names []string) string {
	const several = " and " // versions of one name
	var notes []string
	for _, component := range []string{gomlxVersions, ledgCommits} {
		var groups []string // sets of versions, as names first have them
		of := map[string][]string{}
		for _, name := range names {
			var list []string
			for o := range v.of {
				if o.component == component && o.name == name {
					list = append(list, o.version)
				}
			}
			slices.Sort(list)
			g := strings.Join(list, several)
			if list == nil || slices.Contains(of[g], name) {
				continue
			}
			if of[g] == nil {
				groups = append(groups, g)
			}
			of[g] = append(of[g], name)
		}
		switch {
		case len(groups) > 1, len(groups) == 1 && strings.Contains(groups[0], several):
			for i, g := range groups {
				groups[i] = fmt.Sprintf("%s: %s", g, strings.Join(of[g], ", "))
			}
			notes = append(notes, fmt.Sprintf("Computed by several %s: %s.", component, strings.Join(groups, "; ")))
		case len(groups) == 1 && strings.HasSuffix(groups[0], result.DirtyMark):
			notes = append(notes, fmt.Sprintf("Computed by a build with uncommitted changes: %s.", groups[0]))
		}
	}
	return strings.Join(notes, " ")
}
