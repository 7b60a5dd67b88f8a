package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// versions says what has computed the runs of a table's rows or a figure's curves: which
// versions of GoMLX, and which commits of ledg.
type versions struct{ gomlx, ledg origins }

func newVersions() *versions { return &versions{origins{}, origins{}} }

// unknown stands for the commit of a run that does not name it.
const unknown = "unknown"

func (v *versions) add(name string, o *result.Run) {
	v.gomlx.add(name, o.Result.Versions.GoMLX)
	revisions := o.Result.Revisions()
	if revisions == nil {
		revisions = []string{unknown}
	}
	for _, r := range revisions {
		v.ledg.add(name, r)
	}
}

// join adds what another has under one of its names.
func (v *versions) join(name string, from *versions, as string) {
	for _, o := range [][2]origins{{v.gomlx, from.gomlx}, {v.ledg, from.ledg}} {
		for version := range o[1][as] {
			o[0].add(name, version)
		}
	}
}

// note names the versions of the numbers; it is empty if there is only one: a comparison should be
// of the same code, and a reader must know where it is not, or where the code had no commit.
func (v *versions) note(names []string) string {
	var notes []string
	for _, n := range []struct {
		what string
		of   origins
	}{{"versions of GoMLX", v.gomlx}, {"commits of ledg", v.ledg}} {
		switch groups, of := n.of.groups(names); {
		case len(groups) > 1, len(groups) == 1 && strings.Contains(groups[0], several):
			for i, g := range groups {
				groups[i] = fmt.Sprintf("%s: %s", g, strings.Join(of[g], ", "))
			}
			notes = append(notes, fmt.Sprintf("Computed by several %s: %s.", n.what, strings.Join(groups, "; ")))
		case len(groups) == 1 && strings.HasSuffix(groups[0], result.DirtyMark):
			notes = append(notes, fmt.Sprintf("Computed by a build with uncommitted changes: %s.", groups[0]))
		}
	}
	return strings.Join(notes, " ")
}

// origins are the versions of one component, with the names of the results that they computed.
type origins map[string]map[string]bool

func (o origins) add(name, version string) {
	if o[name] == nil {
		o[name] = map[string]bool{}
	}
	o[name][version] = true
}

// several is between the versions of one name.
const several = " and "

// groups lists the sets of versions, as names first have them, with the names of each.
func (o origins) groups(names []string) (groups []string, of map[string][]string) {
	of = map[string][]string{}
	for _, name := range names {
		if len(o[name]) == 0 {
			continue
		}
		g := strings.Join(slices.Sorted(maps.Keys(o[name])), several)
		if of[g] == nil {
			groups = append(groups, g)
		}
		if !slices.Contains(of[g], name) {
			of[g] = append(of[g], name)
		}
	}
	return groups, of
}
