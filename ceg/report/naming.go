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

// naming tells what a run is called in the second table: by its method and
// target, by its timing, preset, weights, budget and data set where the runs
// differ in them, and by other settings where runs that would have one name do.
type naming struct {
	timing, preset, weights, budget, dataset bool
	settings                                 map[string][]config.Setting // by the name without them
	data                                     map[string]string           // by the digest of the data, what it is called if that differs
	methods                                  map[string]string           // by display name, the name of the one method or "" for several
}

// unnamed are settings by which no run is called: those that a table has a column for,
// that pair runs, or that follow from others.
var unnamed = []string{"method", "preset", "seed", "data.target", "data.dataset", "data.labels", "data.split_seed", "exploration.budget", "exploration.initial_share",
	"network.weights", "schedule.timing", "schedule.query_after", "schedule.query_shares"}

func newNaming(runs []*RecordedRun) naming { return namingBy(runs, true) }

// namingBy is [newNaming], in which budgets tell runs apart or, as on an axis of labels, do not.
func namingBy(runs []*RecordedRun, budgets bool) (n naming) {
	timing := config.Timing("")
	for _, run := range runs {
		if !alwaysOnce(run) {
			n.timing = n.timing || timing != "" && run.timing() != timing
			timing = run.timing()
		}
	}
	for _, run := range runs[1:] {
		n.preset = n.preset || run.preset() != runs[0].preset()
		n.weights = n.weights || run.weights() != runs[0].weights()
		n.budget = n.budget || budgets && run.budget() != runs[0].budget()
		n.dataset = n.dataset || run.dataset() != runs[0].dataset()
	}
	n.data = dataNames(runs)
	n.settings = map[string][]config.Setting{}
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
	n.methods = map[string]string{}
	for _, run := range runs {
		name, _ := n.arm(run)
		if of, known := n.methods[name]; known && of != n.method(run) {
			n.methods[name] = ""
		} else {
			n.methods[name] = n.method(run)
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

// alwaysOnce reports whether a run's method implies labels upfront by its name, as objectives
// without a strategy do, and the run had them.
func alwaysOnce(run *RecordedRun) bool {
	name := run.method()
	return run.timing() == config.Once && config.AtOnce(name)
}

// timed is the method with its timing where that differs.
func (n naming) timed(run *RecordedRun) string {
	name := run.method()
	if n.timing && !alwaysOnce(run) && !strings.HasSuffix(name, " "+string(run.timing())) {
		name += " " + string(run.timing())
	}
	return name
}

// method is the run's name.
func (n naming) method(run *RecordedRun) string {
	return n.plain(run) + n.besides(run, false)
}

// display returns the display name of the run's arm and the short one, with what n tells runs
// apart by besides. Methods that are one arm also have their own names.
func (n naming) display(run *RecordedRun) (name, short string) {
	name, short = n.arm(run)
	if n.methods[name] == "" {
		own := " (" + run.method() + ")"
		name, short = name+own, short+own
	}
	return name, short
}

// ofRow is the display name without what a table of runs has columns for.
func (n naming) ofRow(run *RecordedRun) string {
	name := run.Config.Arm().Name() + n.besides(run, true)
	if all, _ := n.arm(run); n.methods[all] == "" {
		name += " (" + run.method() + ")"
	}
	return name
}

// arm is display without the names of methods.
func (n naming) arm(run *RecordedRun) (name, short string) {
	a, more := run.Config.Arm(), ""
	if n.weights {
		more += ", weights " + cmp.Or(run.weights(), "none")
	}
	if n.budget {
		more += ", budget " + run.budget()
	}
	more += n.besides(run, true)
	return a.Name() + more, a.Short() + more
}

// besides names the settings by which runs of one name differ, but for those that the names of
// arms tell.
func (n naming) besides(run *RecordedRun, arm bool) (words string) {
	if run.Result != nil && n.data[run.Result.Images] != "" {
		words = ", data " + n.data[run.Result.Images]
	}
	settings := n.settings[n.plain(run)]
	rate, one := oneRate(settings, run)
	for _, s := range settings {
		if one && isRate(s) {
			if s.Path == rate.Path {
				words += ", learning rate " + s.Text(run.Config)
			}
			continue
		}
		if arm && slices.Contains([]string{"exploration.initial", "exploration.strategy", "generalization.objective"}, s.Path) {
			continue
		}
		words += ", " + shortPath(s) + " " + s.Text(run.Config)
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

// plain is the run's name but for single settings.
func (n naming) plain(run *RecordedRun) string {
	name := n.timed(run)
	if n.preset {
		name += " " + run.preset()
	}
	if n.weights {
		name += ", weights " + cmp.Or(run.weights(), "none")
	}
	if n.budget {
		name += ", budget " + run.budget()
	}
	return name
}

// target is what a target, or the average, of a run's data set is called.
func (n naming) target(r *result.Result, target string) string {
	if n.dataset {
		return r.Dataset + " " + target
	}
	return target
}
