package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ledg-go/ledg/ceg/config"
	"github.com/ledg-go/ledg/ceg/result"
)

// naming tells what runs are called in a table or figure: by their arms, by their weights, budget and data
// set where the runs differ in them, and by other settings where runs that would have one name do.
type naming struct {
	weights, budget, dataset bool
	oneRate                  bool                        // every run has one learning rate
	settings                 map[string][]config.Setting // by the name without them
	data                     map[string]string           // by the digest of the data, what it is called if that differs
	methods                  map[string]string           // by the name without the method, the one method or "" for several
}

// unnamed are settings by which no run is called: those that arms or a table's columns state, that pair
// runs, or that follow from others.
var unnamed = []string{"method", "preset", "seed", "data.target", "data.dataset", "data.labels", "data.split_seed", "exploration.budget", "exploration.initial_share",
	"network.weights", "schedule.timing", "schedule.query_after", "schedule.query_shares", "exploration.strategy", "generalization.objective", "exploration.initial",
	"exploration.strategy_code", "exploration.initial_code", "generalization.objective_code"}

func newNaming(runs []*RecordedRun) naming { return namingBy(runs, true) }

// namingBy is [newNaming], in which budgets tell runs apart or, as on an axis of labels, do not.
func namingBy(runs []*RecordedRun, budgets bool) (n naming) {
	n.oneRate = true
	all := config.Settings()
	for _, run := range runs {
		rates := map[string]bool{}
		for _, s := range all {
			if isRate(s) {
				rates[s.Text(run.Config)] = true
			}
		}
		n.oneRate = n.oneRate && len(rates) == 1
		n.weights = n.weights || run.weights() != runs[0].weights()
		n.budget = n.budget || budgets && run.budget() != runs[0].budget()
		n.dataset = n.dataset || run.dataset() != runs[0].dataset()
	}
	n.data, n.settings, n.methods = dataNames(runs), map[string][]config.Setting{}, map[string]string{}
	first := map[[2]string]*RecordedRun{}
	for _, run := range runs {
		name := n.plain(run)
		key := [2]string{name, run.dataset()}
		if first[key] == nil {
			first[key] = run
		}
		for _, s := range all {
			if !slices.Contains(unnamed, s.Path) && !has(n.settings[name], s) && s.Text(first[key].Config) != s.Text(run.Config) {
				n.settings[name] = append(n.settings[name], s)
			}
		}
	}
	for _, run := range runs {
		name := n.plain(run) + n.besides(run)
		if of, known := n.methods[name]; known && of != run.method() {
			n.methods[name] = ""
		} else {
			n.methods[name] = run.method()
		}
	}
	return n
}

// dataNames returns what the data of runs is called where runs of one data set, in one image size, have
// other data: by its file or folder, or else by its digest.
func dataNames(runs []*RecordedRun) map[string]string {
	digests, names := map[string][]string{}, map[string]string{}
	var roots []string
	for _, run := range runs {
		if run.Result == nil || run.Result.Images == "" {
			continue
		}
		of, digest := fmt.Sprint(run.dataset(), run.Config.Data.ImageSize), run.Result.Images
		if names[digest] == "" {
			names[digest] = digest[:min(8, len(digest))]
			if at, err := result.ReadPlace(run.Path); err == nil && at.Root != "" && !slices.Contains(roots, filepath.Base(at.Root)) {
				names[digest] = filepath.Base(at.Root)
				roots = append(roots, names[digest])
			}
			digests[of] = append(digests[of], digest)
		}
	}
	for _, list := range digests {
		if len(list) == 1 {
			delete(names, list[0])
		}
	}
	return names
}

// name is what a run is called, the short name, and the name that is typed, which several arms may have.
func (n naming) name(run *RecordedRun) (name, short, typed string) {
	a, more := run.Config.Arm(), n.apart(run)+n.besides(run)
	own := n.own(run)
	return a.Name() + more + own, a.Short() + more + own, run.method() + more
}

// called is the first of a run's names.
func (n naming) called(run *RecordedRun) string {
	name, _, _ := n.name(run)
	return name
}

// ofRow is the name without what a table of runs has columns for.
func (n naming) ofRow(run *RecordedRun) string {
	return run.Config.Arm().Name() + n.besides(run) + n.own(run)
}

// own is the run's method where several are one arm.
func (n naming) own(run *RecordedRun) string {
	if n.methods[n.plain(run)+n.besides(run)] == "" {
		return " (" + run.method() + ")"
	}
	return ""
}

// plain is the run's name but for single settings.
func (n naming) plain(run *RecordedRun) string { return run.Config.Arm().Name() + n.apart(run) }

// apart states the weights and the budget where runs differ in them.
func (n naming) apart(run *RecordedRun) (words string) {
	if n.weights {
		words = ", weights " + cmp.Or(run.weights(), "none")
	}
	if n.budget {
		words += ", budget " + run.budget()
	}
	return words
}

// besides names the data and the settings by which runs of one name differ.
func (n naming) besides(run *RecordedRun) (words string) {
	if run.Result != nil && n.data[run.Result.Images] != "" {
		words = ", data " + n.data[run.Result.Images]
	}
	for _, s := range n.settings[n.plain(run)] {
		if word := ", " + n.path(s) + " " + s.Text(run.Config); !strings.Contains(words, word) {
			words += word
		}
	}
	return words
}

// path is the path of a setting without its group, where that says what it is. It is learning rate for all
// of them if every run has one.
func (n naming) path(s config.Setting) string {
	group, last, _ := strings.Cut(s.Path, ".")
	switch {
	case n.oneRate && isRate(s):
		return "learning rate"
	case last == "name":
		return group
	}
	return cmp.Or(last, s.Path)
}

// isRate reports whether a setting is one of the learning rates that the parameter lr sets.
func isRate(s config.Setting) bool {
	return strings.HasPrefix(s.Path, "optimizer.") && strings.HasSuffix(s.Path, "_rate")
}

// SettingsNote begins the note on the settings in which the rows of a table or the curves of a figure
// differ.
const SettingsNote = "Settings that differ: "

// note states the settings in which methods differ, apart from what their names say and what makes a
// method: its strategy, its objective and the defaults of that. It is "" if there are none.
func (n naming) note(runs []*RecordedRun) string {
	rows := methodsBy(runs, n.called)
	var differ, named []string
	texts := make([][]string, len(rows)) // of the settings in differ
	var stated [][]config.Setting        // by the names
	for _, m := range rows {
		stated = append(stated, n.settings[n.plain(m.runs[0])])
	}
	for _, s := range config.Settings() {
		of, path := func(m method) string { return s.Text(m.runs[0].Config) }, n.path(s)
		some := func(is func(method) bool) bool { return slices.ContainsFunc(rows, is) }
		switch {
		case slices.Contains(unnamed, s.Path), slices.Contains(differ, path), slices.Contains(named, path):
		case !some(func(m method) bool { return of(m) != of(rows[0]) }):
		case slices.ContainsFunc(stated, func(list []config.Setting) bool { return has(list, s) }):
			named = append(named, path)
		case strings.HasPrefix(s.Path, "generalization.") && !some(func(m method) bool { return slices.Contains(notDefault(m.runs[0].Config), s.Path) }):
		default:
			differ = append(differ, path)
			for i, m := range rows {
				texts[i] = append(texts[i], path+" "+of(m))
			}
		}
	}
	var words []string
	if len(differ) > 0 {
		words = grouped(rows, texts)
	}
	if len(named) > 0 {
		words = append(words, strings.Join(named, ", ")+", as named")
	}
	if words == nil {
		return ""
	}
	return SettingsNote + strings.Join(words, "; ") + "."
}

func has(list []config.Setting, s config.Setting) bool {
	return slices.ContainsFunc(list, func(o config.Setting) bool { return o.Path == s.Path })
}

// grouped lists settings once for all methods that have the same, the largest group last, as the others.
func grouped(rows []method, texts [][]string) (words []string) {
	var groups []method
	for i, m := range rows {
		key := strings.Join(texts[i], ", ")
		k := slices.IndexFunc(groups, func(g method) bool { return g.name == key })
		if k < 0 {
			k, groups = len(groups), append(groups, method{name: key, title: m.name})
		} else {
			groups[k].title += " and " + m.name
		}
		groups[k].runs = append(groups[k].runs, m.runs[0])
	}
	most := slices.MaxFunc(groups, func(a, b method) int { return len(a.runs) - len(b.runs) })
	if len(most.runs) > 1 {
		groups = append(slices.DeleteFunc(groups, func(g method) bool { return g.name == most.name }), method{name: most.name, title: "the others"})
	}
	for _, g := range groups {
		words = append(words, g.title+": "+g.name)
	}
	return words
}
