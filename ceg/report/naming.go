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
	settings                 map[string][]config.Setting // by the name without them
	data                     map[string]string           // by the digest of the data, what it is called if that differs
	methods                  map[string]string           // by the name without the method, the one method or "" for several
}

// unnamed are settings by which no run is called: those that arms or a table's columns state, that pair
// runs, or that follow from others.
var unnamed = append([]string{"method", "preset", "seed", "data.target", "data.dataset", "data.labels", "data.split_seed", "exploration.budget", "exploration.initial_share",
	"network.weights", "schedule.timing", "schedule.query_after", "schedule.query_shares"}, byArm...)

func newNaming(runs []*RecordedRun) naming { return namingBy(runs, true) }

// namingBy is [newNaming], in which budgets tell runs apart or, as on an axis of labels, do not.
func namingBy(runs []*RecordedRun, budgets bool) (n naming) {
	for _, run := range runs[1:] {
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
		for _, s := range config.Settings() {
			known := slices.Contains(unnamed, s.Path) || slices.ContainsFunc(n.settings[name], func(o config.Setting) bool { return o.Path == s.Path })
			if !known && s.Text(first[key].Config) != s.Text(run.Config) {
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
	settings := n.settings[n.plain(run)]
	rate, one := oneRate(settings, run)
	for _, s := range settings {
		switch {
		case !one || !isRate(s):
			words += ", " + shortPath(s) + " " + s.Text(run.Config)
		case s.Path == rate.Path:
			words += ", learning rate " + s.Text(run.Config)
		}
	}
	return words
}

// shortPath is the path of a setting without its group, where that says what it is.
func shortPath(s config.Setting) string {
	group, last, _ := strings.Cut(s.Path, ".")
	if last == "name" {
		return group
	}
	return cmp.Or(last, s.Path)
}

// isRate reports whether a setting is one of the learning rates that the parameter lr sets.
func isRate(s config.Setting) bool {
	return strings.HasPrefix(s.Path, "optimizer.") && strings.HasSuffix(s.Path, "_rate")
}

// oneRate returns the first of several learning rates among settings; one is true if the run has the
// same for all of them.
func oneRate(settings []config.Setting, run *RecordedRun) (first config.Setting, one bool) {
	var rates []config.Setting
	for _, s := range settings {
		if isRate(s) {
			rates = append(rates, s)
		}
	}
	if len(rates) < 2 {
		return first, false
	}
	other := func(s config.Setting) bool { return s.Text(run.Config) != rates[0].Text(run.Config) }
	return rates[0], !slices.ContainsFunc(rates, other)
}
