package report

import (
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
)

// SettingsNote begins the note on the settings in which the rows of a table or the curves of a figure
// differ.
const SettingsNote = "Settings that differ: "

// note states the settings in which methods differ, apart from what their names say and what makes a
// method: its strategy, its objective and the defaults of that. It is "" if there are none.
func (n naming) note(runs []*RecordedRun) string {
	rows := methodsBy(runs, n.called)
	if len(rows) < 2 {
		return ""
	}
	var differ, named []string
	texts := make([][]string, len(rows)) // of the settings in differ
	rates := slices.DeleteFunc(config.Settings(), func(s config.Setting) bool { return !isRate(s) })
	one := !slices.ContainsFunc(rows, func(m method) bool { _, one := oneRate(rates, m.runs[0]); return !one })
	for _, s := range config.Settings() {
		of := func(m method) string { return s.Text(m.runs[0].Config) }
		path := shortPath(s)
		if one && isRate(s) {
			path = "learning rate"
		}
		switch {
		case slices.Contains(unnamed, s.Path), slices.Contains(differ, path), slices.Contains(named, path):
		case !slices.ContainsFunc(rows, func(m method) bool { return of(m) != of(rows[0]) }):
		case slices.ContainsFunc(rows, func(m method) bool {
			return slices.ContainsFunc(n.settings[n.plain(m.runs[0])], func(o config.Setting) bool { return o.Path == s.Path })
		}):
			named = append(named, path)
		case strings.HasPrefix(s.Path, "generalization.") && !slices.ContainsFunc(rows, func(m method) bool { return slices.Contains(notDefault(m.runs[0].Config), s.Path) }):
		default:
			differ = append(differ, path)
			for i, m := range rows {
				texts[i] = append(texts[i], path+" "+of(m))
			}
		}
	}
	var words []string
	if len(differ) > 0 {
		words = n.grouped(rows, texts)
	}
	if len(named) > 0 {
		words = append(words, strings.Join(named, ", ")+", as named")
	}
	if words == nil {
		return ""
	}
	return SettingsNote + strings.Join(words, "; ") + "."
}

// byArm are the settings that the names of arms and methods state.
var byArm = []string{"exploration.strategy", "generalization.objective", "exploration.initial", "exploration.strategy_code", "exploration.initial_code", "generalization.objective_code"}

// grouped lists settings once for all rows that have the same.
func (n naming) grouped(rows []method, texts [][]string) (words []string) {
	groups := map[string][]string{} // of display names, by their settings
	var order []string
	for i, m := range rows {
		key := strings.Join(texts[i], ", ")
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], m.name)
	}
	most := slices.MaxFunc(order, func(a, b string) int { return len(groups[a]) - len(groups[b]) })
	if len(groups[most]) > 1 { // last, as the others
		order = append(slices.DeleteFunc(order, func(key string) bool { return key == most }), most)
		groups[most] = []string{"the others"}
	}
	for _, key := range order {
		words = append(words, strings.Join(groups[key], " and ")+": "+key)
	}
	return words
}
