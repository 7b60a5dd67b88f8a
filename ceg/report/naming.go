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
	several                  map[string]bool             // whether a name without the method has several methods
}

// unnamed are settings by which no run is called: those that arms or a table's columns state, that pair
// runs, or that follow from others.
var unnamed = []string{"method", "preset", "seed", "data.target", "data.dataset", "data.labels", "data.split_seed", "exploration.budget", "exploration.initial_share",
	"network.weights", "schedule.timing", "schedule.query_after", "schedule.query_shares", "exploration.strategy", "generalization.objective", "exploration.initial",
	"exploration.strategy_code", "exploration.initial_code", "generalization.objective_code", "network.code"}

func newNaming(runs []*RecordedRun) naming { return namingBy(runs, true) }

// namingBy is [newNaming], in which budgets tell runs apart or, as on an axis of labels, do not.
func namingBy(runs []*RecordedRun, budgets bool) (n naming) {
	all := config.Settings()
	rates := only(all, isRate)
	n.oneRate = !slices.ContainsFunc(runs, func(run *RecordedRun) bool {
		return len(distinct(rates, func(s config.Setting) string { return s.Text(run.Config) })) > 1
	})
	n.weights = len(distinct(runs, (*RecordedRun).weights)) > 1
	n.budget = budgets && len(distinct(runs, (*RecordedRun).budget)) > 1
	n.dataset = len(distinct(runs, (*RecordedRun).dataset)) > 1
	n.data, n.settings, n.several = dataNames(runs), map[string][]config.Setting{}, map[string]bool{}
	for _, group := range methodsBy(runs, func(run *RecordedRun) string { return n.plain(run) + "\x00" + run.dataset() }) {
		name := n.plain(group.runs[0])
		for _, s := range all {
			if !slices.Contains(unnamed, s.Path) && !has(n.settings[name], s) && len(distinct(group.runs, func(run *RecordedRun) string { return s.Text(run.Config) })) > 1 {
				n.settings[name] = append(n.settings[name], s)
			}
		}
	}
	for _, group := range methodsBy(runs, func(run *RecordedRun) string { return n.plain(run) + n.besides(run) }) {
		n.several[group.name] = len(distinct(group.runs, (*RecordedRun).method)) > 1
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
	if n.several[n.plain(run)+n.besides(run)] {
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
	var seen, named, words []string      // paths
	texts := make([][]string, len(rows)) // of settings that are in no name
	for _, s := range config.Settings() {
		of, path := func(m method) string { return s.Text(m.runs[0].Config) }, n.path(s)
		own := func(m method) bool { return slices.Contains(notDefault(m.runs[0].Config), s.Path) }
		switch {
		case slices.Contains(unnamed, s.Path), slices.Contains(seen, path), len(distinct(rows, of)) < 2:
			continue
		case slices.ContainsFunc(rows, func(m method) bool { return has(n.settings[n.plain(m.runs[0])], s) }):
			named = append(named, path)
		case strings.HasPrefix(s.Path, "generalization.") && !slices.ContainsFunc(rows, own):
			continue
		default:
			for i, m := range rows {
				texts[i] = append(texts[i], path+" "+of(m))
			}
		}
		seen = append(seen, path)
	}
	if len(seen) > len(named) { // once for all methods that have the same, the largest group last, as the others
		groups := map[string][]string{}
		for i, m := range rows {
			key := strings.Join(texts[i], ", ")
			groups[key] = append(groups[key], m.name)
		}
		keys := distinct(texts, func(list []string) string { return strings.Join(list, ", ") })
		most := slices.MaxFunc(keys, func(a, b string) int { return len(groups[a]) - len(groups[b]) })
		if len(groups[most]) > 1 {
			keys, groups[most] = append(only(keys, func(key string) bool { return key != most }), most), []string{"the others"}
		}
		for _, key := range keys {
			words = append(words, strings.Join(groups[key], " and ")+": "+key)
		}
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
