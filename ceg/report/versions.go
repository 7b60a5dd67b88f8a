package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/result"
)

// versions says which versions of GoMLX have computed the runs of a table's rows or a
// figure's curves: by name, the versions.
type versions map[string]map[string]bool

func (v versions) add(name string, o *result.Run) {
	if v[name] == nil {
		v[name] = map[string]bool{}
	}
	v[name][o.Result.Versions.GoMLX] = true
}

// note says what is of which version, and is empty if all is of one: what is compared
// should be of the same code, and a reader must know where it is not.
func (v versions) note(names []string) string {
	var groups []string
	of := map[string][]string{}
	for _, name := range names {
		if len(v[name]) == 0 {
			continue
		}
		g := strings.Join(slices.Sorted(maps.Keys(v[name])), " and ")
		if of[g] == nil {
			groups = append(groups, g)
		}
		if !slices.Contains(of[g], name) {
			of[g] = append(of[g], name)
		}
	}
	if len(groups) == 0 || len(groups) == 1 && !strings.Contains(groups[0], " and ") {
		return ""
	}
	for i, g := range groups {
		groups[i] = fmt.Sprintf("%s: %s", g, strings.Join(of[g], ", "))
	}
	return fmt.Sprintf("By several versions of GoMLX: %s.", strings.Join(groups, "; "))
}
